# SPDX-License-Identifier: MIT
"""What a file that is shared would tell the world, as a person reads it before it does."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from frobench.suite import personal_data
from frobench.suite.redaction import Removed, pattern
from frobench.suite.stored.types import Run
from frobench.suite.terminal.output import width, wrapped
from frobench.suite.units import counted

FEW, LONGEST = 6, 60
"""Texts of one place that are shown where not all are asked for, and letters of each."""
BY_CASE = "frobench.without_energy"
"""The table whose entries are named by cases, and so are shown together."""
COLUMN = 30
"""Letters that names have, most of the time."""


def lines(run: Run, removed: Collection[Removed], *, everything: bool = False) -> Iterator[str]:
    """Tell what was taken out of a run, and what would be published of it."""
    yield "Taken out" if removed else "Taken out: nothing, for there was nothing to take out"
    for (where, what), times in sorted(Counter(removed).items()):
        often = f", {counted(times, 'time')}" if times > 1 else ""
        yield from _entry(f"{what}{often}", [where.removeprefix("$.")], full=True)
    samples = counted(sum(case.stats.rounds for case in run.benchmarks), "sample")
    cases = counted(len(run.benchmarks), "case")
    launches = counted(len(run.frobench.launches), "launch")
    yield from ("", f"What would be published: {samples} of {cases} in {launches}, numbers of the")
    yield "machine, and every text below, by its place in the file"
    texts: dict[str, dict[str, None]] = {}
    for where, text in personal_data.texts(run):
        if text:
            place = pattern(where).removeprefix("$.")
            texts.setdefault(BY_CASE if place.startswith(BY_CASE) else place, {})[text] = None
    for where, values in texts.items():
        mine = where.startswith("frobench.environment.")
        yield from _entry(where, [*values], full=everything or mine)


def _entry(name: str, values: Sequence[str], *, full: bool) -> Iterator[str]:
    shown = [" ".join(value.split()) for value in values]
    if not full:
        shown = [value if len(value) <= LONGEST else f"{value[:LONGEST]}..." for value in shown]
        if more := len(values[FEW:]):
            shown[FEW:] = [f"and {more} more"]
    first = rest = " " * (COLUMN + 4)
    if len(name) > COLUMN:
        yield f"  {name}"
    else:
        first = f"  {name:{COLUMN}}  "
    yield from wrapped("; ".join(shown), width(), first, rest)
