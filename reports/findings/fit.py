# SPDX-License-Identifier: MIT
"""A straight line through times: what nothing takes, and what each unit of size adds to it."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from frobench.reports.findings.select import Curve, NotMeasuredError

LEAST_SIZES = 3
"""Any two times lie on a line."""
TOLERANCE = 0.25
"""How far off the line a size may be, as a part of its time, in the median over launches."""


class Line(NamedTuple):
    """The line of each launch: seconds that a size of nothing takes, and size by second."""

    latency: pd.Series
    rate: pd.Series

    @property
    def half(self) -> pd.Series:
        """The sizes that get half of the rate: they take as long again as the latency."""
        return self.latency * self.rate

    def carries(self, moved: Curve) -> pd.Series:
        """Return the bytes a second on the line, of all the bytes that are moved for each size."""
        size = moved.largest
        return self.rate * (moved.at(size) / size)


def fit(curve: Curve) -> Line:
    """Fit a line to the times of each launch, by least squares of the relative errors.

    There is none (`NotMeasuredError`) through fewer than three sizes, where a size is too far off,
    or where the line does not rise from a positive latency.
    """
    sizes, whole = np.array(curve.sizes), ~np.isnan(curve.numbers).any(axis=1)
    if len(sizes) < LEAST_SIZES or not whole.any():
        raise NotMeasuredError("a line needs three sizes")
    times = curve.numbers[whole]
    # So scaled, both unknowns are about 1.
    scale = np.column_stack([times.min(axis=1), times.max(axis=1) / sizes.max()])
    parts = np.stack([1 / times, sizes / times], axis=2) * scale[:, np.newaxis]
    solution = np.linalg.pinv(parts).sum(axis=2)  # of ones
    errors = (parts @ solution[:, :, np.newaxis])[:, :, 0] - 1
    latency, seconds = (solution * scale).T
    off = np.median(errors, axis=0)
    if abs(off).max() > TOLERANCE or np.median(latency) <= 0 or seconds.min() <= 0:
        raise NotMeasuredError("no single line fits the times")
    launches = curve.launches[whole]
    return Line(pd.Series(latency, launches), pd.Series(1 / seconds, launches))
