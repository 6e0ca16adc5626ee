# SPDX-License-Identifier: MIT
"""A straight line through times: what nothing takes, and what each unit of size adds to it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reports.findings.select import Curve, NotMeasuredError

LEAST_SIZES = 3
"""Any two times lie on a line."""
TOLERANCE = 0.25
"""How far off the line a size may be, as a part of its time, in the median over launches."""


@dataclass(frozen=True)
class Line:
    """The line of each launch.

    Parameters
    ----------
    latency
        Seconds that a size of nothing would take.
    rate
        What a second adds to the size.
    """

    latency: pd.Series
    rate: pd.Series

    @property
    def half(self) -> pd.Series:
        """The sizes that get half of the rate: they take as long again as the latency."""
        return self.latency * self.rate


def fit(times: Curve) -> Line:
    """Fit a line to the times of each launch, by least squares of the relative errors.

    Raises
    ------
    NotMeasuredError
        There is no line that says something: there are fewer than three sizes, one is too far
        off, or the line does not rise from a positive latency.
    """
    sizes, whole = np.array(times.sizes), ~np.isnan(times.numbers).any(axis=1)
    if len(sizes) < LEAST_SIZES or not whole.any():
        raise NotMeasuredError("a line needs three sizes")
    fits, launches = [_fit(sizes, row) for row in times.numbers[whole]], times.launches[whole]
    off = np.median([errors for *_, errors in fits], axis=0)
    latency = pd.Series([one for one, *_ in fits], index=launches)
    seconds = pd.Series([one for _, one, _ in fits], index=launches)
    if abs(off).max() > TOLERANCE or latency.median() <= 0 or seconds.min() <= 0:
        raise NotMeasuredError("no single line fits the times")
    return Line(latency, 1 / seconds)


def _fit(
    sizes: NDArray[np.float64], times: NDArray[np.float64]
) -> tuple[float, float, NDArray[np.float64]]:
    """Return the latency, the seconds a unit adds, and how far each size is off."""
    scale = np.array([times.min(), times.max() / sizes.max()])  # both unknowns become about 1
    parts = np.column_stack([1 / times, sizes / times]) * scale
    solution = np.linalg.lstsq(parts, np.ones_like(times))[0]
    latency, seconds = solution * scale
    return float(latency), float(seconds), parts @ solution - 1
