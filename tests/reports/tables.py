# SPDX-License-Identifier: MIT
"""Tables of examples: what is given, and what a reader is told then, line by line.

Below ``## section`` each row begins with ``# what it shows | how=1``. The first character of each
of its lines is a mark, and cells are apart by bars. A line that begins with a space goes on.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

MARKS = "+-*=!~"


class Row(NamedTuple):
    """A row of a table: its section and sentence, and the cells of its lines by their marks."""

    section: str
    what: str
    how: dict[str, str]
    lines: dict[str, list[list[str]]]


def rows(table: str) -> Iterator[Row]:
    """Yield the rows of a table."""
    for part in re.sub(r"\n +", " ", f"\n{table}").split("\n## ")[1:]:
        section, *blocks = part.split("\n# ")
        for block in blocks:
            head, *lines = block.strip().split("\n")
            what, _, how = head.partition(" | ")
            marked: dict[str, list[list[str]]] = {mark: [] for mark in MARKS}
            for line in lines:
                marked[line[0]].append([cell.strip() for cell in line[2:].split("|")])
            yield Row(section, what, named(how), marked)


def named(cell: str) -> dict[str, str]:
    """Return the pairs of a cell."""
    return dict(pair.split("=", 1) for pair in cell.split())


def matches(text: str, pattern: str) -> bool:
    """Tell whether a text is that of a pattern, in which an ellipsis stands for any other."""
    parts = (re.escape(part) for part in pattern.split("\N{HORIZONTAL ELLIPSIS}"))
    return re.fullmatch(".*".join(parts), text) is not None
