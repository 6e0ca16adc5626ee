# SPDX-License-Identifier: MIT
"""How often the interval of `estimate` covers the median, and how wide it is, by simulation."""

import math
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import t as student

from frobench.suite.statistics import estimate
from studies.calibration.figures import Figure, Goal, Table
from studies.calibration.regimes import ALIKE, REGIMES, Regime, normal
from studies.calibration.work import Spread, Tell

LAUNCHES = (6, 7, 8, 9, 10, 11, 12, 15, 20)
COVERED = Goal(least=0.93)
WIDTH = Goal(most=1.35)


def study(tell: Tell, spread: Spread, runs: int) -> list[Table]:
    """Return the tables of coverage by regime and number of launches, and of widths.

    runs : simulated for each cell
    """
    cells = list(product([*REGIMES, *ALIKE], LAUNCHES))
    covered = []
    shares = spread(partial(_coverage, runs=runs), cells)
    for done, ((regime, launches), share) in enumerate(zip(cells, shares, strict=True), start=1):
        goal = COVERED if regime in REGIMES else None
        covered.append(Figure.of(regime.name, str(launches), share, "1", goal))
        tell(done / len(cells), regime.name)
    widths = [
        Figure.of("mean width / t-interval's", str(launches), width, "", WIDTH)
        for launches, width in zip(
            LAUNCHES, spread(partial(relative_width, runs=runs), LAUNCHES), strict=True
        )
    ]
    promised = len(REGIMES) * len(LAUNCHES)
    return [
        Table(
            title="How often the interval covers the true median, in "
            f"{runs:,} simulated runs a cell, by the number of launches",
            rows="launches",
            figures=[*covered[:promised], *widths],
        ),
        Table(
            title="The same where launches resemble the ones before, of which nothing is promised",
            rows="launches",
            figures=covered[promised:],
        ),
    ]


def coverage(regime: Regime, launches: int, runs: int, seed: int = 0) -> float:
    """Return the share of simulated runs whose interval holds the true median."""
    rows = regime.draw(np.random.default_rng([seed, launches]), runs, launches)
    return sum(_covers(row, regime.median) for row in rows.tolist()) / runs


def relative_width(launches: int, runs: int, seed: int = 0) -> float:
    """Return the mean width on normal data, divided by the t-interval's mean width."""
    rows = normal(np.random.default_rng([seed, launches]), runs, launches)
    quantile = float(student.ppf(0.975, launches - 1))
    expected = 2 * quantile * rows.std(axis=1, ddof=1).mean() / math.sqrt(launches)
    intervals = [estimate(row) for row in rows.tolist()]
    return float(np.mean([(seen.high or 0) - (seen.low or 0) for seen in intervals]) / expected)


def _coverage(cell: tuple[Regime, int], runs: int) -> float:
    return coverage(*cell, runs)


def _covers(values: list[float], median: float) -> bool:
    seen = estimate(values)
    return seen.low is not None and seen.high is not None and seen.low <= median <= seen.high
