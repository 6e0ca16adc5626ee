# SPDX-License-Identifier: MIT
"""What a benchmark can change for its whole process, and must leave as it found it."""

import math
import sys
import time

from suite import devices

CLOCKS = ("monotonic", "perf_counter", "sleep")
LIMITS = ("AS", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC")
"""Limits of the system without which the harness cannot write, start or finish what comes next."""


class ProcessState:
    """The settings, clocks and limits of this process when the object is made."""

    def __init__(self) -> None:
        self._settings = devices.global_state()
        self._clocks = {name: getattr(time, name) for name in CLOCKS}
        self._limits = _limits()

    def changes(self) -> list[str]:
        """Name what is different now, where a limit may have been raised."""
        settings, limits = devices.global_state(), _limits()
        return [
            *(name for name, value in self._settings.items() if settings[name] != value),
            *(f"time.{name}" for name in CLOCKS if getattr(time, name) is not self._clocks[name]),
            *(name for name, value in self._limits.items() if limits[name] < value),
        ]


def _limits() -> dict[str, float]:
    """Return the limits that hold, by the system's names."""
    if sys.platform == "win32":
        return {}
    import resource  # noqa: PLC0415 - not everywhere

    limits = {}
    for name in (f"RLIMIT_{name}" for name in LIMITS):
        if hasattr(resource, name):
            limit, _ = resource.getrlimit(getattr(resource, name))
            limits[name] = math.inf if limit == resource.RLIM_INFINITY else limit
    return limits
