# SPDX-License-Identifier: MIT
"""Windows in which a body is repeated, long enough for an energy counter to see what it takes.

The launch keeps the device busy and says when; the runner has read the counter meanwhile.
"""

from collections.abc import Callable
from time import monotonic

LEAD = 0.1
"""Seconds before a window, in which the power becomes steady."""
WINDOW = 1.4
"""Seconds of a window."""
SECONDS = LEAD + WINDOW


def keep_busy(
    sample: Callable[[int], object],
    iterations: int,
    lead: float = LEAD,
    window: float = WINDOW,
) -> tuple[float, float, int]:
    """Repeat a body; return when the window began and ended, and how many calls it saw.

    sample : calls the body so many times, and waits until all is done
    """

    def until(end: float) -> int:
        calls = 0
        while monotonic() < end:
            sample(iterations)
            calls += iterations
        return calls

    until(monotonic() + lead)
    begun = monotonic()
    calls = until(begun + window)
    return begun, monotonic(), calls
