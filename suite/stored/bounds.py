# SPDX-License-Identifier: MIT
"""How much a stored file may hold, so that no file makes its reader hang or grow.

The limits are about thirty times what a standard run of one machine holds, and above a thousand
cases in thirty launches.
"""

import json
from collections.abc import Iterable
from typing import Any

from suite.stored.run import LONGEST_NAME

MOST_VALUES = 1_000_000
"""Values of a file, at most; the samples are nearly all of them."""
VALUES_BESIDE = 30
"""Values of a file for each case and launch beside the samples, at most."""
MOST_TABLES = 100_000
"""Lists and tables."""
MOST_TEXTS = 200_000
"""Texts, and names of what lies in tables."""
MOST_LETTERS = 2_000_000
"""Characters of all its texts together, each distinct text counted once."""
DEEPEST = 16
"""Lists and tables inside each other."""


def most_launches(cases: int, samples: int) -> int:
    """Return how many launches a file may hold.

    samples : of each case in each launch, at most
    """
    return MOST_VALUES // max(1, cases * (samples + VALUES_BESIDE))


def excess(data: bytes) -> str | None:
    """Say of what a file holds too much to be read, judging by its marks alone."""
    counts = {
        "values": (data.count(b",") + 1, MOST_VALUES),
        "lists and tables": (data.count(b"[") + data.count(b"{"), MOST_TABLES),
        "texts": (data.count(b'"') // 2, MOST_TEXTS),
    }
    return next(
        (f"more than {most:,} {what}" for what, (count, most) in counts.items() if count > most),
        None,
    )


def disorder(value: object) -> str | None:
    """Say of plain JSON why it cannot be searched: it is nested too deep, or a name is too long."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        if any(
            len(name) > LONGEST_NAME for part in level if isinstance(part, dict) for name in part
        ):
            return f"a name of more than {LONGEST_NAME:,} characters"
        level = [item for each in level for item in _inside(each) if isinstance(item, dict | list)]
        if not level:
            return None
    return f"nested deeper than {DEEPEST} levels"


def _inside(value: Any) -> Iterable[Any]:  # noqa: ANN401 - plain JSON
    return value.values() if isinstance(value, dict) else value


def ambiguity(data: bytes) -> str | None:
    """Say of JSON that a table has a name twice: readers differ in which entry they take."""
    repeated = []

    def check(entries: list[tuple[str, object]]) -> None:
        repeated.extend([1] * (len(entries) > len({name for name, _ in entries})))

    json.loads(data, object_pairs_hook=check, parse_int=len, parse_float=len)
    return "a table has two entries of one name" if repeated else None


def wordiness(texts: Iterable[str]) -> str | None:
    """Say of the texts of a file that they are longer together than those of any run."""
    letters = sum(map(len, set(texts)))
    return f"more than {MOST_LETTERS:,} characters of text" if letters > MOST_LETTERS else None
