# SPDX-License-Identifier: MIT
"""The time of a case as ratios take it: one launch gone astray does not move it far."""

import math
from itertools import combinations_with_replacement
from statistics import median

import numpy as np
import pytest

from frobench.reports.table.launches import STEP, log_centres

LAUNCHES = [1e-3, 1.01e-3, 0.99e-3, 1.02e-3, 1e-3, 0.98e-3, 1.03e-3, 1.01e-3]


def pseudomedian(seconds: list[float]) -> float:
    logs = map(math.log, seconds)
    return median((a + b) / 2 for a, b in combinations_with_replacement(logs, 2))


def test_a_case_s_time_is_the_pseudomedian_of_its_launches_in_whole_steps() -> None:
    rows = [LAUNCHES, [*LAUNCHES[:5], *[math.nan] * 3], [math.nan] * 8]
    full, few, none = log_centres(np.array(rows)).tolist()
    assert full == round(pseudomedian(LAUNCHES) / STEP) * STEP
    assert few == round(pseudomedian(LAUNCHES[:5]) / STEP) * STEP
    assert math.isnan(none)


def test_a_launch_gone_astray_moves_little() -> None:
    astray = [*LAUNCHES[:3], 100 * LAUNCHES[3], *LAUNCHES[4:]]
    centres = log_centres(np.array([LAUNCHES, astray]))
    assert centres[1] == pytest.approx(centres[0], abs=0.011)
