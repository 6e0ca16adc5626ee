# SPDX-License-Identifier: MIT
"""Paths, addresses and the names of this host and its user: found in texts, and hidden there.

Nothing that others wrote freely is stored: of an error its type and place, see `suite.errors`. What
is found here is what settings, names of kernels and older files may hold. A name looks like any
word, so `frobench share` is for the machine that made the run.
"""

import getpass
import platform
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, structs

HIDDEN = "\N{HORIZONTAL ELLIPSIS}"
"""Stands where something was hidden."""

_SEGMENT = r"[^\s/\\\"'`<>|:;,()\[\]{}]{1,255}"
"""Every repetition that may begin anywhere in a text has a bound, so that a text of n characters
costs n steps and not their square."""
_OWN_FOLDERS = (  # of the system, and where torch was built, which its messages name
    r"(?:usr|lib\w*|s?bin|dev|proc|sys|pytorch|croot|__w"
    r"|opt/(?:conda|cuda|intel|nvidia|pytorch|rocm[\w.-]*))"
)
_ROOTS = r"data|gpfs|home|lustre|media|mnt|nfs|root|scratch|srv|storage|tmp|Users|work\w*"
_SITES = r"(?:\w{1,63}\.){0,4}(?:amd|apple|github|intel|nvidia|python|pytorch)\.(?:com|org|io)\b"
_VERSIONED = "version|release|driver|cuda|cudnn|cublas|nccl|rocm|hip|torch|python|kernel"
_HEX = "[0-9a-fA-F]"
_LOOKS = re.compile(
    rf"""
      /{_OWN_FOLDERS}(?:/{_SEGMENT})+  # this and the next two name nobody
    | \b(?:env://|https?://{_SITES}|tcp://localhost\b)[^\s"'<>]*
    | (?:\b(?i:{_VERSIONED}|v)[ :=v-]{{0,3}}|[=<>~])\d+(?:\.\d+)+
    | (?P<link>\b(?!file://[/…])[a-zA-Z][a-zA-Z0-9+]{{0,20}}+://[^\s"'<>]+)
    | (?P<path>
        (?:(?<![\w/.~\])…-])|(?<=://))/(?:{_SEGMENT}(?:/{_SEGMENT})+|(?:{_ROOTS})\b)
      | (?<!\w)~(?:[A-Za-z_][\w.-]{{0,255}})?(?:/{_SEGMENT})+
      | (?<!\w)[A-Za-z]:[\\/](?!/)[^\s"']+
      | \\\\\w[\w.$-]{{0,255}}\\[^\s"']+
      )
    | (?P<account>(?<![\w.+-])[\w.+-]{{2,}}+@[\w-]{{2,}}(?:\.[\w-]+)*)
    | (?P<uuid>
        \b(?:GPU-|MIG-)?{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}\b
      | \b(?:GPU|MIG)-{_HEX}{{6,}}
      )
    | (?P<hardware>
        (?<![\w:-]){_HEX}{{2}}(?P<mark>[:-]){_HEX}{{2}}(?:(?P=mark){_HEX}{{2}}){{4,6}}(?![\w:-])
      )
    | (?P<address>
        (?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.]*\d)
      | (?<![\w:.])[0-9a-fA-F:.]{{2,45}}+(?![\w:.])
      )
    """,
    re.VERBOSE,
)
_KINDS = {
    "link": "an address",
    "path": "a path",
    "account": "an account",
    "uuid": "a UUID",
    "hardware": "a hardware address",
    "address": "an address",
}
_VERSIONS = re.compile(r"\.(?:packages|torch_build)\.|\.(?:\w*version|driver|kernel|release)$")
"""Places of a run with versions, which may begin with four numbers."""
_OF_OTHERS = re.compile(
    r"^\$\.(?:machine_info\.(?!cpu\b|machine$|processor$|system$)|commit_info\.branch"
    r"|frobench\.(?:project\.name|settings\.expression|without_energy\.|environment\.(?:unknown\.|software\.(?:kernel$|variables\.))"
    r"|telemetry\.unknown\.|(?:troubles|conclusions)\[\d+\]\.message|outcomes\[\d+\]\.reason"
    r"|launches\[\d+\]\.(?:lost|changed\.)|nodes\[\d+\]\.differs\.))"
)
"""Places of a run whose texts are neither our words, nor a benchmark's, nor those of a maker."""
_SHORTEST_NAME = 3
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


def find(text: str, names: Collection[str] = (), where: str = "") -> Iterator[Found]:
    """Find paths, addresses and some names in a text.

    names : of the host and its user; found as whole words, in whatever case
    where : the place of the text in a run, such as ``$.frobench.outcomes[3].reason``; names are
        looked for only where others may have written the text
    """
    for match in _LOOKS.finditer(text):
        kind = match.lastgroup
        if kind is None or (kind == "address" and not _is_address(match, where)):
            continue
        yield Found(_KINDS[kind], *match.span())
    for name in names if not where or _OF_OTHERS.search(where) else ():
        for match in re.finditer(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text, re.IGNORECASE):
            yield Found("a name of this host or its user", *match.span())


def _is_address(match: re.Match[str], where: str) -> bool:
    if match.start() == 0 and ":" not in match[0] and _VERSIONS.search(where):
        return False
    with suppress(ValueError):  # a time, or a number of a slot
        return not ip_address(match[0].rstrip(".")).is_unspecified  # as the :: of C++
    return False


def hide(text: str, names: Collection[str] = (), where: str = "") -> str:
    """Return a text without what `find` finds in it."""
    kept, end = "", 0
    for start, stop in sorted(found[1:] for found in find(text, names, where)):
        if stop > end:
            kept += text[end:start] + (HIDDEN if start >= end else "")
            end = stop
    return kept + text[end:]


def texts(value: Any, where: str = "$") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - a struct, a table or a list
    """Yield every text of a struct or of plain JSON with its place, and every key of a table."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield where, str(key)
            yield from texts(item, f"{where}.{key}")
    elif isinstance(value, Struct):
        for name, item in zip(value.__struct_encode_fields__, structs.astuple(value), strict=True):
            yield from texts(item, f"{where}.{name}")
    elif isinstance(value, list) and not {float, int}.issuperset(map(type, value)):
        for number, item in enumerate(value):
            yield from texts(item, f"{where}[{number}]")


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


def disclosures(value: object) -> Iterator[str]:
    """Say of a struct or of plain JSON what it holds where, without repeating it."""
    for where, text in texts(value):
        if _names_somebody(text):
            for kind in dict.fromkeys(found.kind for found in find(text, where=where)):
                yield f"{hide(where)} holds {kind}"


@lru_cache(maxsize=2**14)  # a run says most things many times
def _names_somebody(text: str) -> bool:
    return any(find(text))


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
