# SPDX-License-Identifier: MIT
"""The patterns of what names a person, a host or one device of all, and of credentials."""

import re

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
VERSION_WORD = re.compile(
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
HINTS: dict[str, tuple[str, ...]] = {
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
NUMBERS = re.compile(r"(?<![\w.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w.]*\d)")
COLONS = re.compile(r"(?<![\w:.])[0-9a-fA-F:.]{2,45}+(?![\w:.])")
VERSIONS = re.compile(
    r"\.(?:id|digest|run|kernel|release|driver|torch|\w*version\w*|python\w*|processor)$"
    r"|\.(?:packages|torch_build)\b|\.machine_info\.cpu\b"
)
