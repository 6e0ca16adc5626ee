# SPDX-License-Identifier: MIT
"""Courses over the launches of a run: a trend, or a step. A fit is the correlation with a course.

Only where chance makes a fit unlikely, `suite.checks.permuted_courses` decides: numpy takes long to
load, and few runs need it.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations
from statistics import NormalDist, fmean
from typing import NamedTuple

Values = Sequence[Sequence[float]]
"""Logs of the times of each case, a row a case, with a value for each launch."""

LEAST_FOR_TREND = 6
"""Fewest launches that can show a trend: in fewer, not even a perfect order is rare."""
LEAST_FOR_STEPS, MOST_FOR_STEPS = 8, 100
"""Launches of which permutations are drawn. With fewer, every order of two levels is too likely (1
in 10 with six); with more, it takes too long."""
LEAST_CHANGE = 0.02
"""Smaller changes, relative, are not named."""
TREND_CHANCE, MACHINE_CHANCE, CASE_CHANCE = 0.01, 0.03, 0.01
"""False alarms by Kendall's test of all cases together, by permutations of them, and by
permutations of single cases: 5% of the runs at most."""
LIKELY = 0.02
"""P-value by a normal approximation, above which no permutations are drawn."""
BESIDE = 2
"""Launches on either side of a step, at least: one launch is an outlier."""


class Drift(NamedTuple):
    """A change over the launches.

    change : relative
    case : index of the case; ``None`` for all cases together
    since : the first launch after a step, from 1; ``None`` for a trend
    """

    change: float
    case: int | None
    since: int | None


def drifts(cases: Values) -> Iterator[Drift]:
    """Yield how all cases together drift, or else each case that drifts."""
    launches = len(cases[0]) if cases else 0
    if launches < LEAST_FOR_TREND:
        return
    means = [fmean(case) for case in cases]
    apart = [[v - mean for v in case] for case, mean in zip(cases, means, strict=True)]
    common = [fmean(launch) for launch in zip(*apart, strict=True)]
    third = launches // 3
    trend = math.expm1(fmean(common[-third:]) - fmean(common[:third]))
    if abs(trend) > LEAST_CHANGE and chance_of_trend(common) < TREND_CHANCE:
        yield Drift(trend, None, None)
        return
    if not LEAST_FOR_STEPS <= launches <= MOST_FOR_STEPS:
        return
    if together := [*_named([common], MACHINE_CHANCE)]:
        yield together[0]._replace(case=None)
    else:
        yield from _named(apart, CASE_CHANCE)


def _named(cases: Values, largest_chance: float) -> Iterator[Drift]:
    """Yield the course that fits a case best, where it is large and rare enough."""
    if len(cases) * min(map(_rough_chance, cases)) > LIKELY:
        return
    from frobench.suite.checks.permuted_courses import fits  # noqa: PLC0415 - see above

    for case, (chance, change, since) in enumerate(fits(cases, BESIDE)):
        if abs(change) > LEAST_CHANGE and chance <= largest_chance:
            yield Drift(change, case, since)


def _rough_chance(case: Sequence[float]) -> float:
    """Return the p-value of the best fit as if it were the only one, by Fisher's transformation.

    case : values around 0
    """
    launches = len(case)
    length = math.sqrt(sum(value**2 for value in case))
    if not length:
        return 1.0
    middle = (launches - 1) / 2
    trend = sum((position - middle) * value for position, value in enumerate(case))
    fits = [abs(trend) / math.sqrt((launches**3 - launches) / 12)]
    for before, total in enumerate(accumulate(case), start=1):
        if BESIDE <= before <= launches - BESIDE:
            fits.append(abs(total) * math.sqrt(launches / (before * (launches - before))))
    best = min(max(fits) / length, 1 - 1e-12)
    return 2 * NormalDist().cdf(-math.atanh(best) * math.sqrt(launches - 3))


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
