# SPDX-License-Identifier: MIT
# ruff: noqa: PLC0415 - a tool that is timed must not wait for these imports
"""Intervals and tests that users of several tools apply."""

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist, fmean

from studies.peers.tool import Interval, Measurement, Samples

ALPHA = 0.05


def t_interval(values: Samples) -> Interval:
    """Return Student's 95% interval of the mean."""
    return _around(values, _student_quantile(len(values) - 1))


def normal_interval(values: Samples) -> Interval:
    """Return the mean and 1.96 standard errors to each side."""
    return _around(values, NormalDist().inv_cdf(1 - ALPHA / 2))


def mann_whitney(base: Samples, new: Samples) -> bool:
    """Tell whether the Mann-Whitney test calls two samples different at 5%."""
    from scipy.stats import mannwhitneyu

    return bool(mannwhitneyu(base, new).pvalue < ALPHA)


def student(base: Samples, new: Samples) -> bool:
    """Tell whether Student's test with a pooled variance calls two samples different at 5%."""
    from scipy.stats import ttest_ind

    return bool(ttest_ind(base, new).pvalue < ALPHA)


def samples_differ(base: Measurement, new: Measurement) -> bool:
    """Tell whether the Mann-Whitney test calls two processes different by their samples."""
    return mann_whitney(base.processes[0].samples, new.processes[0].samples)


def mean_of_means(processes: Sequence[Samples]) -> float:
    """Return the mean over processes of the mean of their samples."""
    return fmean(fmean(samples) for samples in processes)


def upper_bound(found: int, among: int) -> float:
    """Return the upper end of Clopper and Pearson's one-sided 95% interval of a share."""
    from scipy.stats import beta

    return 1.0 if found == among else float(beta.ppf(1 - ALPHA, found + 1, among - found))


@cache
def _student_quantile(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(1 - ALPHA / 2, freedom))


def _around(values: Samples, quantile: float) -> Interval:
    import numpy as np

    centre = float(np.mean(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return centre - quantile * error, centre + quantile * error
