# SPDX-License-Identifier: MIT
"""Overlap is a fact about intervals on one clock."""

import pytest

from suite.lanes import overlap


@pytest.mark.parametrize(
    ("intervals", "fraction"),
    [
        ([(0.0, 1.0), (0.0, 1.0)], 1.0),
        ([(0.0, 1.0), (1.0, 2.0)], 0.0),
        ([(0.0, 1.0), (5.0, 6.0)], 0.0),
        ([(0.0, 2.0), (1.0, 3.0)], 0.5),
        ([(0.0, 9.0), (4.0, 5.0)], 1.0),
        ([(0.0, 4.0), (1.0, 3.0), (2.0, 6.0)], 0.5),
        ([(0.0, 0.0), (0.0, 1.0)], 0.0),
    ],
)
def test_overlap_is_the_share_of_the_shortest_in_which_all_ran(
    intervals: list[tuple[float, float]], fraction: float
) -> None:
    assert overlap(intervals) == pytest.approx(fraction)
