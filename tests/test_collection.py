# SPDX-License-Identifier: MIT
"""Which devices, and groups of them, a benchmark gets by the name of its argument."""

import pytest

from suite.collection import group_sizes


@pytest.mark.parametrize(
    ("accelerators", "sizes"),
    [
        (0, []),
        (1, []),
        (2, [2]),
        (3, [2, 3]),
        (4, [2, 4]),
        (6, [2, 4, 6]),
        (8, [2, 4, 8]),
        (9, [2, 4, 8, 9]),
    ],
)
def test_groups_are_of_two_four_eight_and_all(accelerators: int, sizes: list[int]) -> None:
    assert group_sizes(accelerators) == sizes
