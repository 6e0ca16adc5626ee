# SPDX-License-Identifier: MIT
"""Two sets of launch values to a ratio with its interval, and to a verdict, by exact rank tests."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from msgspec import Struct

from frobench.suite.statistics import (
    ALARMS,
    CONFIDENCE,
    LEAST_LAUNCHES,
    finite,
    mann_whitney,
    middle,
    signed_rank,
)
from frobench.suite.stored.basics import VerdictWord
from frobench.suite.stored.run import Estimate

POWER = 0.9
"""The probability with which the smallest change of a comparison would be found."""
SAME, SAME_BESIDE = 0.02, 0.005
"""Ratios within this distance of 1 are called the same: those of two runs, which no machine
repeats better, and those of two versions beside each other in the same launches."""


class Between(NamedTuple):
    """How far two separate runs of identical code differ beyond what their launches show."""

    error: float = 0.0  # standard deviation of the difference, on the log scale
    reach: float = 0.0  # all cases of the family stay within it in 95% of such pairs
    known: float = 0.0  # a difference that these two runs have conclusively by themselves


ALIKE = Between()
"""Two runs that are as alike as two launches."""
LARGEST_CHANGE = math.log(1000)
"""A slow-down beyond this factor, as a log, is not printed as one that would be found."""


class Comparison(Struct, frozen=True):
    """Two sets of launch values, or two versions in the same launches, compared by their logs.

    ratio : new / base with its interval, widened by the allowance; times below 1 are faster
    p_value : two-sided, exact and without an allowance; ``None`` where there is no interval
    smallest_change : the slow-down, as a fraction, that another such comparison would call
        slower with a probability of about 90%; ``None`` where so few launches can show no
        slow-down up to a factor of 1,000
    """

    ratio: Estimate
    p_value: float | None
    smallest_change: float | None
    same: float = SAME  # the distance from 1 within which a ratio is called the same
    allowance: float = 0.0  # the ratio, less 1, that separate runs may have by themselves


def compare_values(
    base: Sequence[float | None],
    new: Sequence[float | None],
    demand: float = 0.0,
    between: Between = ALIKE,
) -> Comparison:
    """Compare two sets of launch values, such as launch medians in seconds.

    The ratio is the Hodges-Lehmann estimate on the log scale: the median of all ratios of a
    new launch to a base launch. Its interval is the one that belongs to the exact
    Mann-Whitney test (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods",
    section 4.3), so that it leaves 1 out in at most 5% of comparisons of identical code whatever
    its distribution. Ties count against a difference. Below six launches on a side there is
    neither interval nor p-value.

    Separate runs differ by more than their launches show. The launches alone would show a
    difference beyond h: the distance from the ratio to the end of the interval that faces 1 (one
    launch far astray moves the other end, and hides nothing), or what the family demands. With r as
    the reach of the difference between runs, a difference must exceed the root of h^2 + r^2. The
    allowance is that root less h, or what is known of the two runs, if that is more; it widens the
    interval on both sides.

    The smallest change passes that and lifts the 95% interval out of what is called the same. A
    margin is added because another comparison of so few launches has another estimate and other
    widths (`docs/calibration.md`).

    base, new : one positive number for each launch
    demand : how far from 1 a ratio must lie in its family, as a log; 0 for a comparison alone
    between : what is known of separate runs

    Raises `ValueError` if a side is empty, or a value is not finite or not positive.
    """
    old_logs, new_logs = _logs(base), _logs(new)
    sizes = len(old_logs), len(new_logs)
    test = _Test(mann_whitney(*sizes), min(sizes), degrees=sum(sizes) - 2, same=SAME)
    return _compared(_shifts(old_logs, new_logs), test, demand, between)


def compare_pairs(ratios: Sequence[float | None], demand: float = 0.0) -> Comparison:
    """Compare two versions that were measured beside each other in every launch.

    The ratio is the Hodges-Lehmann estimate on the log scale: the median of the mean logs of
    all pairs of launches, each with itself included. Its interval and p-value are those of
    the exact Wilcoxon signed-rank test (sections 3.1 to 3.3). It asks that the logs lie
    symmetrically around their median; for identical versions they do, because the two can be
    exchanged. Ties count against a difference. Below six launches there is neither interval nor
    p-value: six that all say the same have a p-value of 2/64.

    ratios : new / base within each launch: one positive number
    demand : as for `compare_values`, and so is the smallest change

    Raises `ValueError` if there is no value, or one is not finite or not positive.
    """
    logs = _logs(ratios)
    test = _Test(signed_rank(len(logs)), len(logs), degrees=len(logs) - 1, same=SAME_BESIDE)
    return _compared(_means(logs), test, demand, ALIKE)


def ratio_alone(*sides: Sequence[float | None]) -> float:
    """Return the ratio of `compare_values` or, of one sequence, that of `compare_pairs` alone."""
    logs = [_logs(side) for side in sides]
    return math.exp(middle(_means(*logs) if len(logs) == 1 else _shifts(*logs)))


def verdict(comparison: Comparison, p_value: float | None = None) -> VerdictWord:
    """Say what a comparison shows, by its p-value in a family that shares its false alarms."""
    ratio = comparison.ratio
    if ratio.low is None or ratio.high is None:
        return "unresolved"
    if ratio.low >= 1 - comparison.same and ratio.high <= 1 + comparison.same:
        return "same"
    if ratio.low <= 1 <= ratio.high or (p_value is not None and p_value > ALARMS):
        return "unresolved"
    return "faster" if ratio.value < 1 else "slower"


def _shifts(base: list[float], new: list[float]) -> list[float]:
    return sorted(after - before for after in new for before in base)


def _means(logs: list[float]) -> list[float]:
    return sorted((first + second) / 2 for at, first in enumerate(logs) for second in logs[at:])


def _logs(values: Sequence[float | None]) -> list[float]:
    present = finite(values)
    if min(present) <= 0:
        raise ValueError(f"a launch has the value {min(present)}, and ratios need positive ones")
    return [math.log(value) for value in present]


class _Test(NamedTuple):
    """A test that counts the shifts on either side of zero."""

    p_values: list[float]  # two-sided, for each number of shifts on the rarer side
    launches: int  # of the side that has fewer
    degrees: int  # of freedom that the launches leave to their spread
    same: float  # see `Comparison`


def _compared(shifts: list[float], test: _Test, demand: float, between: Between) -> Comparison:
    """Make the comparison from differences of logs, or their means, sorted."""
    centre = middle(shifts)
    value = math.exp(centre)
    if test.launches < LEAST_LAUNCHES:
        nothing = Estimate(value, None, None, test.launches, CONFIDENCE)
        return Comparison(nothing, None, None, test.same)
    below, above = bisect_right(shifts, 0.0), len(shifts) - bisect_left(shifts, 0.0)
    cut = bisect_right(test.p_values, ALARMS)
    half = (shifts[-cut] - shifts[cut - 1]) / 2
    facing = centre - shifts[cut - 1] if centre > 0 else shifts[-cut] - centre
    allowance = _allowance(max(facing, demand), between)
    low, high = math.exp(shifts[cut - 1] - allowance), math.exp(shifts[-cut] + allowance)
    return Comparison(
        Estimate(value, low, high, test.launches, CONFIDENCE),
        test.p_values[min(below, above)],
        _smallest_change(half, test, max(half, demand), between),
        test.same,
        math.expm1(allowance),
    )


def _allowance(needed: float, between: Between) -> float:
    beyond = 0.0 if math.isinf(needed) else math.hypot(needed, between.reach) - needed
    return max(between.known, beyond)


def _smallest_change(half: float, test: _Test, needed: float, between: Between) -> float | None:
    """Return the smallest change, from the half-width of the interval before it is widened.

    needed : how far from 1 a ratio must lie for the launches alone to show a difference
    """
    if math.isinf(needed):
        return None
    error = math.hypot(half / NormalDist().inv_cdf(1 - ALARMS / 2), between.error)
    allowance = _allowance(needed, between)
    different = allowance + needed + _margin(needed, error, test.degrees)
    wide = half + allowance
    not_the_same = math.log1p(test.same) - wide + _margin(-wide, error, test.degrees)
    change = max(different, not_the_same)
    return math.expm1(change) if change <= LARGEST_CHANGE else None


def _margin(half: float, error: float, degrees: int) -> float:
    """Return the margin by which a change must exceed its bound for another comparison to find it.

    Let s and t be the standard errors here and there, both varying around `error` by a fraction of
    1 / sqrt(2 degrees), and k s and k t the half-widths. A margin of m s is enough where the other
    estimate, less k t, falls short by at most (k + m) s. That difference has the variance
    error^2 (1 + (k^2 + (k + m)^2) / (2 degrees)), and m s is the normal quantile of the power times
    its root: a quadratic equation for the margin.

    half : k s; negative where a wide interval helps
    """
    quantile = NormalDist().inv_cdf(POWER)
    share = quantile**2 / degrees
    square, linear = 1 - share / 2, share * half
    constant = (quantile * error) ** 2 + share * half**2
    return (linear + math.sqrt(linear**2 + 4 * square * constant)) / (2 * square)
