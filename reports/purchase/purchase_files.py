# SPDX-License-Identifier: MIT
"""What lies beside the page of machines side by side: a table, a picture, words for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from msgspec import Struct

from frobench.reports.purchase.comparison import Comparison
from frobench.reports.summary import card
from frobench.reports.web.render import moment
from frobench.suite.units import counted

SCHEMA = pa.schema(
    {
        **dict.fromkeys(("run", "machine", "device", "exercise"), pa.string()),
        **dict.fromkeys(("log_ratio", "log_error", "ratio", "low", "high"), pa.float64()),
        **dict.fromkeys(("cases", "every"), pa.int64()),
    }
)
TECHNIQUE = (
    "Geometric mean over the cases that both machines measured of the ratios of their times; "
    "a joint 95% interval by a bootstrap over the launches of both"
)
VARIABLES = {
    "log_ratio": ("Natural logarithm of how many times as fast as the reference, by exercise", "1"),
    "log_error": ("Standard error of that logarithm", "1"),
    "ratio": ("How many times as fast as the reference", "1"),
    "low": ("Lower end of the 95% interval of the ratio", "1"),
    "high": ("Upper end of the 95% interval of the ratio", "1"),
}
"""Columns of the table that were measured: what they hold, and its unit."""


class Line(Struct, frozen=True):
    """A machine in the picture.

    value, interval : how many times as fast as the reference, in words; ``None`` without a ratio,
        and empty without an interval
    """

    name: str
    is_reference: bool
    value: str | None
    interval: str


def table(comparison: Comparison, rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Return a row for each machine and exercise, with the machine's names."""
    names = {one.run: {"machine": one.title, "device": one.device} for one in comparison.machines}
    return pa.Table.from_pylist([row | names[row["run"]] for row in rows], schema=SCHEMA)


def title(names: Sequence[str]) -> str:
    """Name the machines, in the order in which they were given."""
    *first, last = names
    return f"{', '.join(first)} and {last} side by side" if first else f"{last} side by side"


def picture(reference: str, under: str, ranked: Sequence[Line], when: str) -> bytes:
    """Draw the machines' speeds, fastest first, as PNG; `under` names the workload."""
    foot = f"{counted(len(ranked), 'machine')}, the newest run of {moment(when)}"
    return card.card("Machines side by side", _rows(reference, under, ranked), foot)


def _rows(reference: str, under: str, ranked: Sequence[Line]) -> Iterator[card.Row]:
    for line in ranked:
        if line.is_reference:
            continue
        if line.value is None:
            yield card.Row(line.name, f"has nothing that can be compared with {reference}")
        else:
            speed = f"{line.name}: times as fast as {reference}, {under}"
            yield card.Row(f"{line.value} {line.interval or '(no interval)'}", speed)
