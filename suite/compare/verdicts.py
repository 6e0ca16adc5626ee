# SPDX-License-Identifier: MIT
"""Two sets of launch values to a ratio with its interval, and to a verdict, by exact rank tests."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from frobench.suite.statistics import (
    ALARMS,
    CONFIDENCE,
    LEAST_LAUNCHES,
    finite,
    mann_whitney,
    middle,
    signed_rank,
)
from frobench.suite.stored.types import Estimate, VerdictWord

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


Values = NDArray[np.float64]

MOST = 10_000
"""Rearrangements that are looked at: all of them, or a sample of so many with a fixed seed."""
PULLED_IN = 1.5
"""Standard deviations from the middle beyond which a value counts as no farther. It costs nothing
on normal launches; with heavy tails the power of a rank test is reached."""
LARGEST = 1e6
"""The largest statistic: more is rounding."""

_CLOSE_PAIRS, _CLOSE_TO_NORMAL = 0.25, 2.2219
"""The quantile of the distances between all values that measures their scale, as the smaller half
of two groups apart leaves it, and its factor for normal values (Rousseeuw and Croux, 1993)."""


def table(cases: Sequence[Sequence[float | None]]) -> Values:
    """Return the values of cases as an array, launches by cases; NaN where one is missing."""
    return np.array(cases, dtype=float).T


class Rearranged(NamedTuple):
    """Statistics of cases for the launches as they are, in the first row, and rearranged.

    statistics : |t|, rearrangements by cases
    errors : the standard error of each case's difference, if there is none in truth
    """

    statistics: Values
    errors: Values


def between_runs(base: Values, new: Values) -> Rearranged:
    """Split the launches of two runs in all ways. The values are logs, launches by cases."""
    _, values, present = winsorised(np.concatenate([base, new]))
    launches = present.sum(axis=0)
    means = present * values.sum(axis=0) / launches
    squares = ((values - means) ** 2).sum(axis=0)
    values -= means
    splits = _splits(len(base), len(new))
    here = _sums(splits, present)
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = _sums(splits, values) ** 2
        explained *= launches / (here * (launches - here))
        explained /= (values**2).sum(axis=0)  # `squares` lie in another order
    errors = np.sqrt(squares * launches / (launches - 2) / here[0] / (launches - here[0]))
    return Rearranged(_student(explained, launches - 2), errors)


def within_launches(logs: Values) -> Rearranged:
    """Exchange two versions in all ways.

    logs : of the ratio of the versions, launches by cases
    """
    ends = _ends(1.4826 * _quantile(np.abs(logs), 0.5))
    present = ~np.isnan(logs)
    values = np.where(present, np.clip(logs, -ends, ends), 0.0)  # pulled in towards zero
    launches, squares = present.sum(axis=0), (values**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = _sums(_signs(len(logs)), values) ** 2 / launches / squares
    errors = np.sqrt(squares / launches / (launches - 1))
    return Rearranged(_student(explained, launches - 1), errors)


def step_down(statistics: Values) -> list[float]:
    """Return the p-value of each case in the family, from the statistics of all rearrangements."""
    order = np.argsort(-statistics[0], kind="stable")
    ranked = statistics[:, order]
    largest = np.maximum.accumulate(ranked[:, ::-1], axis=1)[:, ::-1]
    chances = (largest >= ranked[0] * (1 - 1e-9)).mean(axis=0)
    adjusted = np.empty_like(chances)
    adjusted[order] = np.maximum.accumulate(chances)
    return [float(p) for p in adjusted]


def critical(statistics: Values, alpha: float) -> float:
    """Return the |t| that a case must reach in the family; infinite where none is large enough.

    statistics : of launches between which there is no difference
    """
    rarest = math.floor(alpha * len(statistics))
    largest = np.sort(statistics.max(axis=1))
    return float(largest[-rarest]) if rarest else math.inf


def winsorised(values: Values) -> tuple[Values, Values, Values]:
    """Pull the outliers of each case in. Values are launches by cases, NaN where one is missing.

    Returns
    -------
    The medians, the values around them, and 1 where a value is there; 0 where one is missing.
    """
    present = ~np.isnan(values)
    middle = _quantile(values, 0.5)
    first, second = np.triu_indices(len(values), 1)
    distances = np.abs(values[first] - values[second])
    ends = _ends(_CLOSE_TO_NORMAL * _quantile(distances, _CLOSE_PAIRS))
    pulled = np.where(present, np.clip(values - middle, -ends, ends), 0.0)
    if present.all():
        present = present[:, :1]  # one column stands for all, which is faster
    return middle, pulled, present.astype(float)


def _quantile(values: Values, part: float) -> Values:
    """Return the quantile of each column without its NaN; most have none, which is faster."""
    find = np.nanquantile if np.isnan(values).any() else np.quantile
    return np.asarray(find(values, part, axis=0))


def _ends(scale: Values) -> Values:
    """Return how far from the middle a value counts; without end where most are equal."""
    return np.where(scale > 0, PULLED_IN * scale, math.inf)


def _student(explained: Values, degrees: Values) -> Values:
    """Return |t| from the part of the squares that a difference explains."""
    explained[~np.isfinite(explained)] = 0.0
    part: Values = np.minimum(explained, 1 - 1 / LARGEST**2)
    statistics: Values = np.sqrt(degrees * part / (1 - part))
    return statistics


def _sums(rows: Values, values: Values) -> Values:
    """Return the matrix product; that of BLAS keeps several threads busy for less work."""
    sums: Values = np.einsum("ij,jk->ik", rows, values)
    return sums


@cache
def _splits(base: int, new: int) -> Values:
    """Return which launches are in the new run, a row for each split; the first is as it was.

    Exchanging runs changes no |t|: for runs of equal length, half of the splits are enough.
    """
    launches, mirrored = base + new, base == new
    if math.comb(launches, new) // (1 + mirrored) > MOST:
        random = np.random.default_rng([base, new])
        rows = np.tile(np.repeat([0.0, 1.0], [base, new]), (MOST, 1))
        rows[1:] = random.permuted(rows[1:], axis=1)
        return rows
    chosen = [
        positions
        for positions in combinations(range(launches), new)
        if not mirrored or positions[0]
    ]
    rows = np.zeros((len(chosen), launches))
    np.put_along_axis(rows, np.array(chosen), 1.0, axis=1)
    return rows[::-1].copy()  # the last combination is the split that was measured


@cache
def _signs(launches: int) -> Values:
    """Return a sign for each launch, a row for each exchange; the first exchanges nothing.

    Exchanging every launch changes no |t|, so the first launch keeps its sign.
    """
    if 2 ** (launches - 1) > MOST:
        random = np.random.default_rng(launches)
        signs = random.choice([-1.0, 1.0], (MOST, launches))
        signs[0] = 1.0
        return signs
    bits = np.arange(2 ** (launches - 1))[:, None] >> np.arange(launches) & 1
    return np.where(bits, -1.0, 1.0)[:, ::-1].copy()
