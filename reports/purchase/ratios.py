# SPDX-License-Identifier: MIT
"""How many times as fast as a reference a machine is, exercise by exercise, and how surely.

An exercise's log is the mean over the cases that both machines measured, nothing added and nothing
filled in, and any weighted mean of exercises is a mean of these logs.

Intervals come from a bootstrap over launches, because all cases of a launch share its fate: a
resample, the same one every time, draws launches with all their cases, of either run for itself.
What few launches hide of the spread is put right twice, by n / (n - 1) for the variance and by
Student's quantile. `docs/calibration.md` tells how often the intervals cover.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from frobench.reports.table.estimates import log_centres
from frobench.reports.table.launches import Numbers
from frobench.suite.statistics import LEAST_LAUNCHES

RESAMPLES = 1000
"""The variance of so many is known to 4%, a hundredth of what eight launches leave open."""
AIM = 0.955
"""Confidence that the quantile is made for: a margin, since both corrections are approximate."""
Counts = NDArray[np.int32]
Rows = Sequence[tuple[int, int]]
"""Common cases: the row of each in the reference's launches, and in the machine's."""


@dataclass(frozen=True)
class Launches:
    """What the launches of a run say of its cases.

    centre : by case, the logarithm of its time (`reports.table.estimates`)
    resampled : the same in each resample, not rounded; cases x resamples
    number : how many launches there are
    """

    centre: Numbers
    resampled: Numbers
    number: int

    @classmethod
    def of(cls, values: Numbers) -> "Launches":
        """Take positive numbers, such as seconds; cases x launches.

        NaN stands where a launch did not measure the case; each case has some launch, unless there
        is no case at all. A resample without any launch of a case leaves it where it is.
        """
        number = values.shape[1]
        if not number:
            return cls(np.empty(0), np.empty((0, RESAMPLES)), number)
        first, second = np.triu_indices(number)
        logs = np.log(values)
        pairs = (logs[:, first] + logs[:, second]) / 2
        weights = _weights(number)
        found = np.array([_medians(row, weights) for row in pairs])
        return cls(log_centres(values), found[:, 1:], number)


@dataclass(frozen=True)
class Ratios:
    """A machine against the reference, by exercise.

    logs : mean logs of the speed ratios, >0 = faster than the reference; NaN without common cases
    covariance : of the logs, 0 where there is none; ``None`` where a run has fewer than six
        launches
    quantile : an interval is exp(mean ± quantile · standard error); ``None`` without a covariance
    """

    logs: Numbers
    covariance: Numbers | None
    quantile: float | None


def against(
    reference: Launches,
    machine: Launches,
    exercises: Sequence[Rows],
    weights: Sequence[float],
    shares: Sequence[Sequence[float]] | None = None,
) -> Ratios:
    """Hold a machine against the reference, which is as fast as itself, and surely so.

    The quantile is made for the mean over exercises with these weights. For others the degrees
    of freedom would differ a little, which moves it less than the launches leave open.

    exercises : the common cases of each
    weights : of each exercise, not all 0
    shares : of each case in its exercise, with the sum 1; by default all count the same
    """
    if machine is reference:
        same = np.zeros(len(exercises))
        return Ratios(same, np.diag(same), 0.0)
    parts = shares or [[1 / max(len(rows), 1)] * len(rows) for rows in exercises]
    logs = np.full(len(exercises), np.nan)
    for exercise, (rows, part) in enumerate(zip(exercises, parts, strict=True)):
        if rows:
            ratios = [reference.centre[mine] - machine.centre[its] for mine, its in rows]
            logs[exercise] = np.dot(part, ratios)
    launches = reference.number, machine.number
    known = [bool(rows) for rows in exercises]
    if min(launches) < LEAST_LAUNCHES or not any(known):
        return Ratios(logs, None, None)
    covariances = [
        _covariance(side, [[pair[which] for pair in rows] for rows in exercises], parts)
        for which, side in enumerate((reference, machine))
    ]
    asked = np.where(known, weights, 0.0)
    asked = asked if asked.any() else np.array(known, dtype=float)
    variances = [float(asked @ one @ asked) for one in covariances]
    return Ratios(logs, covariances[0] + covariances[1], _quantile(variances, launches))


def _covariance(
    side: Launches, exercises: Sequence[Sequence[int]], shares: Sequence[Sequence[float]]
) -> Numbers:
    """Return what one run's launches leave open of each exercise's mean, and of two together."""
    means = np.zeros((len(exercises), RESAMPLES))
    for exercise, (rows, part) in enumerate(zip(exercises, shares, strict=True)):
        if rows:
            means[exercise] = np.asarray(part) @ side.resampled[list(rows)]
    apart = means - means.mean(axis=1, keepdims=True)
    unbiased = side.number / (side.number - 1) / (RESAMPLES - 1)
    found: Numbers = np.einsum("ir,jr->ij", apart, apart) * unbiased
    return found


def _quantile(variances: Sequence[float], launches: Sequence[int]) -> float:
    """Return Student's quantile with Welch and Satterthwaite's degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

    whole = sum(variances)
    spent = sum(one**2 / (number - 1) for one, number in zip(variances, launches, strict=True))
    degrees = whole**2 / spent if spent else sum(launches) - 2
    return float(stdtrit(degrees, (1 + AIM) / 2))


@cache
def _weights(number: int) -> Counts:
    """Return how often each pair of launches is there: as it was measured, then in each resample.

    A launch that is drawn k times makes k (k + 1) / 2 pairs with itself.
    """
    random = Random(number)  # noqa: S311 - not for secrets, and the same in every Python
    draws = [random.choices(range(number), k=number) for _ in range(RESAMPLES)]
    counts = np.array(
        [np.ones(number, dtype=int), *(np.bincount(one, minlength=number) for one in draws)]
    )
    first, second = np.triu_indices(number)
    weights = np.where(
        first == second,
        counts[:, first] * (counts[:, first] + 1) // 2,
        counts[:, first] * counts[:, second],
    )
    return np.ascontiguousarray(weights.T, dtype=np.int32)


def _medians(values: Numbers, weights: Counts) -> Numbers:
    """Return the medians of values that are there several times, a column of numbers of times each.

    Numbers that are NaN count for nothing; where nothing counts, the median is that of column 0.
    """
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]
    ordered, passed = values[order], np.cumsum(weights[order], axis=0, dtype=np.int32)
    twice, every = 2 * passed, passed[-1]
    below, above = ((twice < every).sum(axis=0), (twice <= every).sum(axis=0))
    last = len(ordered) - 1
    found = (ordered[np.minimum(below, last)] + ordered[np.minimum(above, last)]) / 2
    medians: Numbers = np.where(every > 0, found, found[0])
    return medians
