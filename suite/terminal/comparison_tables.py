# SPDX-License-Identifier: MIT
"""Comparisons as tables for a terminal, as wide as it is."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from frobench.suite.compare.alike import kind
from frobench.suite.compare.model import CaseComparison, CaseRatio
from frobench.suite.stored.names import name_of
from frobench.suite.stored.run import Estimate
from frobench.suite.terminal.layout import say
from frobench.suite.units import RATIO, format_estimate, format_point, format_value

FINDS = "finds"
GAP = "  "
UNLIMITED = 10_000
"""Columns of what is no terminal."""


class Column(NamedTuple):
    """A column of a table."""

    heading: str
    right: bool = False  # whether its cells stand at its right


class Row(NamedTuple):
    """A row of a table: a name in two parts, and a cell for each column."""

    group: str
    head: str
    tail: str
    cells: tuple[str, ...]


class Table(NamedTuple):
    """Rows under columns."""

    columns: Sequence[Column]
    rows: Sequence[Row]


def of_cases(cases: Iterable[CaseComparison], base: str, new: str) -> Table:
    """Return a row for each case, in the order given."""
    rows = []
    for case in cases:
        ratio = None if case.word == "incomparable" else case.ratio
        judged = case.word, finds(case.smallest_change)
        rows.append(_row(name_of(case.fullname), case, ratio, *judged))
    sides = Column(base, right=True), Column(new, right=True), Column(f"{new} / {base}")
    return Table((*sides, Column("verdict"), Column(FINDS, right=True)), rows)


def of_ratios(cases: Iterable[CaseRatio]) -> Table:
    """Return a row for each case that has a ratio, its devices named by their kinds."""
    columns = Column("base", right=True), Column("new", right=True), Column("new, times as fast")
    rows = [
        _row(kind(name_of(case.base_case)), case, case.speed)
        for case in cases
        if case.speed is not None
    ]
    return Table(columns, rows)


def finds(change: float | None) -> str:
    """Spell the smallest change that would have been found, a large one as a factor."""
    if change is None:
        return "-"
    large = change >= 1
    return format_value(1 + change, RATIO, 2) if large else f"+{format_value(change, '1', 2)}"


def legend(cases: Sequence[CaseComparison]) -> list[str]:
    """Explain what a table of cases does not say by itself."""
    lines = [
        f"{FINDS}: the smallest slow-down that would have been found in 90% of such comparisons"
    ]
    if any(case.smallest_change is None and case.reason is None for case in cases):
        lines.append("  (-: too few to find even a factor of 1,000; measure with more --launches)")
    if any(case.p_value is not None for case in cases):
        lines.append("verdicts: in all cases together a false alarm in at most 5% of comparisons")
    return lines


def show(table: Table) -> None:
    """Print a table with an empty line behind it, laid out for the terminal's width."""
    if table.rows:
        say(*lines(table, shutil.get_terminal_size((UNLIMITED, 0)).columns), "")


def lines(table: Table, width: int) -> list[str]:
    """Lay a table out in the first form that fits the width, or else in the narrowest.

    A narrower form names what rows share above them; the narrowest also drops the first column.
    """
    for split in (False, True):
        form = list(_laid_out(table, split=split))
        if max(map(len, form)) <= width:
            return form
    rows = [row._replace(cells=row.cells[1:]) for row in table.rows]
    rest = _laid_out(Table(table.columns[1:], rows), split=True, width=width)
    return [*rest, f"(no room here for {table.columns[0].heading})"]


def _row(name: str, case: CaseComparison | CaseRatio, ratio: Estimate | None, *judged: str) -> Row:
    head, bracket, tail = name.partition("[")
    times = format_point(case.base, "s"), format_point(case.new, "s")
    compared = format_estimate(ratio, RATIO) if ratio else "-"
    return Row(case.group, head, bracket + tail, (*times, compared, *judged))


def _laid_out(table: Table, *, split: bool, width: int = UNLIMITED) -> Iterator[str]:
    labels = [f"  {row.tail.strip('[]') if split else row.head + row.tail}" for row in table.rows]
    headings = [column.heading for column in table.columns]
    columns = zip(headings, *(row.cells for row in table.rows), strict=True)
    widths = [max(map(len, column)) for column in columns]
    room = width - sum(widths) - len(GAP) * len(widths)
    first = max((len(label) for label in labels if len(label) <= room), default=0)

    def line(label: str, cells: Sequence[str]) -> str:
        placed = [
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(cells, widths, table.columns, strict=True)
        ]
        return GAP.join([label.ljust(first), *placed]).rstrip()

    yield line("", headings)
    shared = [f"{row.group} {row.head}" if split else row.group for row in table.rows]
    rows = zip(shared, labels, table.rows, strict=True)
    for heading, members in groupby(rows, key=itemgetter(0)):
        yield heading
        for _, label, row in members:
            if len(label) > first:
                yield label
            yield line(label if len(label) <= first else "", row.cells)
