# SPDX-License-Identifier: MIT
"""How far the launches of a run leave its exercises open, and how far exercises err together.

A launch that is slow is often slow in all its cases, so that neither the mean of many cases nor
that of several exercises is as sure as if each erred for itself. Ratios that are made without the
launches (`static/ratios.js`) take it from here; those of `reports.purchase.ratios` draw launches.
"""

import math
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from frobench.reports.table.estimates import CaseEstimate
from frobench.reports.table.launches import Numbers
from frobench.reports.table.times import ON_CPU, exercise_of
from frobench.suite.statistics import LEAST_LAUNCHES, NORMAL_QUANTILE

Known = NDArray[np.bool_]
Places = NDArray[np.intp]


class Spread(Struct, frozen=True):
    """How the exercises of a run err.

    errors : by exercise, the standard error of the mean of its cases' logarithms, each of them a
        pseudomedian over launches; without those that six launches did not measure
    shared : correlation of two exercises, from 0 to 1, which gives their mean over all the error
        that the launches show it to have; of those that need an accelerator, where there are any
    parts : as ``errors``, by part of the workloads
    """

    errors: dict[str, float]
    shared: float
    parts: dict[str, float] = {}


def spread(
    estimated: Iterable[CaseEstimate], parts: Mapping[str, tuple[str, str]] | None = None
) -> Spread:
    """Look at the launches of a run's cases.

    Parameters
    ----------
    estimated
        Those that can stand in a ratio.
    parts
        By full name, the part of the workloads that a case belongs to, and the kind of case. In a
        part every kind counts the same.
    """
    rows: dict[str, list[list[float]]] = {}
    scored: dict[str, dict[str, list[list[float]]]] = {}
    for estimate in estimated:
        logs = _logs(estimate.medians)
        rows.setdefault(exercise_of(estimate.exercise, estimate.device), []).append(logs)
        if known_part := (parts or {}).get(estimate.case):
            part, kind = known_part
            scored.setdefault(part, {}).setdefault(kind, []).append(logs)
    known = _known({name: _mean(np.array(each)) for name, each in rows.items()})
    of_parts = _known({name: _mean_of_kinds(kinds) for name, kinds in scored.items()})
    leading = [name for name in known if not name.endswith(ON_CPU)] or [*known]
    return Spread(
        errors={name: _error(mean) for name, mean in known.items()},
        parts={name: _error(mean) for name, mean in of_parts.items()},
        shared=_shared(np.array([known[name] for name in leading])) if len(leading) > 1 else 0.0,
    )


def _known(means: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Return how far off launches are, without what six launches did not measure."""
    return {name: mean for name, mean in means.items() if _launches(mean) >= LEAST_LAUNCHES}


def _logs(medians: list[float | None]) -> list[float]:
    """Return the logarithm of each launch's median, NaN where there is none."""
    return [math.log(value) if value is not None and value > 0 else math.nan for value in medians]


def _mean(logs: Numbers) -> Numbers:
    """Return how far off each launch is, over the cases that it measured; NaN where it did none."""
    known = ~np.isnan(logs)
    if known.all():  # as mostly, which takes a third of the time of what follows
        every: Numbers = (logs - logs.mean(axis=1, keepdims=True)).mean(axis=0)
        return every
    of_cases = known.any(axis=1)
    logs, known = logs[of_cases], known[of_cases]
    off = logs - _over(logs, known, axis=1)[:, np.newaxis]
    launches = known.any(axis=0)
    means = np.full(logs.shape[1], np.nan)
    means[launches] = _over(off[:, launches], known[:, launches], axis=0)
    return means


def _over(values: Numbers, known: Known, axis: int) -> Numbers:
    """Return the means of the known values; each row or column has at least one."""
    means: Numbers = np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis)
    return means


def _mean_of_kinds(kinds: Mapping[str, list[list[float]]]) -> Numbers:
    """Return how far off each launch is, over kinds of cases; NaN where it measured none."""
    return _mean(np.array([_mean(np.array(logs)) for logs in kinds.values()]))


def _launches(means: Numbers) -> int:
    return int(np.count_nonzero(~np.isnan(means)))


def _error(means: Numbers) -> float:
    """Return half of the 95% interval of the launches' pseudomedian, by the normal quantile.

    The ends are means of pairs of launches, so many from the outside as Wilcoxon's signed ranks
    allow (Hodges and Lehmann). Where launches fall into two modes, a pseudomedian moves further
    than a mean, and the standard deviation would promise too much.
    """
    known = means[~np.isnan(means)]
    first, second, outside = _pairs(len(known))
    sums = np.sort(known[first] + known[second])
    return float(sums[-outside] - sums[outside - 1]) / 4 / NORMAL_QUANTILE


@cache
def _pairs(launches: int) -> tuple[Places, Places, int]:
    """Return both launches of each pair, and which pair from the outside is an end."""
    first, second = np.triu_indices(launches)
    deviation = math.sqrt(launches * (launches + 1) * (2 * launches + 1) / 24)
    return first, second, max(1, round(len(first) / 2 - NORMAL_QUANTILE * deviation))


def _shared(means: Numbers) -> float:
    """Return the correlation that gives the mean of exercises its error; exercises x launches."""
    covariance = np.cov(means[:, ~np.isnan(means).any(axis=0)])
    errors = np.sqrt(np.diag(covariance))
    apart = float(errors.sum() ** 2 - np.trace(covariance))
    together = float(covariance.sum() - np.trace(covariance))
    return min(max(together / apart, 0.0), 1.0) if apart > 0 else 0.0
