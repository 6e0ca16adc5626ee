# SPDX-License-Identifier: MIT
"""A host that is as virtual as the devices: its clock knows no machine that gets in the way.

With `spec.Spec.virtual` the clock that programs read moves on by the simulation's costs and by
a step for every such reading, and by nothing else. What a program measures is then the same on a
busy machine as on a quiet one, and a second of waiting takes no time. Python's own work is
free, so nothing can be said of the CPU; nor of several threads or processes, each of which
would need a clock of its own.
"""

import math
import threading
import time

STEP = 50e-9
"""Seconds that a reading takes."""


class _Clock:
    now = 0.0


def perf_counter() -> float:
    """Return the moment in seconds, as `time.perf_counter` does."""
    _Clock.now += STEP
    return _Clock.now


def now() -> float:
    """Return the moment without taking time."""
    return _Clock.now


def wait_until(moment: float) -> None:
    """Make it ``moment``; what never comes is waited for in earnest."""
    if moment == math.inf:
        threading.Event().wait()
    _Clock.now = max(_Clock.now, moment)


def install() -> None:
    """Let the clock be this one for all who import `time.perf_counter` from now on."""
    time.perf_counter = now
    # Not at the top: it imports the clock, and its own readings take no time.
    from . import host  # noqa: PLC0415

    time.perf_counter = perf_counter
    host.wait_until = wait_until
