# SPDX-License-Identifier: MIT
"""Lines are found where times lie on one, and only there."""

from collections.abc import Callable
from random import Random

import pandas as pd
import pytest

from frobench.reports.findings.fit import fit
from frobench.reports.findings.select import Curve, NotMeasuredError

SIZES = [4.0, 4.0**5, 4.0**7, 4.0**9, 4.0**11, 4.0**13]
LATENCY, RATE = 20e-6, 10e9


def exact(size: float) -> float:
    return LATENCY + size / RATE


def curve(*launches: Callable[[float], float], sizes: list[float] = SIZES) -> Curve:
    """Build the times of some launches."""
    rows = [[seconds(size) for size in sizes] for seconds in launches]
    return Curve.of(pd.DataFrame(rows, columns=sizes), dict.fromkeys(sizes, ("a case",)))


def test_a_line_is_found_exactly_in_each_launch() -> None:
    line = fit(curve(exact, lambda size: 2 * exact(size)))
    assert line.latency.tolist() == pytest.approx([LATENCY, 2 * LATENCY])
    assert line.rate.tolist() == pytest.approx([RATE, RATE / 2])
    assert line.half.tolist() == pytest.approx([LATENCY * RATE] * 2)
    half = LATENCY * RATE
    assert half / exact(half) == pytest.approx(RATE / 2)


def test_noise_moves_a_line_by_no_more_than_itself() -> None:
    chance = Random(1)  # noqa: S311 - no secret
    line = fit(curve(*[lambda size: exact(size) * chance.gauss(1, 0.03)] * 100))
    assert line.latency.median() == pytest.approx(LATENCY, rel=0.01)
    assert line.rate.median() == pytest.approx(RATE, rel=0.01)
    assert line.latency.std() < 0.03 * LATENCY
    assert line.rate.std() < 0.03 * RATE


def test_large_sizes_do_not_drown_the_latency() -> None:
    line = fit(curve(lambda size: exact(size) * (1.1 if size == SIZES[-1] else 1.0)))
    assert line.latency[0] == pytest.approx(LATENCY, rel=0.03)


def test_a_launch_that_was_disturbed_does_not_hide_the_line_of_the_others() -> None:
    def disturbed(size: float) -> float:
        return exact(size) * (3.0 if size == SIZES[3] else 1.0)

    line = fit(curve(*[exact] * 4, disturbed))
    assert line.rate.median() == pytest.approx(RATE)


@pytest.mark.parametrize(
    "seconds",
    [
        lambda size: exact(size) if size < 4**11 else 4 * exact(size),  # a cache is left
        lambda size: LATENCY * (size / 4) ** 0.5,
        lambda size: LATENCY - size / RATE / 1e4,
        lambda size: max(size - 3.9, 0.1) / RATE,
    ],
    ids=["two slopes", "a bend", "falling", "a latency below nothing"],
)
def test_what_is_no_line_is_not_taken_for_one(seconds: Callable[[float], float]) -> None:
    with pytest.raises(NotMeasuredError, match="no single line"):
        fit(curve(*[seconds] * 3))


def test_two_sizes_are_not_enough_to_see_a_line() -> None:
    with pytest.raises(NotMeasuredError, match="three sizes"):
        fit(curve(exact, sizes=SIZES[:2]))
