# SPDX-License-Identifier: MIT
"""What names a person, a host or one device of all: found in texts, and hidden there.

It finds paths but the system's own, addresses of every kind, hosts in their domain, UUIDs,
identifiers of containers, labelled serial numbers, credentials, and the names of this host and its
user. A name looks like any word, so `frobench share` is for the machine that made the run.
"""

import getpass
import platform
import re
import socket
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, UnsetType, structs

from frobench.suite.personal import patterns
from frobench.suite.personal.patterns import FOUR_NUMBERS, WITH_COLONS

HIDDEN = patterns.HIDDEN
_BEFORE = 32
"""Characters before four numbers in which a word may say that they are a version."""
_LARGEST_OCTET, _SHORTEST_NAME = 255, 3
_LEAST_OF_ADDRESS = 100
"""First of four numbers from which they are an address, even where a word names a version."""
_NO_TEXT = frozenset({float, int, bool, type(None), UnsetType})
_COMMON = (
    "admin amd apple arm azureuser build builder cloud container cpu cuda debian default docker"
    " ec2-user fedora gpu guest home host intel jovyan jupyter kernel linux localhost macos max"
    " mean microsoft min nvidia python pytorch root runner server test torch ubuntu user vagrant"
    " windows"
)
"""Accounts and hosts that many have, and words that a run consists of."""


class Found(NamedTuple):
    """A part of a text that names somebody or something.

    kind : in words, such as "a path"
    """

    kind: str
    start: int
    end: int


def find(text: str, names: Collection[str] = (), *, version: bool = False) -> Iterator[Found]:
    """Find everything in a text that names a person, a host or one device of all.

    names : of the host and its user; found as whole words, in whatever case
    version : whether the text is a version or a digest, in which four numbers are no address
    """
    lower = patterns.in_lower_case(text)
    for look in patterns.possible((*patterns.LOOKS, FOUR_NUMBERS, WITH_COLONS), lower):
        if version and look.kind == "an identifier" and " " not in text:
            continue
        for match in patterns.matches(look, text, lower):
            if look is FOUR_NUMBERS and not _is_address(match, version=version):
                continue
            if look is WITH_COLONS and not _is_ipv6(match[0]):
                continue
            yield Found(look.kind, *match.span())
    for name in names:
        for match in re.finditer(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text, re.IGNORECASE):
            yield Found("a name of this host or its user", *match.span())


def _is_address(match: re.Match[str], *, version: bool) -> bool:
    """Tell an address from a version, such as 9.10.2.21, which begins with a small number."""
    parts = [int(part) for part in match.groups()]
    before = match.string[max(0, match.start() - _BEFORE) : match.start()]
    named = (version and not before) or patterns.BACKWARDS_VERSION.match(before[::-1])
    return max(parts) <= _LARGEST_OCTET and (parts[0] >= _LEAST_OF_ADDRESS or not named)


def _is_ipv6(text: str) -> bool:
    """Tell whether digits, points and colons are an address, which a sentence may end with."""
    digits = text.strip(".:")  # there are none around the :: of C++
    return bool(digits) and any(map(_is_readable, {text, text.rstrip(".:")}))


def _is_readable(address: str) -> bool:
    try:
        return bool(socket.inet_pton(socket.AF_INET6, address))
    except OSError:
        return False


def hide(text: str, names: Collection[str] = (), *, version: bool = False) -> str:
    """Return a text without what `find` finds in it."""
    kept, end = "", 0
    for start, stop in sorted(secret[1:] for secret in find(text, names, version=version)):
        if stop > end:
            kept += text[end:start] + (HIDDEN if start >= end else "")
            end = stop
    return kept + text[end:]


def texts(
    value: Any,  # noqa: ANN401 - a struct, a table or a list
    where: str = "$",
    wanted: Collection[str] | None = None,
) -> list[tuple[str, str]]:
    """Return every text of a struct or of plain JSON with its place, and every key of a table.

    wanted : the only texts to return, if that is known
    """
    held: list[tuple[str, str]] = []
    if isinstance(value, dict):
        held = [(where, str(key)) for key in value if wanted is None or key in wanted]
        items: Iterable[tuple[object, Any]] = value.items()
    elif isinstance(value, Struct):
        items = zip(value.__struct_encode_fields__, structs.astuple(value), strict=True)
    else:
        items = enumerate(value)
    for name, item in items:
        if type(item) in _NO_TEXT:  # most are numbers
            continue
        if isinstance(item, str):
            if wanted is None or item in wanted:
                held.append((_inside(where, name), item))
        elif not isinstance(item, list) or not _NO_TEXT.issuperset(map(type, item)):
            held += texts(item, _inside(where, name), wanted)
    return held


def _inside(where: str, name: object) -> str:
    return f"{where}.{name}" if isinstance(name, str) else f"{where}[{name}]"


def rewritten(value: Any, change: Callable[[str, str], str], where: str = "$") -> Any:  # noqa: ANN401 - any part of a run
    """Return a copy in which `change`, given place and text, has changed what `texts` yields."""
    if isinstance(value, str):
        return change(where, value)
    if isinstance(value, Struct):
        changed = {
            field.name: rewritten(
                getattr(value, field.name), change, f"{where}.{field.encode_name}"
            )
            for field in structs.fields(value)
        }
        return structs.replace(value, **changed)
    if isinstance(value, dict):
        return {
            change(where, key): rewritten(item, change, f"{where}.{key}")
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        items = (rewritten(item, change, f"{where}[{n}]") for n, item in enumerate(value))
        return type(value)(items)
    return value


def disclosures(value: object, suspected: Collection[str] | None = None) -> Iterator[str]:
    """Say of a struct or of plain JSON what it holds where, without repeating it.

    suspected : those of its texts that name somebody, if that is known
    """
    for where, text in texts(value, wanted=suspected):
        if suspected is not None or names_somebody(text):
            for kind in _kinds(text, version=is_version(where)):
                yield f"{hide(where, version=True)} holds {kind}"


def names_somebody(text: str) -> bool:
    """Tell whether a text names somebody or something, unless it is a version or a digest."""
    return bool(_kinds(text, version=False))


@lru_cache(maxsize=2**14)  # a run says most things many times
def _kinds(text: str, *, version: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(secret.kind for secret in find(text, version=version)))


def is_version(where: str) -> bool:
    """Tell by its place whether a text of a run is a version, a revision or a digest."""
    return patterns.VERSIONS.search(where) is not None


def own_names() -> frozenset[str]:
    """Return what this host and its user are called, as far as that names them."""
    host = platform.node()
    names = {host, host.partition(".")[0]}
    with suppress(RuntimeError):  # a user without a home
        names.add(Path.home().name)
    with suppress(OSError, KeyError):  # a user without a name, as in some containers
        names.add(getpass.getuser())
    common = _COMMON.split()
    return frozenset(n for n in names if len(n) >= _SHORTEST_NAME and n.lower() not in common)
