# SPDX-License-Identifier: MIT
"""How much a stored file may hold, so that no file makes its reader hang or grow.

The limits are about thirty times what a standard run of one machine holds, and above a thousand
cases in thirty launches.
"""

import json
from collections.abc import Collection
from typing import Any

from suite.stored.basics import LONGEST_NAME

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


class OutOfBoundsError(ValueError):
    """A file holds more than any run, or what readers may understand differently."""


def most_launches(cases: int, samples: int) -> int:
    """Return how many launches of so many samples a case a file may hold."""
    return MOST_VALUES // max(1, cases * (samples + VALUES_BESIDE))


def excess(data: bytes) -> str | None:
    """Say of what a file holds too much to be read, judging by its marks alone."""
    bounds = (
        ("values", MOST_VALUES, b",", MOST_VALUES - 1),
        ("lists and tables", MOST_TABLES, b"[{", MOST_TABLES),
        ("texts", MOST_TEXTS, b'"', 2 * MOST_TEXTS + 1),
    )
    for what, most, marks, most_marks in bounds:
        # To count takes nearly as long as to read the file, and most are too short for so many.
        if len(data) > most_marks and sum(map(data.count, marks)) > most_marks:
            return f"more than {most:,} {what}"
    return None


def texts(value: object) -> list[str]:
    """Return every text of plain JSON and every name of its tables, as often as it is there.

    Raises `OutOfBoundsError` if it is nested too deep, or a name is too long.
    """
    found: list[str] = []
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        names: list[str] = []
        deeper: list[Any] = []
        for part in level:
            if type(part) is dict:
                names += part
            items = part.values() if type(part) is dict else part
            for item in items:  # a hundred thousand, so that each line of this counts
                kind = type(item)
                if kind is str:
                    found.append(item)
                elif kind is dict or kind is list:
                    deeper.append(item)
        if max(map(len, names), default=0) > LONGEST_NAME:
            raise OutOfBoundsError(f"a name of more than {LONGEST_NAME:,} characters")
        found += names
        if not deeper:
            return found
        level = deeper
    raise OutOfBoundsError(f"nested deeper than {DEEPEST} levels")


def check_names(data: bytes, texts: int) -> None:
    """Raise `OutOfBoundsError` if a table of JSON has a name twice.

    Readers differ in which of the two entries they take.

    texts : how many texts and names a reader gets of it
    """
    if b"\\" not in data and data.count(b'"') == 2 * texts:
        return  # each text is between two marks, and no reader lost one
    repeated = []

    def check(entries: list[tuple[str, object]]) -> None:
        repeated.extend([1] * (len(entries) > len({name for name, _ in entries})))

    json.loads(data, object_pairs_hook=check, parse_int=len, parse_float=len)
    if repeated:
        raise OutOfBoundsError("a table has two entries of one name")


def check_length(texts: Collection[str]) -> None:
    """Raise `OutOfBoundsError` if distinct texts are longer together than those of any run."""
    if sum(map(len, texts)) > MOST_LETTERS:
        raise OutOfBoundsError(f"more than {MOST_LETTERS:,} characters of text")
