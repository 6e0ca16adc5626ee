# SPDX-License-Identifier: MIT
"""What the tests on a GPU reckon with, shown right and able to fail where there is no GPU."""

import random

import pytest

from frobench.suite.machine.vendors.nvidia import REASONS
from tests.gpu import smi
from tests.gpu.series import Series, lag


def power(at: float) -> float:
    """Return the watts of a GPU that works for a second and rests for one, as meters average."""
    return 100 + 500 * abs(at % 2 - 1)


def read(seconds: float, period: float, late: float = 0.0) -> Series:
    """Read the power again and again, at moments that are stamped too late."""
    chance = random.Random(1)  # noqa: S311 - no secret
    moments = [period * (number + 0.5 * chance.random()) for number in range(int(seconds / period))]
    return [(at + late, power(at)) for at in moments]


@pytest.mark.parametrize("late", [0.0, 0.04, 0.1, -0.3])
@pytest.mark.parametrize("period", [0.1, 0.3])
def test_the_seconds_by_which_readings_are_stamped_too_late_are_found(
    late: float, period: float
) -> None:
    assert lag(read(9, period, late), read(10, 0.05)) == pytest.approx(late, abs=0.015)


def test_where_a_value_stands_still_between_updates_the_middle_is_taken() -> None:
    early = [(number / 1000, power(number // 100 / 10)) for number in range(10_000)]
    late = [(0.1 * number + 0.05 + 0.2, power(0.1 * number)) for number in range(90)]
    assert lag(late, early) == pytest.approx(0.2, abs=0.01)


def test_series_that_are_not_alike_are_no_proof() -> None:
    chance = random.Random(2)  # noqa: S311 - no secret
    noise = [(at, chance.random()) for at, _ in read(9, 0.1)]
    with pytest.raises(ValueError, match="not alike"):
        lag(noise, read(10, 0.05))


def test_the_commands_lines_are_read_and_half_a_line_is_left() -> None:
    text = "2026/11/20 18:04:49.123, 76.25\n2026/11/20 18:04:49.173, 680.5\n2026/11/20 18:0"
    seen = [(round(at, 3), watts) for at, watts in smi.parse(text)]
    assert seen == [(1795197889.123, 76.25), (1795197889.173, 680.5)]


def test_the_commands_reasons_are_the_drivers() -> None:
    assert set(smi.REASONS.values()) <= set(REASONS.values())
