# SPDX-License-Identifier: MIT
"""What names a person, a host or one device of all: found in texts, and hidden there.

It finds paths but the system's own, addresses of every kind, hosts in their domain, UUIDs,
identifiers of containers, labelled serial numbers, credentials, and the names of this host and its
user. A name looks like any word, so `frobench share` is for the machine that made the run.

The words of the suite name nobody where the suite itself writes them. A user may be called `data`,
and a host `h200`: the name of a case or of a field stays as it is, and in what others may have
written, as in an error's text, such a name is looked for like any other.
"""

import getpass
import platform
import re
import socket
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, UnsetType, structs

from frobench.suite.checkout import BENCHMARKS, SUITE

HIDDEN = "\N{HORIZONTAL ELLIPSIS}"
"""Stands where something was hidden."""

_LOWER = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
_SEGMENT = r"[^\s/\\\"'`<>|:;,()\[\]{}]{1,255}"
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
_VERSIONED = "version|v|release|driver|cuda|cudnn|cublas|nccl|rocm|hip|torch|python|kernel|library"
BACKWARDS_VERSION = re.compile(rf"[ :=v-]*(?:(?:{_VERSIONED[::-1]})\b|[=<>~])", re.IGNORECASE)
"""How the characters before a version look from its first number backwards."""
_TOP = (
    r"(?:com|org|net|edu|gov|de|uk|cn|jp|internal|intranet|local(?:domain)?|lan|corp|svc)"
    r"\b(?![\w(])"
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


class Look(NamedTuple):
    """How something of a kind, such as "a path", looks.

    hints : one of these is in a text in lower case wherever the pattern matches; most texts hold
        none
    folded : whether the pattern is of texts in lower case
    core : matches within every match of the pattern, which holds no space, and costs less to find;
        without it the pattern begins with characters that are found quickly
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    folded: bool = False
    core: re.Pattern[str] | None = None


def in_lower_case(text: str) -> str:
    """Return a text in lower case, with each character where it was."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_LOWER)


def possible(looks: Iterable[Look], lower: str) -> Iterator[Look]:
    """Yield how something in a text in lower case may look, judging by words and marks alone."""
    for look in looks:
        for hint in look.hints:
            if hint in lower:
                yield look
                break


def matches(look: Look, text: str, lower: str) -> Iterator[re.Match[str]]:
    """Yield where a text looks so, given it in lower case too."""
    searched = lower if look.folded else text
    if look.core is None:
        every = look.pattern.finditer(searched)
        yield from (match for match in every if match.lastgroup or not look.pattern.groupindex)
        return
    end = -1
    for core in look.core.finditer(searched):
        if core.start() >= end:  # else it is in a word that was searched
            start = searched.rfind(" ", 0, core.start()) + 1
            end = searched.find(" ", core.start())
            end = len(searched) if end < 0 else end
            yield from look.pattern.finditer(searched, start, end)


def _look(
    kind: str, pattern: str, hints: Iterable[str], core: str | None = None, *, folded: bool
) -> Look:
    """Return how something looks: `folded` in ASCII letters of either case, else as it stands."""
    flags = re.ASCII if folded else re.NOFLAG
    inner = None if core is None else re.compile(core, flags)
    return Look(kind, re.compile(pattern, flags), (*hints,), folded, inner)


_folded = partial(_look, folded=True)  # letters of either case
_exact = partial(_look, folded=False)
_credential = partial(_folded, "a credential")
LOOKS = (
    _credential(r"://[^\s/@][^\s/@:]{0,127}+:[^\s/@]{0,512}+@\S*", ["://"]),
    _credential(r"-----begin [a-z ]{1,40}-----[\s\S]*", ["-----begin"]),
    _credential(
        r"\b(?:gh[opsur]|hf|github_pat|glpat|npm|pypi|dckr_pat|sk|pk|rk|shpat|nvapi|wandb_v\d)"
        r"[_-][\w-]{16,}",
        "_-",
        r"[_-](?<=[fikmoprstu\d].)"
        r"(?:(?<=gh..)|(?<=hf.)|(?<=[prs]k.)|(?<=pat.)|(?<=npm.)|(?<=pi.)|(?<=_v\d.))"
        r"(?=[\w-]{16})",
    ),
    _credential(
        r"a(?<!\wa)(?:(?:kia|sia|ida)[a-z0-9]{12,}|iza[\w-]{20,})"
        r"|ya29\.(?<!\wya29\.)[\w.-]{8,}|xox[abeoprs]-(?<!\wxox.-)[\w-]{10,}",
        ("akia", "asia", "aida", "aiza", "ya29.", "xox"),
    ),
    # A run without a point is passed over whole.
    _credential(r"eyj(?<!\weyj)[\w-]{8,}+(?P<proof>\.[\w-]{8,}(?:\.[\w-]*)?)?", ["eyj"]),
    _credential(r"ssh-(?<!\wssh-)(?:rsa|dss|ed25519)\s{1,8}[\w+/=]{16,}", ["ssh-"]),
    _credential(
        r"b(?<!\wb)(?:earer|asic)\s{1,8}(?=[\w.~+/=-]{0,512}[\d=])[\w.~+/=-]{12,}",
        ("bearer", "basic"),
    ),
    _credential(
        r"authorization(?<!\wauthorization)\s{0,8}[:=]\s{0,8}\S+(?:\s{1,8}\S+)?"
        r"|cookie(?<!\wcookie)\s{0,8}[:=]\s{0,8}\S+",
        ("authorization", "cookie"),
    ),
    _credential(
        rf"{_GUARDED}(?:s?[\"']?(?:\s{{0,8}}[:=]\s{{0,8}}|\s{{1,8}}is\s{{1,8}}{_NO_VALUE})\S+"
        r"|\s{1,8}(?=\S{0,64}\d)\S{6,})",
        ("pass", "secret", "credential", "key", "token"),
    ),
    _credential(
        r"token\s{0,8}=\s{0,8}(?=\S{0,256}[a-z])\S{8,}"
        r"|token\s{1,8}(?:is\s{1,8})?(?=\S{0,256}\d)(?=\S{0,256}[a-z])\S{8,}",
        ["token"],
    ),
    _exact(
        "a credential",
        r"(?a)[A-Z](?<!\w.)[A-Z0-9_]{0,64}_(?:AUTH|CREDENTIALS?|KEY|PASS|PASSWD|PASSWORD|PAT"
        rf"|SECRET|TOKEN)(?:\s{{0,8}}[:=]\s{{0,8}}|\s{{1,8}}(?:(?i:is)\s{{1,8}})?(?i:{_NO_VALUE}))\S+",
        ("_auth", "_credential", "_key", "_pass", "_pat", "_secret", "_token"),
    ),
    _exact(
        "a path",
        r"/(?:(?<![\w/.~\])…-]/)|(?<=:///))"
        rf"(?!{_OWN_PATHS})(?:{_SEGMENT}(?:/{_SEGMENT})+|(?:{_ROOTS})\b)",
        "/",
    ),
    _exact("a path", rf"~(?<!\w~)(?:[A-Za-z_][\w.-]*)?(?:/{_SEGMENT})+", "~"),
    _exact(
        "a path",
        r"(?<!\w)[A-Za-z]:[\\/](?!/)[^\s\"']+",
        (":/", ":\\"),
        r":(?<=[A-Za-z]:)[\\/](?![/\s\"'])",
    ),
    _exact("a path", r"\\\\\w[\w.$-]*\\[^\s\"']+", ["\\\\"]),
    _exact(
        "an account",
        r"(?<![\w.+-])(?:[\w.+-]{2,}+@[\w-]{2,}(?:\.[\w-]+)*|[\w.+-]++@(?:[\w-]+\.)+[A-Za-z]{2,})",
        "@",
        r"@(?<=[\w.+-]@)(?=\w|-)",
    ),
    _exact(
        "a UUID",
        r"\b(?:GPU-|MIG-)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
        r"|\b(?:GPU|MIG)-[0-9a-fA-F]{6,}",
        "-",
        r"-(?:[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-|(?<=GPU-|MIG-)[0-9a-fA-F]{6})",
    ),
    _exact(
        "a hardware address",
        r"(?<![\w:-])[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}){4}(?![\w:-])",
        ":-",
        r"[:-][0-9a-fA-F]{2}[:-][0-9a-fA-F]{2}[:-][0-9a-fA-F]{2}[:-]",
    ),
    _exact(
        "a hardware address",
        r"(?<![\w.])(?=[\d.]*[a-f])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])",
        ".",
        r"\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])",
    ),
    _folded(
        "a serial number",
        r"serial(?<!\wserial)(?:\s{1,8}(?:number|no\.?)|\s{0,8}[:=#])\s{0,8}[:=#]?\s{0,8}"
        r"[\w-]{0,64}\d[\w-]*"
        r"|s/n\b(?<!\ws/n)\s{0,8}[:=#]?\s{0,8}[\w-]{0,64}\d[\w-]*"
        r"|serial(?<!\wserial)\s{1,8}(?:is\s{1,8})?[a-z0-9-]{0,16}\d{6,}\w*",
        ("serial", "s/n"),
    ),
    _exact(  # of a container or a machine
        "an identifier",
        r"(?<!\w)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])(?:[0-9a-f]{12}|[0-9a-f]{32,})(?!\w)",
        [""],
        r"[0-9a-f]{12,}+",
    ),
    _folded(
        "an address",
        rf"\b(?!env://|file://[/{HIDDEN}])[a-z][a-z0-9+]{{0,20}}+://(?!{_SITES}|localhost\b)[^\s\"'<>]+",
        ["://"],
        "://",
    ),
    _folded(
        "an address",
        r"(?<![\w./=:-])(?=[a-z][a-z0-9.-]*+:\d{4,5}(?![\w.]))"
        rf"(?!{_NO_HOST}:)"
        r"(?:[a-z]+:[1-6]\d{4}|[a-z][a-z0-9-]*[\d-][a-z0-9.-]*:\d{4,5})(?![\w.])",
        ":",
        r":\d{4,5}(?![\w.])",
    ),
    _folded(
        "a name",
        r"(?:user(?<!\wuser)(?:name)?|login(?<!\wlogin)|logname(?<!\wlogname)|owner(?<!\wowner)"
        r"|host(?<!\whost)(?:name)?|node(?<!\wnode)(?:name)?)\s?=\s?[\"']?"
        r"(?!(?:none|true|false|localhost|self|cpu|cuda|default|auto)\b|[\d.]+\b)[\w.@-]{3,}",
        "=",
    ),
    _folded(
        "a host",
        rf"\b(?!{_SITES}|(?:self|threading|torch)\.)(?:[a-z0-9][\w-]{{0,62}}+\.){{1,16}}{_TOP}",
        ".",
        rf"\.{_TOP}",
    ),
)
"""Everything that is looked for by its look alone, in the order in which it is told."""
FOUR_NUMBERS = _exact(
    "an address",
    r"(?<![\w.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w.]*\d)",
    ".",
    core=r"\.\d{1,3}\.\d{1,3}\.\d",
)
"""What may be an address of the internet's fourth version, and may be a version of something."""
WITH_COLONS = _exact(
    "an address",
    r"(?<![\w:.])[0-9a-fA-F:.]{2,45}+(?![\w:.])",
    ":",
    core=r":[0-9a-fA-F.]{0,4}:",
)
"""What may be an address of the internet's sixth version."""
VERSIONS = re.compile(
    r"\.(?:id|digest|run|kernel|release|driver|torch|\w*version\w*|python\w*|processor)$"
    r"|\.(?:packages|torch_build)\b|\.machine_info\.cpu\b"
)


_PART = re.compile(r"[^\W_]+")
_MAKERS = re.compile(
    r"^\$\.(?:machine_info\.cpu\.(?:arch|bits|brand|count|hz|vendor)\w*"
    r"|machine_info\.(?:machine|processor|system)"
    r"|frobench\.environment\.(?:machine|cpu\.(?:architecture|model)|accelerators\[\d+\]\.name))"
    r"(?:$|\[)"
)
"""Places that hold what a maker called something."""
_SUITES = re.compile(
    r"^\$\.(?:benchmarks|commit_info\.project|datetime|machine_info(?:\.cpu)?$|version"
    r"|frobench(?:$|\.(?:exercises|profile|run|settings)|\.launches\[\d+\]\.(?!changed\.)"
    r"|\.outcomes\[\d+\]\.(?:check|fullname|group|params|status)"
    r"|\.(?:conclusions|troubles)\[\d+\]\.(?:advice|case|code|severity)"
    r"|\.telemetry(?!\.unknown\.)"
    r"|\.environment(?:\.topology|(?:\.software\.\w+|\.unknown|\.accelerators\[\d+\]\.type)?$)))"
)
"""Places whose words, and tables whose names, the suite writes."""


def sought(names: Collection[str], where: str) -> Collection[str]:
    """Return those of some names that tell something at a place of a run."""
    if not names or _MAKERS.search(where):
        return ()
    return [name for name in names if not is_word(name)] if _SUITES.search(where) else names


def is_word(name: str) -> bool:
    """Tell whether a name is made of words and numbers of the suite, such as `cpu-16`."""
    parts = _PART.findall(name.lower())
    return all(part.isdecimal() or part in _words() for part in parts)


@cache
def _words() -> frozenset[str]:
    files = (file for folder in (SUITE, BENCHMARKS) for file in folder.rglob("*.py"))
    sources = (file.read_text(encoding="utf-8") for file in files)
    return frozenset(word for source in sources for word in _PART.findall(source.lower()))


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
    lower = in_lower_case(text)
    for look in possible((*LOOKS, FOUR_NUMBERS, WITH_COLONS), lower):
        if version and look.kind == "an identifier" and " " not in text:
            continue
        for match in matches(look, text, lower):
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
    named = (version and not before) or BACKWARDS_VERSION.match(before[::-1])
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
    return VERSIONS.search(where) is not None


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
