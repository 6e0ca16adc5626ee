# SPDX-License-Identifier: MIT
"""A trend or a step over the launches of a run, in all of its cases together."""

import math
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from statistics import fmean

LEAST_LAUNCHES, MOST_LAUNCHES = 6, 100
"""Numbers of launches that are permuted. Among fewer even a perfect order is common; with more it
takes too long."""
LEAST_CHANGE = 0.02
"""Smaller changes, relative, are not named."""
CHANCE = 0.04
"""The part of the permutations that may fit a course as well; 5% of the runs are allowed."""
BESIDE = 2
"""Launches on either side of a step, at least: one launch is an outlier."""
ORDERS = 1_000
"""Permutations that are drawn, with a fixed seed."""


def find_drift(cases: Sequence[Sequence[float]]) -> tuple[float, int | None] | None:
    """Return a relative change, with the first launch after it if it is a step; or ``None``.

    cases : logs of times, a row a case, with a value for each launch
    """
    launches = len(cases[0]) if cases else 0
    if not LEAST_LAUNCHES <= launches <= MOST_LAUNCHES:
        return None
    means = [fmean(case) for case in cases]
    apart = [[v - mean for v in case] for case, mean in zip(cases, means, strict=True)]
    common = [fmean(launch) for launch in zip(*apart, strict=True)]
    fit, before = _best_course(common)
    first, last = before or launches // 3, before or launches - launches // 3
    change = math.expm1(fmean(common[last:]) - fmean(common[:first]))
    if abs(change) <= LEAST_CHANGE:
        return None
    chance = Random(launches)  # noqa: S311 - a fixed seed
    orders = (chance.sample(common, launches) for _ in range(ORDERS))
    alike = sum(_best_course(order)[0] >= fit * (1 - 1e-9) for order in orders)
    return (change, before and before + 1) if alike <= CHANCE * ORDERS else None


def _best_course(series: Sequence[float]) -> tuple[float, int | None]:
    """Return how well a trend or a step fits a series around 0; of a step the launches before it.

    A fit is the correlation with the course, but for a factor that all permutations share.
    """
    launches = len(series)
    trend = sum(value * at for at, value in enumerate(series))
    fits: dict[int | None, float] = {None: abs(trend) / math.sqrt((launches**3 - launches) / 12)}
    for before, total in enumerate(accumulate(series), start=1):
        if BESIDE <= before <= launches - BESIDE:
            fits[before] = abs(total) * math.sqrt(launches / (before * (launches - before)))
    best = max(fits, key=lambda course: fits[course])
    return fits[best], best
