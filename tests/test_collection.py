# SPDX-License-Identifier: MIT
"""Which devices, and groups of them, a benchmark gets by the name of its argument."""

import pytest

from suite.collection import group_sizes


@pytest.mark.parametrize(
    ("accelerators", "few", "all_sizes"),
    [
        (0, [], []),
        (1, [], []),
        (2, [2], [2]),
        (3, [2, 3], [2, 3]),
        (4, [2, 4], [2, 4]),
        (6, [2, 6], [2, 4, 6]),
        (8, [2, 8], [2, 4, 8]),
        (9, [2, 9], [2, 4, 8, 9]),
    ],
)
def test_groups_are_of_two_and_all_and_where_there_is_time_of_the_powers_between(
    accelerators: int, few: list[int], all_sizes: list[int]
) -> None:
    assert group_sizes(accelerators, "quick") == group_sizes(accelerators, "standard") == few
    assert group_sizes(accelerators, "rigorous") == all_sizes
