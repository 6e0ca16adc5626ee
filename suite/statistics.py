# SPDX-License-Identifier: MIT
"""Launches to estimates with intervals, and the exact distributions of rank tests.

The launch is the unit of replication throughout: what enters is one value for each launch.
``None`` stands for a launch that did not measure the case and is left out.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from statistics import NormalDist

from frobench.suite.stored.types import Case, Estimate

CONFIDENCE = 0.95
"""Confidence of every interval."""
ALARMS = 1 - CONFIDENCE
"""False alarms that are allowed: of a comparison alone, and of all that share them together."""
NORMAL_QUANTILE = 1.96
"""Quantile of the normal distribution for `CONFIDENCE`, which pages multiply an error by."""
LEAST_LAUNCHES = 6
"""With fewer launches even the range of the values covers the median in less than 95%."""
_QUARTILE_LAUNCHES = 4
_NOMINAL = 0.957
_NOMINAL_BY_COUNT = {7: 0.977, 8: 0.977, 17: 0.953, 20: 0.955}
"""More than 95%, since launches often resemble the ones before: as much as a mean width of 1.35
times the t-interval's allows, by number of launches. Eight cannot show yet whether they do."""
_FEW = 8
_BEYOND, _BEYOND_IF_ALIKE = 0.063, 0.75
"""Part of the way from the middle by which the ends move outward, for the same reason: those of the
range of six launches; and with more than eight, times how much each resembles the one before."""
Medians = Mapping[str, list[float | None]]
"""Launch medians in seconds, by full name, of the cases for which they are known."""


def case_medians(case: Case, known: Medians | None = None) -> list[float | None]:
    """Return the launch medians of a case, in seconds for each call; see `launch_medians`."""
    medians = known.get(case.fullname) if known else None
    return medians or launch_medians(case.stats.data, case.extra_info.launches)


def launch_medians(data: Sequence[float], launches: Sequence[int]) -> list[float | None]:
    """Return the median of each launch from samples that stand launch after launch.

    data : samples, in any unit
    launches : number of samples of each launch; the median of a launch with none is ``None``

    Raises `ValueError` if the numbers of samples do not add up to the length of the data.
    """
    if sum(launches) != len(data):
        raise ValueError(f"{len(data)} samples, but the launches name {sum(launches)}")
    ends = accumulate(launches)
    return [
        middle(sorted(data[end - count : end])) if count else None
        for end, count in zip(ends, launches, strict=True)
    ]


def middle(ordered: Sequence[float]) -> float:
    """Return the median of sorted values; `statistics.median` takes twice as long for a few."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def estimate(values: Sequence[float | None]) -> Estimate:
    """Return the median over launches with an interval that covers it in 95%.

    The ends are interpolated between neighbouring order statistics (Hettmansperger and
    Sheather, "Confidence intervals based on interpolated order statistics", Statistics &
    Probability Letters 4, 1986), which assumes only that launches are independent. Two
    things are added. The interval is wider, so that it covers 92% where each launch is correlated
    by 0.3 with the one before: up to eight launches by being made for about 97%, and with more of
    them by as much as each is seen to resemble the one before. And an end moves inward by at most
    half the width of the inner pair: the neighbours can lie in two modes, and a fixed part of the
    gap between them would leave the median outside (coverage fell to 87%). Six launches give a
    little more than their range, which alone covers 96.9%. `docs/calibration.md` has the simulated
    coverage and width; the rule `drift` names launches that depend too much on their order.

    values : one finite number for each launch, in the order of the launches, of any sign and unit

    Raises `ValueError` if there is no value, or one is not finite.
    """
    present = finite(values)
    ordered = sorted(present)
    enough = len(present) >= LEAST_LAUNCHES
    low, high = _interval(present, ordered) if enough else (None, None)
    return Estimate(middle(ordered), low, high, len(present), CONFIDENCE)


def _interval(values: Sequence[float], ordered: Sequence[float]) -> tuple[float, float]:
    centre, count = middle(ordered), len(ordered)
    if count <= LEAST_LAUNCHES:
        low, high, beyond = ordered[0], ordered[-1], _BEYOND
    else:
        low, high = _interpolated(ordered)
        beyond = _BEYOND_IF_ALIKE * resemblance(values) if count > _FEW else 0.0
    return _outward(low, centre, beyond), _outward(high, centre, beyond)


def _interpolated(ordered: Sequence[float]) -> tuple[float, float]:
    """Return the ends between neighbouring order statistics."""
    rank, weight = _outer_rank(len(ordered))
    low, inner_low = ordered[rank - 1], ordered[rank]
    inner_high, high = ordered[-rank - 1], ordered[-rank]
    most = (inner_high - inner_low) / 2
    return (
        low + min(weight * (inner_low - low), most),
        high - min(weight * (high - inner_high), most),
    )


@cache
def _outer_rank(count: int) -> tuple[int, float]:
    """Return the rank of the outer order statistic and the weight of the inner one.

    By Hettmansperger and Sheather's formula; `outer` and `inner` are the coverage of each pair.
    """
    nominal = _NOMINAL_BY_COUNT.get(count, _NOMINAL)
    rank, inner = 1, _coverage(count, 1)
    while inner >= nominal:
        rank, outer, inner = rank + 1, inner, _coverage(count, rank + 1)
    rank -= 1
    part = (outer - nominal) / (outer - inner)
    return rank, (count - rank) * part / (rank + (count - 2 * rank) * part)


def _coverage(count: int, rank: int) -> float:
    """Return how often a pair of order statistics holds the median of any distribution."""
    return 1 - 2 * sum(math.comb(count, below) for below in range(rank)) / 2.0**count


def _outward(end: float, centre: float, part: float) -> float:
    """Move an end by a part of its way from the centre, at most by half: no time gets negative."""
    most = abs(end) / 2
    return end + max(-most, min(part * (end - centre), most))


def spread(values: Sequence[float | None]) -> float | None:
    """Return how far launches differ, relative to their median.

    It is the interquartile range (Hazen's quartiles) divided by 1.349 and by the median: the
    relative standard deviation where launches are normal, blind to a single launch that went
    astray, but not to a quarter of them; ``None`` below four launches or with a median of 0.
    """
    ordered = sorted(finite(values))
    centre = middle(ordered)
    if len(ordered) < _QUARTILE_LAUNCHES or centre == 0:
        return None
    normal_range = 2 * NormalDist().inv_cdf(0.75)
    return (_quantile(ordered, 0.75) - _quantile(ordered, 0.25)) / normal_range / abs(centre)


def has_enough(values: Sequence[float | None]) -> bool:
    """Tell whether enough launches have a value for an interval."""
    return sum(value is not None for value in values) >= LEAST_LAUNCHES


def finite(values: Sequence[float | None]) -> list[float]:
    """Return the values that are there.

    Raises `ValueError` if there is none, or one is not finite.
    """
    present = [value for value in values if value is not None]
    if not present:
        raise ValueError("there is no value of any launch")
    for value in present:
        if not math.isfinite(value):
            raise ValueError(f"a launch has the value {value}, which is not finite")
    return present


def _quantile(ordered: list[float], fraction: float) -> float:
    position = fraction * len(ordered) - 0.5
    index = math.floor(position)
    return ordered[index] + (position - index) * (ordered[index + 1] - ordered[index])


def resemblance(values: Sequence[float]) -> float:
    """Return how much each value resembles the one before: from 0, not at all, to 1.

    It is 1 less half of von Neumann's ratio of the ranks (R. Bartels, "The rank version of von
    Neumann's ratio test for randomness", JASA 77, 1982), near the correlation of neighbours.
    """
    ordered = sorted(values)  # twice the rank of each, a mean one where some are equal
    ranks = [bisect_left(ordered, value) + bisect_right(ordered, value) for value in values]
    apart = sum((rank - len(ranks)) ** 2 for rank in ranks)
    steps = sum((after - before) ** 2 for before, after in pairwise(ranks))
    return max(0.0, 1 - steps / (2 * apart)) if apart else 0.0


@cache
def mann_whitney(first: int, second: int) -> list[float]:
    """Return the two-sided p-value for each number u of pairs on the rarer side.

    Numbers of orders with u pairs are coefficients of the Gaussian binomial, the product of all
    (1 - x^(second + i)) / (1 - x^i).
    """
    pairs = first * second
    orders = [1] + [0] * pairs
    for step in range(1, first + 1):
        for u in range(pairs, second + step - 1, -1):
            orders[u] -= orders[u - second - step]
        for u in range(step, pairs + 1):
            orders[u] += orders[u - step]
    return _two_sided(orders)


@cache
def signed_rank(count: int) -> list[float]:
    """Return the two-sided p-value for each sum of the ranks on the rarer side.

    Numbers of ways to a sum are coefficients of the product of all (1 + x^rank).
    """
    ways = [1]
    for rank in range(1, count + 1):
        ways += [0] * rank
        ways = [stay + moved for stay, moved in zip(ways, [0] * rank + ways, strict=False)]
    return _two_sided(ways)


def _two_sided(ways: list[int]) -> list[float]:
    """Return twice the chance of each number or a smaller one, from the ways to each."""
    every = sum(ways)
    return [min(1.0, 2 * total / every) for total in accumulate(ways)]
