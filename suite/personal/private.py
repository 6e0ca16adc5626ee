# SPDX-License-Identifier: MIT
"""What names a person, a host or one device of all: found in texts, and hidden there.

Found are absolute paths but the system's own, addresses of every kind, hosts in their domain,
UUIDs, identifiers of containers, labelled serial numbers, credentials, and the names of this host
and its user. A name by itself looks like any word, so that only its own machine can find it:
that is why `frobench share` is for where the run was made.
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

from msgspec import Struct, structs

from suite.personal import patterns
from suite.personal.patterns import FOUR_NUMBERS, WITH_COLONS, in_lower_case, matches, possible

HIDDEN = patterns.HIDDEN
"""Stands where something was hidden."""
_BEFORE = 32
"""Characters before four numbers in which a word may say that they are a version."""
_OCTET, _NO_VERSION, _SHORTEST_NAME = 255, 100, 3
_HEXADECIMAL = re.compile("[0-9a-fA-F]")
_MOST_COLONS = 7
"""Colons of an address that is written in full; one that ends with four numbers has one less."""
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
    for kind, spans in _searches(text, names, version=version):
        yield from (Found(kind, *span) for span in spans)


def _searches(
    text: str, names: Collection[str], *, version: bool
) -> Iterator[tuple[str, Iterable[tuple[int, int]]]]:
    """Yield searches of a text, each with the kind of what it finds, that begin when asked."""
    lower = in_lower_case(text)
    for look in possible((*patterns.LOOKS, FOUR_NUMBERS, WITH_COLONS), lower):
        if version and look.kind == "an identifier" and " " not in text:
            continue
        every = matches(look, text, lower)
        if look is FOUR_NUMBERS:
            every = (match for match in every if _is_address(match, version=version))
        elif look is WITH_COLONS:
            every = (match for match in every if _is_ipv6(match[0]))
        yield look.kind, (match.span() for match in every)
    for name in names:
        named = re.finditer(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text, re.IGNORECASE)
        yield "a name of this host or its user", (match.span() for match in named)


def _is_address(match: re.Match[str], *, version: bool) -> bool:
    """Tell an address from a version, such as 9.10.2.21, which begins with a small number."""
    parts = [int(part) for part in match.groups()]
    if max(parts) > _OCTET:
        return False
    before = match.string[max(0, match.start() - _BEFORE) : match.start()]
    in_words = (version and not before) or patterns.BACKWARDS_VERSION.match(
        before[::-1]
    ) is not None
    return not in_words or parts[0] >= _NO_VERSION


def _is_ipv6(text: str) -> bool:
    """Tell whether a text is an address, which a sentence may end with."""
    if not _HEXADECIMAL.search(text) or ("::" not in text and text.count(":") < _MOST_COLONS - 1):
        return False
    return any(map(_is_readable, {text, text.rstrip(".:")}))


def _is_readable(address: str) -> bool:
    try:
        return bool(socket.inet_pton(socket.AF_INET6, address))
    except OSError:
        return False


def hide(text: str, names: Collection[str] = (), *, version: bool = False) -> str:
    """Return a text without what `find` finds in it."""
    spans = sorted((secret.start, secret.end) for secret in find(text, names, version=version))
    kept, end = "", 0
    for start, stop in spans:
        if stop > end:
            kept += text[end:start] + (HIDDEN if start >= end else "")
            end = stop
    return kept + text[end:]


_NUMBERS_ONLY = frozenset({float, int, bool, type(None)})
_Place = tuple["_Place", object] | str
"""Where something is: the place of what it is in, and its name or number there."""


def texts(value: object, where: str = "$") -> Iterator[tuple[str, str]]:
    """Yield every text of a struct or of plain JSON with its place, and every key of a table."""
    for place, text in _occurrences(value, where, None):
        yield "".join(_spelled(place)), text


def _occurrences(
    value: Any,  # noqa: ANN401 - a struct, a table or a list
    where: _Place,
    wanted: Collection[str] | None,
) -> list[tuple[_Place, str]]:
    """Return where texts are, all or those that are wanted; places are spelled if asked for."""
    held: list[tuple[_Place, str]] = []
    if isinstance(value, dict):
        held = [(where, str(key)) for key in value if wanted is None or key in wanted]
        items: Iterable[tuple[object, Any]] = value.items()
    elif isinstance(value, Struct):
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        items = ((encoded, getattr(value, name)) for name, encoded in names)
    else:
        items = enumerate(value)
    for name, item in items:
        kind = type(item)
        if kind is str:
            if wanted is None or item in wanted:
                held.append(((where, name), item))
        elif kind is list:
            if not _NUMBERS_ONLY.issuperset(map(type, item)):
                held += _occurrences(item, (where, name), wanted)
        elif isinstance(item, dict | tuple | Struct):
            held += _occurrences(item, (where, name), wanted)
    return held


def _spelled(where: _Place) -> Iterator[str]:
    if isinstance(where, str):
        yield where
        return
    yield from _spelled(where[0])
    yield f".{where[1]}" if isinstance(where[1], str) else f"[{where[1]}]"


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
    for where, text in _occurrences(value, "$", suspected):
        if suspected is not None or names_somebody(text):
            place = "".join(_spelled(where))
            for kind in _kinds(text, version=is_version(place)):
                yield f"{hide(place, version=True)} holds {kind}"


def names_somebody(text: str) -> bool:
    """Tell whether a text names somebody or something, unless it is a version or a digest."""
    return bool(_kinds(text, version=False))


@lru_cache(maxsize=2**14)  # a run says most things many times
def _kinds(text: str, *, version: bool) -> tuple[str, ...]:
    """Return the kinds of what a text holds; of each, no more is looked for than one."""
    kinds: dict[str, None] = {}
    for kind, spans in _searches(text, (), version=version):
        if kind not in kinds and any(spans):
            kinds[kind] = None
    return tuple(kinds)


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
    telling = {name for name in names if name.lower() not in _COMMON.split()}
    return frozenset(name for name in telling if len(name) >= _SHORTEST_NAME)
