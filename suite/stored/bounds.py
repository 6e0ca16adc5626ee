# SPDX-License-Identifier: MIT
"""How much a stored file may hold, so that no file makes its reader hang or grow.

The limits are about thirty times what a standard run holds, and above a thousand cases in thirty
launches.
"""

import json
from typing import Any

from frobench.suite.stored.basics import LONGEST_NAME

MOST_VALUES = 1_000_000  # nearly all are samples
VALUES_BESIDE = 30  # for each case and launch, beside the samples
MOST_TABLES = 100_000  # and lists
MOST_TEXTS = 200_000  # and names in tables
MOST_LETTERS = 2_000_000  # of all texts together, each distinct one counted once
DEEPEST = 16  # tables and lists inside each other
_NUMBERS = frozenset({float, int, bool, type(None)})


class OutOfBoundsError(ValueError):
    """A file holds more than any run, or what readers may understand differently."""


def most_launches(cases: int, samples: int) -> int:
    """Return how many launches of so many samples a case a file may hold."""
    return MOST_VALUES // max(1, cases * (samples + VALUES_BESIDE))


def excess(data: bytes) -> str | None:
    """Say of what a file holds too much to be read, judging by its marks alone."""
    if len(data) < MOST_VALUES and len(data) - len(data.translate(None, b'[{"')) < MOST_TABLES:
        return None  # as mostly; to count each mark takes nearly as long as to read the file
    bounds = (
        ("values", MOST_VALUES, b",", MOST_VALUES - 1),
        ("lists and tables", MOST_TABLES, b"[{", MOST_TABLES),
        ("texts", MOST_TEXTS, b'"', 2 * MOST_TEXTS + 1),
    )
    for what, most, marks, most_marks in bounds:
        if sum(map(data.count, marks)) > most_marks:
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
                elif kind is dict or (kind is list and not _NUMBERS.issuperset(map(type, item))):
                    deeper.append(item)
        if max(map(len, names), default=0) > LONGEST_NAME:
            raise OutOfBoundsError(f"a name of more than {LONGEST_NAME:,} characters")
        found += names
        if not deeper:
            return found
        level = deeper
    raise OutOfBoundsError(f"nested deeper than {DEEPEST} levels")


def distinct_texts(data: bytes, plain: object) -> set[str]:
    """Return the texts of a file and the names of its tables, each once, from its plain JSON.

    Raises `OutOfBoundsError` as `texts`, if they are longer together than those of any run, or if a
    table has a name twice, of which readers take different entries.
    """
    every = texts(plain)
    if b"\\" in data or data.count(b'"') != 2 * len(every):  # else no reader lost a text
        json.loads(data, object_pairs_hook=_refuse_twins, parse_int=len, parse_float=len)
    distinct = {*every}
    if sum(map(len, distinct)) > MOST_LETTERS:
        raise OutOfBoundsError(f"more than {MOST_LETTERS:,} characters of text")
    return distinct


def _refuse_twins(entries: list[tuple[str, object]]) -> None:
    if len({name for name, _ in entries}) < len(entries):
        raise OutOfBoundsError("a table has two entries of one name")
