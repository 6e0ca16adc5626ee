# SPDX-License-Identifier: MIT
"""A trend or a step over the launches of a run, in all of its cases together."""

import math
from collections.abc import Sequence
from itertools import accumulate, combinations
from random import Random
from statistics import fmean

LEAST_FOR_TREND = 6
"""Fewest launches that can show a trend: in fewer, not even a perfect order is rare."""
LEAST_FOR_STEP, MOST_FOR_STEP = 8, 100
"""Launches of which permutations are drawn. With fewer, every order of two levels is too likely (1
in 10 with six); with more, it takes too long."""
LEAST_CHANGE = 0.02
"""Smaller changes, relative, are not named."""
TREND_CHANCE, STEP_CHANCE = 0.01, 0.04
"""False alarms by Kendall's test, and by permutations: 5% of the runs at most."""
BESIDE = 2
"""Launches on either side of a step, at least: one launch is an outlier."""
ORDERS = 1_000
"""Permutations that are drawn, with a fixed seed."""


def find_drift(cases: Sequence[Sequence[float]]) -> tuple[float, int | None] | None:
    """Return a relative change, with the first launch after it if it is a step; or ``None``.

    cases : logs of times, a row a case, with a value for each launch
    """
    launches = len(cases[0]) if cases else 0
    if launches < LEAST_FOR_TREND:
        return None
    means = [fmean(case) for case in cases]
    apart = [[v - mean for v in case] for case, mean in zip(cases, means, strict=True)]
    common = [fmean(launch) for launch in zip(*apart, strict=True)]
    third = launches // 3
    trend = math.expm1(fmean(common[-third:]) - fmean(common[:third]))
    if abs(trend) > LEAST_CHANGE and chance_of_trend(common) < TREND_CHANCE:
        return trend, None
    if not LEAST_FOR_STEP <= launches <= MOST_FOR_STEP:
        return None
    fit, step = _best_step(common)
    change = math.expm1(fmean(common[step:]) - fmean(common[:step]))
    if abs(change) > LEAST_CHANGE:
        chance = Random(launches)  # noqa: S311 - a fixed seed
        orders = (chance.sample(common, launches) for _ in range(ORDERS))
        alike = sum(_best_step(order)[0] >= fit * (1 - 1e-9) for order in orders)
        if alike <= STEP_CHANCE * ORDERS:
            return change, step + 1
    return None


def _best_step(series: Sequence[float]) -> tuple[float, int]:
    """Return how well the best step fits a series around 0, and the launches before it."""
    launches, sums = len(series), [*accumulate(series)]
    return max(
        (abs(sums[before - 1]) / math.sqrt(before * (launches - before)), before)
        for before in range(BESIDE, launches - BESIDE + 1)
    )


def chance_of_trend(series: Sequence[float]) -> float:
    """Return the p-value of Kendall's test for a trend, two-sided and exact.

    The numbers of orders with so many inversions are the coefficients of the product of all
    1 + x + ... + x^(k - 1) for k up to the length of the series.
    """
    orders = [1]
    for k in range(2, len(series) + 1):
        sums = list(accumulate([0, *orders, *[0] * (k - 1)]))
        orders = [now - sums[max(0, position - k)] for position, now in enumerate(sums)][1:]
    falls = sum(late < early for early, late in combinations(series, 2))
    rarer = min(falls, len(orders) - 1 - falls)
    return min(1.0, 2 * sum(orders[: rarer + 1]) / sum(orders))
