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
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, structs

HIDDEN = "\N{HORIZONTAL ELLIPSIS}"
"""Stands where something was hidden."""

_PART = r"[^\s/\\\"'`<>|:;,()\[\]{}]{1,255}"
"""Every repetition that may begin anywhere in a text has a bound, so that a text of n characters
costs n steps and not their square: names in paths have up to 255 characters, hosts up to 253."""
_OWN_PATHS = (  # of the system, and where torch was built, which its messages tell
    r"(?:usr|lib\w*|s?bin|dev|proc|sys|pytorch|croot|__w)/"
    r"|opt/(?:conda|cuda|intel|nvidia|pytorch|rocm[\w.-]*)/"
)
_ROOTS = r"data|gpfs|home|lustre|media|mnt|nfs|root|scratch|srv|storage|tmp|Users|work\w*"
_SITES = r"(?:\w{1,63}\.){0,4}(?:amd|apple|github|intel|nvidia|python|pytorch)\.(?:com|org|io)\b"
_NO_HOST = (  # before a colon and a number, such as that of a line
    r"(?:localhost|[\w.-]+\.(?:cc?|cpp|cuh?|hp?p?|inl|mm|pyx?)|(?:b?float|complex|u?int|[bft][fp]|sm|n|x)\d+"
    r"|batch|bytes|count|dim|index|items|kib|length|line|numel|pid|rank|seed|shape|size|step)"
)
_VERSION_WORD = re.compile(
    r"(?:\b(?:version|v|release|driver|cuda|cudnn|cublas|nccl|rocm|hip|torch|python|kernel|library)"
    r"|[=<>~])[ :=v-]*$",
    re.IGNORECASE,
)
_GUARDED = (
    r"(?:pass(?:word|wd|phrase|code)|secret|credential"
    r"|(?:access|account|api|auth|licen[cs]e|private|signing)[ _-]?(?:key|token))"
)
_NO_VALUE = (  # what says something of a secret without telling it
    r"(?!(?:an?|and|are|as|be|but|by|can|cannot|could|does|empty|expected|expired|for|from|has|have|if"
    r"|in|incorrect|into|invalid|is|it|may|missing|must|needed|needs|no|not|of|on|or|required|set"
    r"|should|that|the|to|too|undefined|unset|used|using|via|was|were|when|which|will|with|wrong"
    r"|environment|env|variables?)\b)"
)
PATTERNS = {
    "a credential": re.compile(
        r"://[^\s/@]{1,128}?:[^\s/@]{0,256}@\S*"
        r"|-----BEGIN [A-Z ]{1,40}-----[\s\S]*"
        r"|\b(?:gh[opsur]|hf|github_pat|glpat|npm|pypi|dckr_pat|sk|pk|rk|shpat|nvapi|wandb_v\d)[_-]"
        r"[\w-]{16,}"
        r"|\bA(?:KIA|SIA|IDA)[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\bya29\.[\w.-]{8,}"
        r"|\bxox[abeoprs]-[\w-]{10,}"
        r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
        r"|\bssh-(?:rsa|dss|ed25519)\s{1,8}[\w+/=]{16,}"
        r"|\b(?:bearer|basic)\s{1,8}(?=[\w.~+/=-]{0,512}[\d=])[\w.~+/=-]{12,}"
        r"|\b(?:proxy-)?authorization\s{0,8}[:=]\s{0,8}\S+(?:\s{1,8}\S+)?"
        r"|\b(?:set-)?cookie\s{0,8}[:=]\s{0,8}\S+"
        rf"|{_GUARDED}s?[\"']?(?:\s{{0,8}}[:=]\s{{0,8}}|\s{{1,8}}is\s{{1,8}}{_NO_VALUE})\S+"
        rf"|{_GUARDED}\s{{1,8}}(?=\S{{0,64}}\d)\S{{6,}}"
        r"|(?-i:\b[A-Z][A-Z0-9_]{0,64}_(?:AUTH|CREDENTIALS?|KEY|PASS|PASSWD|PASSWORD|PAT|SECRET|TOKEN))"
        rf"(?:\s{{0,8}}[:=]\s{{0,8}}|\s{{1,8}}(?:is\s{{1,8}})?{_NO_VALUE})\S+"
        r"|token\s{0,8}=\s{0,8}(?=\S{0,256}[a-z])\S{8,}"
        r"|token\s{1,8}(?:is\s{1,8})?(?=\S{0,256}\d)(?=\S{0,256}[a-z])\S{8,}",
        re.IGNORECASE | re.ASCII,
    ),
    "a path": re.compile(
        rf"(?:(?<![\w/.~\])…-])|(?<=://))/(?!{_OWN_PATHS})(?:{_PART}(?:/{_PART})+|(?:{_ROOTS})\b)"
        rf"|(?<!\w)~(?:[A-Za-z_][\w.-]*)?(?:/{_PART})+"
        rf"|(?<!\w)[A-Za-z]:[\\/](?!/)[^\s\"']+"
        rf"|\\\\\w[\w.$-]*\\[^\s\"']+"
    ),
    "an account": re.compile(
        r"(?<![\w.+-])(?:[\w.+-]{2,}+@[\w-]{2,}(?:\.[\w-]+)*|[\w.+-]++@(?:[\w-]+\.)+[A-Za-z]{2,})"
    ),
    "a UUID": re.compile(
        r"\b(?:GPU-|MIG-)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
        r"|\b(?:GPU|MIG)-[0-9a-fA-F]{6,}"
    ),
    "a hardware address": re.compile(
        r"(?<![\w:-])[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}){4}(?![\w:-])"
        r"|(?<![\w.])(?=[\d.]*[a-f])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])"
    ),
    "a serial number": re.compile(
        r"\b(?:serial\s{1,8}(?:number|no\.?)|serial\s{0,8}[:=#]|s/n\b)\s{0,8}[:=#]?\s{0,8}"
        r"[\w-]{0,64}\d[\w-]*"
        r"|\bserial\s{1,8}(?:is\s{1,8})?[A-Z0-9-]{0,16}\d{6,}\w*",
        re.IGNORECASE | re.ASCII,
    ),
    "an identifier": re.compile(  # of a container or a machine
        r"(?<!\w)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])(?:[0-9a-f]{12}|[0-9a-f]{32,})(?!\w)"
    ),
    "an address": re.compile(
        rf"\b(?!env://|file://[/{HIDDEN}])[a-z][a-z0-9+]{{0,20}}+://(?!{_SITES}|localhost\b)[^\s\"'<>]+"
        rf"|(?<![\w./=:-])(?=[a-z][a-z0-9.-]*+:\d{{4}})(?!{_NO_HOST}:)"
        r"(?:[a-z]+:[1-6]\d{4}|[a-z][a-z0-9-]*[\d-][a-z0-9.-]*:\d{4,5})(?![\w.])",
        re.IGNORECASE | re.ASCII,
    ),
    "a name": re.compile(
        r"\b(?:user(?:name)?|login|logname|owner|host(?:name)?|node(?:name)?)\s?=\s?[\"']?"
        r"(?!(?:None|True|False|localhost|self|cpu|cuda|default|auto)\b|[\d.]+\b)[\w.@-]{3,}",
        re.IGNORECASE | re.ASCII,
    ),
    "a host": re.compile(
        rf"\b(?!{_SITES}|(?:self|threading|torch)\.)(?:[a-z0-9][\w-]{{0,62}}\.){{1,16}}"
        r"(?:com|org|net|edu|gov|de|uk|cn|jp|internal|intranet|local(?:domain)?|lan|corp|svc)\b"
        r"(?![\w(])",
        re.IGNORECASE | re.ASCII,
    ),
}
_HINTS: dict[str, tuple[str, ...]] = {
    "a credential": (
        *(
            "pass",
            "secret",
            "credential",
            "key",
            "token",
            "auth",
            "_pat",
            "bearer",
            "basic",
            "cookie",
        ),
        *(
            "://",
            "-----begin",
            "ssh-",
            "eyj",
            "aiza",
            "akia",
            "asia",
            "aida",
            "ya29",
            "xox",
            "glpat",
        ),
        *(
            "dckr_",
            "shpat",
            "nvapi",
            "wandb_",
            "pypi",
            "npm",
            "github_",
            "ghp",
            "gho",
            "ghs",
            "ghu",
            "ghr",
        ),
        *(f"{name}{sign}" for name in ("hf", "sk", "pk", "rk") for sign in "_-"),
    ),
    "a path": ("/", "\\", "~"),
    "an account": ("@",),
    "a UUID": ("-",),
    "a serial number": ("serial", "s/n"),
    "an address": (":",),
    "a name": ("=",),
    "a host": (".",),
}
"""Of which a text in lower case holds one wherever a pattern matches; most texts hold none."""
_NUMBERS = re.compile(r"(?<![\w.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w.]*\d)")
_COLONS = re.compile(r"(?<![\w:.])[0-9a-fA-F:.]{2,45}+(?![\w:.])")
_VERSIONS = re.compile(
    r"\.(?:id|digest|run|kernel|release|driver|torch|\w*version\w*|python\w*|processor)$"
    r"|\.(?:packages|torch_build)\b|\.machine_info\.cpu\b"
)
_OCTET, _NO_VERSION = 255, 100
_BEFORE = 32
"""Characters before four numbers in which a word may say that they are a version."""
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


def find(text: str, names: Collection[str] = (), *, version: bool = False) -> Iterator[Found]:
    """Find everything in a text that names a person, a host or one device of all.

    Parameters
    ----------
    names
        Of the host and its user; found as whole words, in whatever case.
    version
        Whether the text is a version or a digest, in which four numbers are no address.
    """
    lower = text.lower()
    for kind, pattern in PATTERNS.items():
        if kind in _HINTS and not any(hint in lower for hint in _HINTS[kind]):
            continue
        if not version or kind != "an identifier" or " " in text:
            yield from (Found(kind, *found.span()) for found in pattern.finditer(text))
    for found in _NUMBERS.finditer(text):
        before = text[max(0, found.start() - _BEFORE) : found.start()]
        if _is_address([int(part) for part in found.groups()], before, version):
            yield Found("an address", *found.span())
    for found in _COLONS.finditer(text):
        if _is_ipv6(found[0]):
            yield Found("an address", *found.span())
    for name in names:
        for found in re.finditer(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text, re.IGNORECASE):
            yield Found("a name of this host or its user", *found.span())


def _is_address(parts: list[int], before: str, version: bool) -> bool:  # noqa: FBT001 - see `find`
    """Tell an address from a version, such as 9.10.2.21, which begins with a small number."""
    if max(parts) > _OCTET:
        return False
    told = (version and not before) or _VERSION_WORD.search(before) is not None
    return not told or parts[0] >= _NO_VERSION


def _is_ipv6(text: str) -> bool:
    from ipaddress import IPv6Address  # noqa: PLC0415 - few texts have colons enough

    with suppress(ValueError):
        return any(character.isalnum() for character in text) and bool(IPv6Address(text))
    return False


def hide(text: str, names: Collection[str] = (), *, version: bool = False) -> str:
    """Return a text without what `find` finds in it."""
    spans = sorted((one.start, one.end) for one in find(text, names, version=version))
    kept, end = "", 0
    for start, stop in spans:
        if stop > end:
            kept += text[end:start] + (HIDDEN if start >= end else "")
            end = stop
    return kept + text[end:]


_TELLING = (str, Struct, dict, list, tuple)
"""What has texts; the rest of a run are the thousands of its numbers."""


_NUMBERS_ONLY = frozenset({float, int, bool, type(None)})


def texts(value: object, where: str = "$") -> Iterator[tuple[str, str]]:
    """Yield every text of a struct or of plain JSON with its place, and every key of a table."""
    if isinstance(value, str):
        yield where, value
        return
    if isinstance(value, dict):
        yield from ((where, str(key)) for key in value)
    if isinstance(value, list) and _NUMBERS_ONLY.issuperset(map(type, value)):
        return
    for name, item in _items(value):
        if isinstance(item, _TELLING):
            inside = f"{where}.{name}" if isinstance(name, str) else f"{where}[{name}]"
            yield from texts(item, inside)


def _items(value: Any) -> Iterable[tuple[object, object]]:  # noqa: ANN401 - a struct, a table, a list
    """Return what a struct, a table or a list holds, by its name or its place."""
    if isinstance(value, Struct):
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        return ((told_as, getattr(value, name)) for name, told_as in names)
    return value.items() if isinstance(value, dict) else enumerate(value)


def rewritten(value: Any, change: Callable[[str, str], str], where: str = "$") -> Any:  # noqa: ANN401 - any part of a run
    """Return a copy in which `change`, given place and text, has changed what `texts` yields."""
    if isinstance(value, str):
        return change(where, value)
    if isinstance(value, Struct):
        return structs.replace(
            value,
            **{
                field.name: rewritten(
                    getattr(value, field.name), change, f"{where}.{field.encode_name}"
                )
                for field in structs.fields(value)
            },
        )
    if isinstance(value, dict):
        return {
            change(where, key): rewritten(item, change, f"{where}.{key}")
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(
            rewritten(item, change, f"{where}[{index}]") for index, item in enumerate(value)
        )
    return value


def told(value: object) -> Iterator[str]:
    """Say of a struct or of plain JSON what it holds where, without repeating it."""
    return told_in(texts(value))


def told_in(found: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Say which of some texts hold what, each given with its place."""
    for where, text in found:
        if kinds := _kinds(text, version=False):
            kinds = _kinds(text, version=is_version(where))
        for kind in kinds:
            yield f"{hide(where, version=True)} holds {kind}"


@lru_cache(maxsize=2**14)  # a run says most things many times
def _kinds(text: str, *, version: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.kind for one in find(text, version=version)))


def is_version(where: str) -> bool:
    """Tell by its place whether a text of a run is a version, a revision or a digest."""
    return _VERSIONS.search(where) is not None


def own_names() -> frozenset[str]:
    """Return what this host and its user are called, as far as that names them."""
    host = platform.node()
    names = {host, host.partition(".")[0], Path.home().name}
    with suppress(OSError, KeyError):  # a user without a name, as in some containers
        names.add(getpass.getuser())
    common = _COMMON.split()
    return frozenset(
        name for name in names if len(name) >= _SHORTEST_NAME and name.lower() not in common
    )
