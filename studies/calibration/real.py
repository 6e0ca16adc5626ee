# SPDX-License-Identifier: MIT
"""Real launches of identical and of slower code on this machine, and what is said of them.

One long run measures pieces of work repeated 100 times beside the same 100 times, and 102
times beside 100. Groups of its launches then stand where runs do.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from frobench.suite.statistics import estimate, spread
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from frobench.suite.units import counted
from studies.calibration import groups
from studies.calibration.figures import RATIO, Figure, Goal, Table
from studies.calibration.groups import Recorded
from studies.calibration.work import Spread, Tell
from tests.instruments.processes.command import start

REPEATS = 100
"""Of a piece of work in the other version of each body."""
LAUNCH_BUDGET = 3.2
"""Seconds of the run's budget for a launch, with which a case has 0.15 s on a quiet machine."""
DRAWS = 2_000
BODIES = Path(__file__).parent / "bodies"
SLOWED = Goal(least=1.015, most=1.025)
"""The slow-down that is made, give or take a quarter of it."""


def study(tell: Tell, _spread: Spread, launches: int) -> list[Table]:
    """Record so many launches, and return what was seen and what was said of groups of them."""
    return tables(record(tell, launches))


def record(tell: Tell, launches: int) -> Run:
    """Measure in a run of the real command."""
    options = ("--profile", "quick", "--devices", "cpu", "--launches", launches)
    budget = round(launches * LAUNCH_BUDGET)
    said = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        arguments = ("run", "--benchmarks", BODIES, *options, "--budget", budget)
        with start(*arguments, folder=folder) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            for line in process.stderr:
                said.append(line)
                if done := re.match(r"launch (\d+) of", line):
                    tell(int(done[1]) / launches, line.strip())
            path = process.stdout.read().strip()
        if process.returncode != 0:
            raise RuntimeError("".join(said))
        return store.read(folder / path)


def tables(run: Run, draws: int = DRAWS) -> list[Table]:
    """Return what the launches of a recorded run show, and what is said of groups of them."""
    same, slower = (
        [Recorded.of(case) for case in run.benchmarks if (case.params["repeats"] == REPEATS) is it]
        for it in (True, False)
    )
    return [
        Table(
            title=f"{counted(len(run.frobench.launches), 'launch')} in which each body runs "
            f"beside another version, which has {REPEATS} repeats",
            rows="body",
            figures=[
                *(figure for case in same for figure in _seen(case)),
                *(figure for case in slower for figure in _seen(case, SLOWED)),
            ],
        ),
        groups.table(same, slower, draws),
    ]


def _seen(case: Recorded, slowed: Goal | None = None) -> list[Figure]:
    return [
        Figure.of(case.name, "one call", estimate(case.new).value, "s"),
        Figure.of(case.name, "new / old", estimate(case.ratios).value, RATIO, slowed),
        Figure.of(case.name, "launches differ by", spread(case.new) or 0.0, "1"),
        Figure.of(case.name, "their ratios by", spread(case.ratios) or 0.0, "1"),
    ]
