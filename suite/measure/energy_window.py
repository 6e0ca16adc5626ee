# SPDX-License-Identifier: MIT
"""Windows in which a body is repeated for seconds: for its energy, and for the rate it sustains.

The launch keeps the device busy and says when; the runner has read the energy counter meanwhile. A
chip that its power limits is slower here than in single calls after a rest.
"""

import math
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from suite.measure.clocks import Clock

if TYPE_CHECKING:
    from suite.measure.sampler import Sampler

LEAD = 0.25
"""Seconds before a window, in which the power, and the clock that it limits, become steady."""
WINDOW = 2.0
"""Seconds of a window."""
SECONDS = LEAD + WINDOW
AT_ONCE = 0.1
"""Seconds of calls that are queued together, so that the device does not wait between two."""


class Window(NamedTuple):
    """When a window began and ended by the monotonic clock, its calls, and their seconds."""

    begun: float
    ended: float
    calls: int
    seconds: float


def repeat(sampler: "Sampler") -> tuple[Window, Any]:
    """Keep a body busy for a window; return it, and what the last call returned."""
    result = None

    def sample(iterations: int) -> None:
        nonlocal result
        *_, result = sampler.host(iterations)

    sampler.took()  # the first call pays for what later ones do not
    return keep_busy(sample, sampler.took(), sampler.clock), result


def keep_busy(
    sample: Callable[[int], object],
    call: float,
    clock: Clock = monotonic,
    lead: float = LEAD,
    window: float = WINDOW,
) -> Window:
    """Repeat a body without a pause.

    sample : calls the body so many times, and waits until all is done
    call : seconds that a call takes, about
    """
    iterations = max(1, math.ceil(AT_ONCE / call))

    def until(end: float) -> int:
        calls = 0
        while clock() < end:
            sample(iterations)
            calls += iterations
        return calls

    until(clock() + lead)
    begun, at = monotonic(), clock()
    calls = until(at + window)
    return Window(begun, monotonic(), calls, clock() - at)
