# SPDX-License-Identifier: MIT
"""Windows in which a body is repeated for seconds: for its energy, and for the rate it sustains.

The runner reads the energy counter meanwhile. A chip that its power limits is slower here than in
single calls after a rest.
"""

import math
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

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
    """Repeat a body without a pause for a window; return it, and what the last call returned."""
    result = None
    sampler.took()  # the first call pays for what later ones do not
    iterations = max(1, math.ceil(AT_ONCE / sampler.took()))

    def calls_until(end: float) -> int:
        nonlocal result
        calls = 0
        while sampler.clock() < end:
            *_, result = sampler.host(iterations)
            calls += iterations
        return calls

    calls_until(sampler.clock() + LEAD)
    begun, start = monotonic(), sampler.clock()
    calls = calls_until(start + WINDOW)
    return Window(begun, monotonic(), calls, sampler.clock() - start), result
