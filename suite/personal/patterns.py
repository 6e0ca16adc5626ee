# SPDX-License-Identifier: MIT
"""The patterns of what names a person, a host or one device of all, and of credentials.

Texts are searched for them in a time that grows with their length alone.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

HIDDEN = "\N{HORIZONTAL ELLIPSIS}"
"""Stands where something was hidden."""

_LOWER = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
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
        rf"(?!{_OWN_PATHS})(?:{_PART}(?:/{_PART})+|(?:{_ROOTS})\b)",
        "/",
    ),
    _exact("a path", rf"~(?<!\w~)(?:[A-Za-z_][\w.-]*)?(?:/{_PART})+", "~"),
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
