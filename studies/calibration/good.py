# SPDX-License-Identifier: MIT
"""Made-up honest runs of machines fast and slow: none may be refused."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from frobench.suite import checks
from frobench.suite.units import counted
from studies.calibration.figures import Table, bounded
from studies.calibration.work import Spread, Tell
from tests.instruments.faults.judging import validate
from tests.instruments.runs.good_runs import good_run

PORTION = 20
"""Runs that a process judges before it tells of them."""


class Judged(NamedTuple):
    """What became of a run.

    accelerators : what the machine had
    errors : codes by which the run, or its file, was refused
    """

    accelerators: str
    errors: frozenset[str]


def study(tell: Tell, spread: Spread, runs: int) -> list[Table]:
    """Judge so many runs as they end and as they are stored; return how many were refused."""
    seen: list[Judged] = []
    for some in spread(judged, [range(n, min(n + PORTION, runs)) for n in range(0, runs, PORTION)]):
        seen += some
        tell(len(seen) / runs, f"{len(seen)} of {counted(runs, 'run')}")
    return [table(seen)]


def judged(seeds: Sequence[int]) -> list[Judged]:
    """Make the runs of some seeds, and judge each."""
    found = []
    with TemporaryDirectory() as folder:
        for seed in seeds:
            run = good_run(seed)
            said = [*checks.conclude(run), *validate(run, Path(folder))]
            errors = frozenset(one.code for one in said if one.severity == "error")
            number = len(run.frobench.environment.accelerators)
            kind = "no accelerator" if number == 0 else "several" if number > 1 else "one"
            found.append(Judged(kind, errors))
    return found


def table(seen: Sequence[Judged]) -> Table:
    """Return how many runs of each kind of machine were refused, and by what."""
    rows = {"all machines": seen}
    for kind in ("no accelerator", "one", "several"):
        rows[f"machines with {kind}"] = [one for one in seen if one.accelerators == kind]
    codes = Counter(code for one in seen for code in one.errors)
    return Table(
        title="Made-up honest runs that were refused, when they ended or as files",
        rows="",
        figures=[
            figure
            for row, some in rows.items()
            if some
            for figure in bounded(row, sum(bool(one.errors) for one in some), len(some), most=0.0)
        ],
        note=" ".join(f"`{code}` in {counted(n, 'run')}." for code, n in codes.items()),
    )
