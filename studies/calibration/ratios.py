# SPDX-License-Identifier: MIT
"""How often the interval of a machine's ratio covers it, and how wide it is, by simulation."""

import math
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import t as student

from frobench.reports.purchase.ratios import Launches, Ratios, against
from studies.calibration.figures import Figure, Goal, Table
from studies.calibration.regimes import REGIMES, Regime, Values, normal
from studies.calibration.work import Spread, Tell

LAUNCHES = ((6, 6), (8, 8), (6, 10), (10, 10))
"""Of the reference, and of the machine."""
EXERCISES = [[(0, 0), (1, 1), (2, 2)], [(3, 3), (4, 4), (5, 5)]]
"""The cases of either exercise: their rows, the same on both sides."""
CASES = 6
LOOKS = {"both": (1.0, 1.0), "one": (1.0, 0.0), "1 : 3": (1.0, 3.0)}
"""Weights of the exercises in what is looked at; the quantile is made for the first."""
UNEVEN = 3
"""How many times as wide the machine spreads, in a row of its own."""
COVERED = Goal(least=0.93)
WIDTH = Goal(most=1.3)

Cell = tuple[tuple[str, Regime, float], tuple[int, int]]


def study(tell: Tell, spread: Spread, runs: int) -> list[Table]:
    """Return the tables of coverage by regime and numbers of launches, and of widths.

    runs : pairs of them, simulated for each cell
    """
    rows = [(regime.name, regime, 1.0) for regime in REGIMES]
    rows.append((f"independent, one {UNEVEN} times as wide", REGIMES[0], float(UNEVEN)))
    cells: list[Cell] = list(product(rows, LAUNCHES))
    covered: dict[str, list[Figure]] = {look: [] for look in LOOKS}
    widths = []
    found = spread(partial(simulate, runs=runs), cells)
    for done, (((name, _, _), launches), (shares, width)) in enumerate(
        zip(cells, found, strict=True), start=1
    ):
        against_each_other = f"{launches[0]} : {launches[1]}"
        for look, share in shares.items():
            covered[look].append(Figure.of(name, against_each_other, share, "1", COVERED))
        if name == REGIMES[0].name:
            row = "mean width / t-interval's"
            widths.append(Figure.of(row, against_each_other, width, "", WIDTH))
        tell(done / len(cells), name)
    return [
        Table(
            title="How often the interval of the ratio of two machines covers it, over two "
            f"exercises with equal weights, in {runs:,} simulated pairs of runs a cell, by the "
            "launches of both",
            rows="launches",
            figures=[*covered["both"], *widths],
        ),
        Table(title="The same for one of the exercises", rows="launches", figures=covered["one"]),
        Table(title="The same with weights of 1 and 3", rows="launches", figures=covered["1 : 3"]),
    ]


def simulate(cell: Cell, runs: int) -> tuple[dict[str, float], float]:
    """Return how often the intervals cover, and how wide the first is beside a t-interval."""
    (_, regime, stretch), launches = cell
    random = np.random.default_rng([*launches, round(stretch), *regime.name.encode()])
    base, new = (_runs(random, regime, runs, number) for number in launches)
    hits = dict.fromkeys(LOOKS, 0)
    half = expected = 0.0
    for reference, machine in zip(base, new**stretch, strict=True):
        ratios = against(Launches.of(reference), Launches.of(machine), EXERCISES, LOOKS["both"])
        for look, weights in LOOKS.items():
            log, reach = _interval(ratios, weights)
            hits[look] += abs(log) <= reach
        half += _interval(ratios, LOOKS["both"])[1]
        expected += _welch(np.log(reference).mean(axis=0), np.log(machine).mean(axis=0))
    return {look: count / runs for look, count in hits.items()}, half / expected


def _runs(random: np.random.Generator, regime: Regime, runs: int, launches: int) -> Values:
    """Draw the times of all cases; what is the launch's fate is that of all of them."""
    fates: Values = regime.draw(random, runs, launches)[:, np.newaxis, :]
    return fates * np.maximum(normal(random, runs, CASES, launches), 0.5)


def _interval(ratios: Ratios, weights: tuple[float, float]) -> tuple[float, float]:
    """Return the weighted mean of the logs, and how far its interval reaches."""
    assert ratios.covariance is not None
    assert ratios.quantile is not None
    shares = np.array(weights) / sum(weights)
    error = math.sqrt(shares @ ratios.covariance @ shares)
    return float(shares @ ratios.logs), ratios.quantile * error


def _welch(base: Values, new: Values) -> float:
    """Return half the width of the interval by Welch's t-test."""
    parts = [side.var(ddof=1) / side.size for side in (base, new)]
    spent = sum(part**2 / (side.size - 1) for part, side in zip(parts, (base, new), strict=True))
    quantile = float(student.ppf(0.975, sum(parts) ** 2 / spent))
    return quantile * math.sqrt(sum(parts))
