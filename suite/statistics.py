# SPDX-License-Identifier: MIT
"""Launches to estimates, and two estimates to a verdict.

The launch is the unit of replication throughout: what enters is one value for each launch.
``None`` stands for a launch that did not measure the case and is left out.
"""

import math
from collections.abc import Sequence
from itertools import accumulate
from statistics import NormalDist, median
from typing import NamedTuple

from msgspec import Struct

from suite.ranks import mann_whitney, median_interval, signed_rank
from suite.stored.run import Estimate, VerdictWord

CONFIDENCE = 0.95
"""Confidence of every interval."""
ALARMS = 1 - CONFIDENCE
"""False alarms that are allowed: of a comparison alone, and of all that share them together."""
LEAST_LAUNCHES = 6
"""With fewer launches even the range of the values covers the median in less than 95%."""
POWER = 0.9
"""The probability with which the smallest change of a comparison would be found."""
SAME, SAME_BESIDE = 0.02, 0.005
"""Ratios within this distance of 1 are called the same: those of two runs, which no machine
repeats better, and those of two versions beside each other in the same launches."""

_QUARTILE_LAUNCHES = 4


class Between(NamedTuple):
    """How far two separate runs of identical code differ beyond what their launches show.

    error : standard deviation of the difference, on the log scale
    reach : the difference that all cases of the family stay within in 95% of such pairs
    known : a difference that these two runs surely have by themselves
    """

    error: float = 0.0
    reach: float = 0.0
    known: float = 0.0


ALIKE = Between()
"""Two runs that are as alike as two launches."""


class Comparison(Struct, frozen=True):
    """Two sets of launch values, or two versions in the same launches, compared by their logs.

    ratio : new / base with its interval, widened by the allowance; below 1 is faster, since times
        are compared
    p_value : two-sided and exact, of the Mann-Whitney test or, for two versions in the same
        launches, of Wilcoxon's signed-rank test, both without an allowance; ``None`` where there
        is no interval
    smallest_change : the slow-down, as a fraction, that another such comparison would call
        slower with a probability of about 90%; ``None`` where no slow-down, however large, can
        be shown by so few launches
    same : the distance from 1 within which a ratio is called the same
    allowance : the ratio, less 1, that separate runs of identical code may have by themselves
    """

    ratio: Estimate
    p_value: float | None
    smallest_change: float | None
    same: float = SAME
    allowance: float = 0.0


def launch_medians(data: Sequence[float], launches: Sequence[int]) -> list[float | None]:
    """Return the median of each launch from samples that stand launch after launch.

    Parameters
    ----------
    data
        Samples, in any unit.
    launches
        Number of samples of each launch; the median of a launch with none is ``None``.

    Raises
    ------
    ValueError
        The numbers of samples do not add up to the length of the data.
    """
    if sum(launches) != len(data):
        msg = f"{len(data)} samples, but the launches name {sum(launches)}"
        raise ValueError(msg)
    ends = accumulate(launches)
    return [
        _middle(sorted(data[end - count : end])) if count else None
        for end, count in zip(ends, launches, strict=True)
    ]


def _middle(ordered: Sequence[float]) -> float:
    """Return the median of sorted values; `statistics.median` takes twice as long for a few."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def estimate(values: Sequence[float | None]) -> Estimate:
    """Return the median over launches with an interval that covers it in 95%.

    The ends are interpolated between neighbouring order statistics (Hettmansperger and
    Sheather, "Confidence intervals based on interpolated order statistics", Statistics &
    Probability Letters 4, 1986), which assumes only that launches are independent. Two
    things are added. The interval is made for about 97%, so that it covers 92% where each
    launch is correlated by 0.3 with the one before. And an end moves inward by at most half the
    width of the inner pair: the neighbours can lie in two modes, and a fixed part of the gap
    between them would leave the median outside (coverage fell to 87%). Six launches give a little
    more than their range, which alone covers 96.9% of any distribution.

    Simulated with 6 to 20 launches, coverage is at least 94% where launches are independent, and
    the mean width on normal data at most 1.35 times the t-interval's. Where launches depend more on
    their order it covers less, and the rule `drift` names that: `docs/calibration.md`.

    Parameters
    ----------
    values
        One finite number for each launch, of any sign and unit: a launch median, or what is
        computed from the cases of one launch, such as a ratio or a crossover.

    Raises
    ------
    ValueError
        There is no value, or one is not finite.
    """
    ordered = sorted(_finite(values))
    count = len(ordered)
    low, high = median_interval(ordered) if count >= LEAST_LAUNCHES else (None, None)
    return Estimate(_middle(ordered), low, high, count, CONFIDENCE)


def spread(values: Sequence[float | None]) -> float | None:
    """Return how far launches differ, relative to their median.

    It is the interquartile range (Hazen's quartiles) divided by 1.349 and by the median: the
    relative standard deviation where launches are normal, blind to a single launch that went
    astray, but not to a quarter of them. ``None`` below four launches or with a median of 0.
    """
    ordered = sorted(_finite(values))
    centre = _middle(ordered)
    if len(ordered) < _QUARTILE_LAUNCHES or centre == 0:
        return None
    normal_range = 2 * NormalDist().inv_cdf(0.75)
    return (_quantile(ordered, 0.75) - _quantile(ordered, 0.25)) / normal_range / abs(centre)


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

    Separate runs differ by more than their launches show. By the launches alone a difference
    beyond h would be found, which is the half-width of the interval or what the family demands.
    With r as the reach of the difference between runs, it must lie beyond the root of h^2 + r^2.
    The allowance is what that is more than h, or what is known of the two runs, if that is more;
    the interval is widened by it on both sides.

    The smallest change is what passes that, and lifts the 95% interval out of what is called
    the same, with a margin for what another comparison of so few launches finds instead: its
    estimate and the widths of both are known no better than they show.
    `docs/calibration.md` tells how often that succeeds.

    Parameters
    ----------
    base, new
        One positive number for each launch.
    demand
        How far from 1 a ratio must lie in its family, as a log; without it the comparison stands
        alone.
    between
        What is known of separate runs; without it two runs are as alike as two launches.

    Raises
    ------
    ValueError
        A side is empty, or a value is not finite or not positive.
    """
    old_logs, new_logs = _logs(base), _logs(new)
    shifts = [after - before for after in new_logs for before in old_logs]
    test = _Test(
        mann_whitney(len(old_logs), len(new_logs)),
        launches=min(len(old_logs), len(new_logs)),
        degrees=len(old_logs) + len(new_logs) - 2,
        same=SAME,
    )
    return _compared(shifts, test, demand, between)


def compare_pairs(ratios: Sequence[float | None], demand: float = 0.0) -> Comparison:
    """Compare two versions that were measured beside each other in every launch.

    The ratio is the Hodges-Lehmann estimate on the log scale: the median of the mean logs of
    all pairs of launches, each with itself included. Its interval and p-value are those of
    the exact Wilcoxon signed-rank test (Hollander, Wolfe and Chicken, "Nonparametric
    Statistical Methods", sections 3.1 to 3.3). It asks that the logs lie symmetrically around
    their median; for identical versions they do, whatever their distribution, because the two
    can be exchanged. Ties count against a difference. Below six launches there is neither
    interval nor p-value: six that all say the same have a p-value of 2/64.

    Parameters
    ----------
    ratios
        New / base within each launch: one positive number.
    demand
        As for `compare_values`, and so is the smallest change.

    Raises
    ------
    ValueError
        There is no value, or one is not finite or not positive.
    """
    logs = _logs(ratios)
    means = [(one + other) / 2 for at, one in enumerate(logs) for other in logs[at:]]
    test = _Test(signed_rank(len(logs)), len(logs), degrees=len(logs) - 1, same=SAME_BESIDE)
    return _compared(means, test, demand, ALIKE)


def verdict(comparison: Comparison, p_value: float | None = None) -> VerdictWord:
    """Say what a comparison shows.

    Parameters
    ----------
    p_value
        The p-value in the family, for one of several comparisons that share their false
        alarms; without it the comparison stands alone.
    """
    ratio = comparison.ratio
    if ratio.low is None or ratio.high is None:
        return "unresolved"
    if ratio.low >= 1 - comparison.same and ratio.high <= 1 + comparison.same:
        return "same"
    if ratio.low <= 1 <= ratio.high or (p_value is not None and p_value > ALARMS):
        return "unresolved"
    return "faster" if ratio.value < 1 else "slower"


def _finite(values: Sequence[float | None]) -> list[float]:
    present = [value for value in values if value is not None]
    if not present:
        msg = "there is no value of any launch"
        raise ValueError(msg)
    for value in present:
        if not math.isfinite(value):
            msg = f"a launch has the value {value}, which is not finite"
            raise ValueError(msg)
    return present


def _logs(values: Sequence[float | None]) -> list[float]:
    present = _finite(values)
    if min(present) <= 0:
        msg = f"a launch has the value {min(present)}, and ratios need positive ones"
        raise ValueError(msg)
    return [math.log(value) for value in present]


class _Test(NamedTuple):
    """A test that counts the shifts on either side of zero.

    p_values : two-sided, for each number of shifts on the rarer side
    launches : of the side that has fewer
    degrees : of freedom that the launches leave to their spread
    same : see `Comparison`
    """

    p_values: list[float]
    launches: int
    degrees: int
    same: float


def _compared(shifts: list[float], test: _Test, demand: float, between: Between) -> Comparison:
    """Make the comparison from differences of logs, or their means."""
    shifts = sorted(shifts)
    value = math.exp(median(shifts))
    if test.launches < LEAST_LAUNCHES:
        nothing = Estimate(value, None, None, test.launches, CONFIDENCE)
        return Comparison(nothing, None, None, test.same)
    below = sum(shift <= 0 for shift in shifts)
    above = sum(shift >= 0 for shift in shifts)
    cut = sum(p <= ALARMS for p in test.p_values)
    half = (shifts[-cut] - shifts[cut - 1]) / 2
    demand = max(half, demand)
    allowance = _allowance(demand, between)
    low, high = math.exp(shifts[cut - 1] - allowance), math.exp(shifts[-cut] + allowance)
    return Comparison(
        Estimate(value, low, high, test.launches, CONFIDENCE),
        test.p_values[min(below, above)],
        _smallest_change(half, test, demand, between),
        test.same,
        math.expm1(allowance),
    )


def _allowance(half: float, between: Between) -> float:
    beyond = 0.0 if math.isinf(half) else math.hypot(half, between.reach) - half
    return max(between.known, beyond)


def _quantile(ordered: list[float], fraction: float) -> float:
    place = fraction * len(ordered) - 0.5
    index = math.floor(place)
    return ordered[index] + (place - index) * (ordered[index + 1] - ordered[index])


def _smallest_change(half: float, test: _Test, demand: float, between: Between) -> float | None:
    """Return the smallest change of `compare_values`.

    half : half-width of the 95% interval, before it is widened
    """
    if math.isinf(demand):
        return None
    error = math.hypot(half / NormalDist().inv_cdf(1 - ALARMS / 2), between.error)
    allowance = _allowance(demand, between)
    different = allowance + demand + _margin(demand, error, test.degrees)
    wide = half + allowance
    not_the_same = math.log1p(test.same) - wide + _margin(-wide, error, test.degrees)
    return math.expm1(max(different, not_the_same))


def _margin(half: float, error: float, degrees: int) -> float:
    """Return by how much a change must exceed what it has to, for another to find it too.

    With the standard error s here and t there, both varying around `error` by a fraction of
    1 / sqrt(2 degrees), and half-widths of k s and k t, a margin of m s is enough where the
    other estimate, less k t, falls short by no more than (k + m) s. That difference has the
    variance error^2 (1 + (k^2 + (k + m)^2) / (2 degrees)), and m s is the normal quantile
    of the power times its root: a quadratic equation for the margin.

    half : k s; negative where a wide interval helps
    """
    quantile = NormalDist().inv_cdf(POWER)
    share = quantile**2 / degrees
    square, linear = 1 - share / 2, share * half
    constant = (quantile * error) ** 2 + share * half**2
    return (linear + math.sqrt(linear**2 + 4 * square * constant)) / (2 * square)
