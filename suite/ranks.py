# SPDX-License-Identifier: MIT
"""Ranks: order statistics that cover a median, and the exact distributions of rank tests."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise

_NOMINAL = 0.957
_NOMINAL_BY_COUNT = {7: 0.977, 8: 0.977, 17: 0.953, 20: 0.955}
"""More than 95%, since launches often resemble the ones before: as much as a mean width of 1.35
times the t-interval's allows, by number of launches. Eight cannot show yet whether they do."""
_FEW = 8
_RANGE_LAUNCHES = 6
_BEYOND, _BEYOND_IF_ALIKE = 0.063, 0.75
"""Part of the way from the middle by which the ends move outward, for the same reason: those of the
range of six launches; and with more than eight, times how much each resembles the one before."""


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the interval of `suite.statistics.estimate`.

    values : at least six, in the order of the launches
    """
    ordered, count = sorted(values), len(values)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    if count <= _RANGE_LAUNCHES:
        low, high, beyond = ordered[0], ordered[-1], _BEYOND
    else:
        low, high = _interpolated(ordered)
        beyond = _BEYOND_IF_ALIKE * resemblance(values) if count > _FEW else 0.0
    return _outward(low, middle, beyond), _outward(high, middle, beyond)


def resemblance(values: Sequence[float]) -> float:
    """Return how much each value resembles the one before: from 0, not at all, to 1.

    It is 1 less half of von Neumann's ratio of the ranks (R. Bartels, "The rank version of von
    Neumann's ratio test for randomness", JASA 77, 1982), near the correlation of neighbours.
    """
    ranks = doubled_ranks(values)
    apart = sum((rank - len(ranks)) ** 2 for rank in ranks)
    steps = sum((after - before) ** 2 for before, after in pairwise(ranks))
    return max(0.0, 1 - steps / (2 * apart)) if apart else 0.0


def doubled_ranks(values: Sequence[float]) -> list[int]:
    """Return twice the rank of each value, from 0.5, a mean one where some are equal."""
    ordered = sorted(values)
    return [bisect_left(ordered, value) + bisect_right(ordered, value) for value in values]


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


def _outward(end: float, middle: float, part: float) -> float:
    """Move an end by a part of its way from the middle, at most by half: no time gets negative."""
    most = abs(end) / 2
    return end + max(-most, min(part * (end - middle), most))


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
