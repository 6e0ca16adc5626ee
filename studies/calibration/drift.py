# SPDX-License-Identifier: MIT
"""What intervals cover where launches depend on their order, and how often that is named."""

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from frobench.suite.checks.drift import find_drift
from studies.calibration.figures import Figure, Goal, Table, errors
from studies.calibration.intervals import coverage, relative_width
from studies.calibration.regimes import NOISE, REGIMES, Regime, Values, correlated, drifting, normal
from studies.calibration.work import Spread, Tell

LAUNCHES = (6, 7, 8, 12, 20)
CASES = 20
"""Cases of a simulated run."""
PART = 80
"""Runs whose interval is looked at, for each in which drift is looked for."""
WIDTH = Goal(most=1.35)
ALARMS = 0.05
STEP = 3
"""Standard deviations of a launch by which a level changes."""
LARGE = 6
UNDISTURBED = [regime for regime in REGIMES if regime.name != "drifting"]


def in_mid_run(random: np.random.Generator, runs: int, launches: int) -> Values:
    """Draw a machine that becomes slower after half of the launches."""
    late = np.arange(launches) >= launches // 2
    return normal(random, runs, launches) + STEP * NOISE * late


def at_any_time(random: np.random.Generator, runs: int, launches: int) -> Values:
    """Draw a machine that becomes slower at a random time of the run."""
    late = np.arange(launches) + 0.5 >= random.uniform(0, launches, (runs, 1))
    return normal(random, runs, launches) + STEP * NOISE * late


MIDDLE = 1 + STEP * NOISE / 2
ANY, FEW = max(LAUNCHES), 8
"""Launches up to which coverage is promised: intervals of many are narrow, so that a high
correlation and a step at a random time cost more."""


class Dependent(NamedTuple):
    """A way in which launches depend on their order, and what intervals are meant to cover there.

    With a level before and one after, the true median lies between both.

    most : launches up to which the goal is set
    """

    regime: Regime
    goal: Goal | None = None
    most: int = ANY

    def goal_with(self, launches: int) -> Goal | None:
        """Return the goal for so many launches."""
        return self.goal if launches <= self.most else None


DEPENDENT = [
    Dependent(Regime("independent", normal), Goal(least=0.93)),
    Dependent(Regime("correlation of 0.3", partial(correlated, correlation=0.3)), Goal(least=0.92)),
    Dependent(
        Regime("correlation of 0.5", partial(correlated, correlation=0.5)), Goal(least=0.86), FEW
    ),
    Dependent(Regime("slow trend", drifting), Goal(least=0.86)),
    Dependent(Regime("step in mid-run", in_mid_run, MIDDLE), Goal(least=0.86)),
    Dependent(Regime("step at any time", at_any_time, MIDDLE), Goal(least=0.86), FEW),
    Dependent(Regime("step in mid-run, the level before", in_mid_run)),
]

CHANGES: list[tuple[str, float, bool]] = [
    ("trend", STEP, False),
    ("step in mid-run", STEP, True),
    ("trend", LARGE, False),
    ("step in mid-run", LARGE, True),
]
"""What is to be found: its kind, its size in standard deviations, and whether it is a step."""


def study(tell: Tell, spread: Spread, runs: int) -> list[Table]:
    """Return what intervals cover and how wide they are, and how often drift is named.

    runs : simulated for each cell of the first table
    """
    suites = max(1, runs // PART)
    covered = []
    cells = list(product(DEPENDENT, LAUNCHES))
    shares = spread(partial(_coverage, runs=runs), [(way.regime, n) for way, n in cells])
    for (way, launches), share in zip(cells, shares, strict=True):
        goal = way.goal_with(launches)
        covered.append(Figure.of(way.regime.name, str(launches), share, "1", goal))
    widths = spread(partial(relative_width, runs=runs), LAUNCHES)
    for launches, width in zip(LAUNCHES, widths, strict=True):
        row = "mean width / t-interval's"
        covered.append(Figure.of(row, str(launches), width, "", WIDTH))
    tell(0.3, "intervals")
    alarms, found = [], []
    places = list(product(UNDISTURBED, LAUNCHES))
    counts = spread(partial(_alarms, suites=suites), places)
    for done, ((regime, launches), hits) in enumerate(zip(places, counts, strict=True), start=1):
        alarms.append(errors(regime.name, str(launches), hits, suites, ALARMS))
        tell(0.3 + 0.5 * done / len(places), regime.name)
    changes = list(product(CHANGES, LAUNCHES))
    named = spread(partial(_named, suites=suites), changes)
    for ((kind, size, _), launches), hits in zip(changes, named, strict=True):
        row = f"{kind} of {size:g} SD, all cases"
        found.append(Figure.of(row, str(launches), hits / suites, "1"))
    return [
        Table(
            title="How often the interval covers the true median where launches depend on their "
            f"order, in {runs:,} simulated runs a cell, by the number of launches",
            rows="launches",
            figures=covered,
        ),
        Table(
            title=f"Undisturbed runs of {CASES} cases in which `drift` names anything, of "
            f"{suites:,} a cell, by the number of launches",
            rows="launches",
            figures=alarms,
        ),
        Table(
            title="The same where all cases drift: runs in which that is named",
            rows="launches",
            figures=found,
        ),
    ]


def _coverage(cell: tuple[Regime, int], runs: int) -> float:
    return coverage(*cell, runs)


def _alarms(cell: tuple[Regime, int], suites: int) -> int:
    """Count the undisturbed runs in which anything is named."""
    regime, launches = cell
    random = np.random.default_rng([launches, *regime.name.encode()])
    return sum(
        find_drift(np.log(regime.draw(random, CASES, launches)).tolist()) is not None
        for _ in range(suites)
    )


def _named(cell: tuple[tuple[str, float, bool], int], suites: int) -> int:
    """Count the runs in which a drift of all cases is named."""
    (_, size, is_step), launches = cell
    random = np.random.default_rng([launches, int(size), is_step, True])
    course = np.linspace(0, 1, launches)
    if is_step:
        course = (np.arange(launches) >= launches // 2).astype(float)
    logs = (np.log(normal(random, CASES, launches)) + size * NOISE * course for _ in range(suites))
    return sum(find_drift(run.tolist()) is not None for run in logs)
