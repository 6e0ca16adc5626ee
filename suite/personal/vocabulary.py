# SPDX-License-Identifier: MIT
"""The words of the suite, which name nobody where the suite itself writes them.

A user may be called `data`, and a host `h200`: the name of a case or of a field stays as it is, and
in what others may have written, as in an error's text, such a name is looked for like any other.
"""

import re
from collections.abc import Collection
from functools import cache

from frobench.suite.checkout import BENCHMARKS, SUITE

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
