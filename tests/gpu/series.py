# SPDX-License-Identifier: MIT
"""Two series of readings of the same thing, and by how much one lies behind the other."""

from collections.abc import Sequence

import numpy as np

Series = list[tuple[float, float]]
"""Moments, in seconds, and what was read at each."""
MOST, STEP = 0.5, 0.005
"""Seconds by which a series may lie behind the other, and how finely that is looked for."""
LEAST = 0.95
"""Correlation of two series of the same thing, at least."""
AS_GOOD = 1e-6
"""Correlations that differ by less are equal, as where both series stand still."""


def lag(late: Sequence[tuple[float, float]], early: Sequence[tuple[float, float]]) -> float:
    """Return the seconds by which one series lies behind the other, negative if it is ahead.

    That is the shift with which they correlate best. They may be read at different moments; the
    earlier one is interpolated between its own.

    Raises
    ------
    ValueError
        They are not alike however they are shifted.
    """
    (times, values), (others, theirs) = np.array(late).T, np.array(early).T
    inside = (times - MOST >= others[0]) & (times + MOST <= others[-1])
    shifts = np.arange(-MOST, MOST + STEP / 2, STEP)
    alike = np.array(
        [
            np.corrcoef(values[inside], np.interp(times[inside] - shift, others, theirs))[0, 1]
            for shift in shifts
        ]
    )
    if not alike.max() >= LEAST:
        raise ValueError(f"the series are not alike: they correlate by {alike.max():.2f} at best")
    return float(shifts[alike >= alike.max() - AS_GOOD].mean())
