# SPDX-License-Identifier: MIT
"""The time of a case as ratios of machines take it: a pseudomedian over launches, on the log scale.

The pseudomedian is the median of the means of all pairs of launches, each launch paired with
itself too (Hodges and Lehmann's estimate), which one launch gone astray does not move far. It is
rounded to a thousandth, 0.1% of the time: so the index, which has room for two characters a time,
has the ratios of the purchase page and the terminal.
"""

import numpy as np
from numpy.typing import NDArray

STEP = 1e-3
"""To which natural logarithms of times are rounded."""

Values = NDArray[np.float64]


def log_centres(seconds: Values) -> Values:
    """Return the rounded pseudomedian of each case's logarithms.

    Parameters
    ----------
    seconds
        Cases x launches. NaN stands where a launch did not measure the case.

    Returns
    -------
    NDArray
        One for each case, of its launches with a positive time; NaN where there are none.
    """
    if not seconds.shape[1]:
        return np.full(len(seconds), np.nan)
    logs = np.log(np.where(seconds > 0, seconds, np.nan))
    first, second = np.triu_indices(seconds.shape[1])
    pairs = np.sort((logs[:, first] + logs[:, second]) / 2, axis=1)  # NaN is last
    known = np.count_nonzero(~np.isnan(pairs), axis=1)
    cases = np.arange(len(pairs))
    below, above = pairs[cases, np.maximum(known - 1, 0) // 2], pairs[cases, known // 2]
    rounded: Values = np.round((below + above) / 2 / STEP) * STEP
    return rounded
