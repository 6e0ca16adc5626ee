# SPDX-License-Identifier: MIT
"""The smallest step of a clock."""

import pytest

from frobench.suite.errors import ClockError
from frobench.suite.measure.timed_loop import timer_step
from tests.instruments.devices.virtual import VirtualClock


def test_the_timers_step_is_the_smallest_that_readings_show() -> None:
    assert timer_step(VirtualClock(step=1e-6, cost=0.3e-6)) == pytest.approx(1e-6)


def test_a_clock_that_stands_still_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frobench.suite.measure.timed_loop.MOST_READINGS", 1000)
    with pytest.raises(ClockError, match="stands still"):
        timer_step(lambda: 1.0)
