# SPDX-License-Identifier: MIT
"""How often the index's approximate intervals cover, and how wide they are, by simulation.

The index has no launches: of each run only what `reports.table.spread` keeps, in one digit each.
What `static/ratios.js` makes of these is written again here.
"""

import math
from functools import partial
from itertools import product
from statistics import median
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from frobench.reports.index.packing import DIGITS, ERROR_LEVELS, LEAST_ERROR, pack_error, pack_share
from frobench.reports.purchase.ratios import Launches, against
from frobench.reports.table.estimates import estimates, log_centres
from frobench.reports.table.spread import spread as left_open
from frobench.suite.stored.types import Case
from studies.calibration.figures import Figure, Goal, Table
from studies.calibration.regimes import MODES_APART, NOISE, REGIMES, Regime, Values
from studies.calibration.work import Spread, Tell
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import case

LAUNCHES = ((6, 6), (6, 10), (10, 10))
"""Of the reference, and of the machine."""
EXERCISES, CASES = 4, 12
"""How many there are, and the cases of each."""
QUANTILE = 1.96
"""Of an interval in the index."""
BESIDE = 10
"""One pair of so many is held against the joint bootstrap too, which takes far longer."""
RUN = factory.run(accelerators=1, launches=1)
CASE = case("bench_any", 1.0, "cuda:0")
"""What the simulated times are put into."""
COVERED = Goal(least=0.93)
WIDTH = Goal(most=1.5)


class Effects(NamedTuple):
    """What moves the logarithms of a launch's times, as standard deviations.

    shared, exercise, own : alike in all cases, in those of an exercise, and in each for itself
    astray : how often a launch is slower by as much as two modes differ, in all its cases
    regime : draws what launches share, beside all this
    """

    name: str
    shared: float
    exercise: float
    own: float
    astray: float = 0.0
    regime: Regime | None = None


EFFECTS = [
    Effects("cases err apart", 0.0, 0.0, NOISE),
    Effects("all cases share a launch's fate", NOISE, 0.0, NOISE / 2),
    Effects("those of an exercise share it", 0.0, NOISE, NOISE / 2),
    Effects("something of each", NOISE / 2, NOISE / 2, NOISE / 2),
    Effects("one launch in ten astray", NOISE / 2, 0.0, NOISE / 2, astray=0.1),
]
FATES = [Effects(one.name, 0.0, 0.0, NOISE, regime=one) for one in REGIMES]

Cell = tuple[Effects, tuple[int, int]]


def study(tell: Tell, spread: Spread, runs: int) -> list[Table]:
    """Return the tables of coverage and widths: by what cases share, and by what launches are.

    runs : pairs of them, simulated for each cell
    """
    cells: list[Cell] = list(product([*EFFECTS, *FATES], LAUNCHES))
    found = spread(partial(simulate, runs=runs), cells)
    figures: dict[str, list[Figure]] = {}
    for done, ((effects, launches), (share, width)) in enumerate(
        zip(cells, found, strict=True), start=1
    ):
        column = f"{launches[0]} : {launches[1]}"
        figures.setdefault(effects.name, []).extend(
            [
                Figure.of(effects.name, f"covered, {column}", share, "1", COVERED),
                Figure.of(effects.name, f"width, {column}", width, "", WIDTH),
            ]
        )
        tell(done / len(cells), effects.name)
    title = (
        f"How often the index's interval of the ratio of two machines covers it, over {EXERCISES} "
        f"exercises of {CASES} cases, in {runs:,} simulated pairs of runs a cell, by the launches "
        "of both; and the median of its width by the joint bootstrap's, in one pair of "
        f"{BESIDE}"
    )
    return [
        Table(title=name, rows=rows, figures=[one for each in some for one in figures[each.name]])
        for name, rows, some in (
            (title, "effects", EFFECTS),
            ("The same by what a launch's fate is like, which all its cases share", "fate", FATES),
        )
    ]


def simulate(cell: Cell, runs: int) -> tuple[float, float]:
    """Return how often the interval covers, and its median width by the joint bootstrap's."""
    effects, launches = cell
    random = np.random.default_rng([*launches, *effects.name.encode()])
    hits, widths = 0, []
    for number in range(runs):
        sides = [_times(random, effects, many) for many in launches]
        log, reach = _index(*sides)
        hits += abs(log) <= reach
        if number % BESIDE == 0:
            widths.append(reach / _joint(*sides))
    return hits / runs, median(widths)


def _times(random: np.random.Generator, effects: Effects, launches: int) -> Values:
    """Draw the times of a run; cases x launches."""
    fates = effects.shared * random.standard_normal(launches)
    fates += MODES_APART / 2 * (random.random(launches) < effects.astray)
    if effects.regime:
        fates += np.log(effects.regime.draw(random, 1, launches)[0])
    exercises = effects.exercise * random.standard_normal((EXERCISES, 1, launches))
    own = effects.own * random.standard_normal((EXERCISES, CASES, launches))
    found: Values = np.exp(fates + exercises + own).reshape(-1, launches)
    return found


def _index(reference: Values, machine: Values) -> tuple[float, float]:
    """Return the overall log ratio as the index has it, and how far its interval reaches."""
    logs = [float(log_centres(side).mean()) for side in (reference, machine)]
    return logs[0] - logs[1], QUANTILE * math.sqrt(_variance(reference) + _variance(machine))


def _variance(times: Values) -> float:
    """Return the variance of the mean of a run's exercises, by the digits that are kept of it."""
    cases = [_case(place // CASES, row.tolist()) for place, row in enumerate(times)]
    run = replace(RUN, benchmarks=cases)
    found = left_open(estimates(run))
    errors = np.array([_error(pack_error(one)) for one in found.errors.values()])
    shared = DIGITS.index(pack_share(found.shared)) / (len(DIGITS) - 1)
    apart, together = (errors**2).sum(), errors.sum() ** 2
    return float((1 - shared) * apart + shared * together) / len(errors) ** 2


def _error(digit: str) -> float:
    return LEAST_ERROR * math.exp((DIGITS.index(digit) - 1) / ERROR_LEVELS)


def _case(exercise: int, medians: list[float]) -> Case:
    info = replace(CASE.extra_info, launches=[1] * len(medians))
    return replace(
        CASE, group=f"{exercise}", extra_info=info, stats=replace(CASE.stats, data=medians)
    )


def _joint(reference: Values, machine: Values) -> float:
    """Return how far the joint bootstrap's interval reaches."""
    rows = np.arange(EXERCISES * CASES).reshape(EXERCISES, CASES)
    exercises = [[(one, one) for one in each] for each in rows.tolist()]
    sides = (Launches.of(reference), Launches.of(machine))
    found = against(*sides, exercises, [1.0] * EXERCISES)
    assert found.covariance is not None
    assert found.quantile is not None
    return found.quantile * math.sqrt(found.covariance.sum()) / EXERCISES
