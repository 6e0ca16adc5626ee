# SPDX-License-Identifier: MIT
"""What a clock is, and the smallest step that it tells."""

from collections.abc import Callable
from time import perf_counter

from suite.errors import ClockError

Clock = Callable[[], float]

STEPS_SEEN = 100
MOST_READINGS = 10**7
"""Readings of a clock without a step after which it stands still: half a second's worth."""


def timer_step(clock: Clock = perf_counter) -> float:
    """Return the smallest step, in seconds, between successive readings that differ.

    Raises `ClockError` if the clock stands still.
    """
    return min(_step(clock) for _ in range(STEPS_SEEN))


def _step(clock: Clock) -> float:
    before = clock()
    for _ in range(MOST_READINGS):
        if (now := clock()) > before:
            return now - before
    raise ClockError("the clock stands still")
