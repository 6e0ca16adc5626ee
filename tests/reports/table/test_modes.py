# SPDX-License-Identifier: MIT
"""Launches in two modes are named, and noise in one mode is not."""

import pytest

from frobench.reports.table.launches import Modes, two_modes

TWO = [22.2, 22.8, 39.6, 40.4, 40.8, 41.2, 43.5]
"""Seven launches of one case, microseconds."""


@pytest.mark.parametrize(
    ("by_launch", "modes"),
    [
        ([*TWO[::-1], None], Modes(22.5, 40.8)),
        ([1.0, 1.0, 1.25, 1.25], Modes(1.0, 1.25)),
        ([1.0, 2.0, 16.0, 16.0], Modes(1.5, 16.0)),  # two modes, far apart
        ([1.0, 1.0, 8.5, 16.5], Modes(1.0, 12.5)),
        ([1.0, 1.0, 1.0, 2.0, 2.2, 2.2], Modes(1.0, 2.2)),  # nearer each other
    ],
)
def test_two_groups_far_apart_are_two_modes(by_launch: list[float | None], modes: Modes) -> None:
    assert two_modes(by_launch) == modes


@pytest.mark.parametrize(
    "by_launch",
    [
        [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6],  # spread evenly
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0],  # one launch alone
        [1.0, 1.0, 1.0, 1.249, 1.249, 1.249, 1.249],  # too near
        [1.0, 2.0, 15.9, 15.9],  # beside how far those of a mode are apart
        [1.0, 1.0, 7.9, 15.9],
        [1.0, 2.0, 2.1],  # too few
        [-1.0, -1.0, 1.0, 1.0],  # no ratio between them
        [0.0, 0.0, 1.0, 1.0],
    ],
)
def test_anything_else_is_one_mode(by_launch: list[float]) -> None:
    assert two_modes(by_launch) is None


def test_two_modes_are_said_in_two_digits() -> None:
    assert Modes(22.4e-6, 40.8e-6).text("s") == "22 or 41 µs"
