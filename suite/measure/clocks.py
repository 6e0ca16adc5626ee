# SPDX-License-Identifier: MIT
"""The clock's smallest step, and how often a body is called before its time can be told."""

import math
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter

from suite.errors import ClockError

Clock = Callable[[], float]

STEPS_SEEN = 100
MOST_READINGS = 10**7
"""Readings without a step after which a clock stands still: half a second's worth."""
STEADY = 0.97
"""Warm-up ends when the last calls and those before them took the same time but for the rest of
this part: a device that warms up becomes faster, one that meets its power limit slower."""
WINDOW = 5
"""Calls whose medians are compared to see whether the body has become steady."""


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


def warm_up(took: Callable[[], float], seconds: float, clock: Clock) -> float:
    """Call the body until it is steady or the time is over; return the seconds of a call.

    seconds : that all calls but the first may take, with what comes before each
    """
    took()  # the first call pays for handles, workspaces and autotuning
    begun, times = clock(), [took()]
    while clock() - begun < seconds and not _is_steady(times):
        times.append(took())
    return statistics.median(times[-WINDOW:])


def calls_that_take(wanted: float, least: float, took: Callable[[int], float]) -> int:
    """Return how many calls in a row take the seconds wanted.

    least : shortest time, in seconds, that the clock tells well
    took : makes so many calls and returns their seconds
    """
    iterations = 1
    while True:
        seconds = took(iterations)
        if seconds >= least:
            return max(1, math.ceil(iterations * wanted / seconds))
        iterations *= 2 if seconds <= 0 else min(10, math.ceil(1.2 * least / seconds))


def _is_steady(times: Sequence[float]) -> bool:
    if len(times) < 2 * WINDOW:
        return False
    last, previous = map(statistics.median, (times[-WINDOW:], times[-2 * WINDOW : -WINDOW]))
    return STEADY * previous <= last and STEADY * last <= previous
