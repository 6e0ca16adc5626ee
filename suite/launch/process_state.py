# SPDX-License-Identifier: MIT
"""What a benchmark can change for its whole process, and must leave as it found it."""

import math
import sys
import threading
import time

from suite.kit import device
from suite.units import counted

CLOCKS = ("monotonic", "perf_counter", "sleep")
LIMITS = ("AS", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC")
"""Limits of the system without which the harness cannot write, start or finish what comes next."""
BUSY_WINDOW, BUSY = 0.02, 0.1
"""Seconds for which threads that a case left are watched, and the part of it that each may work."""


class ProcessState:
    """The settings, clocks, limits and threads of this process when the object is made."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._settings = _settings()
        self._limits = _limits()

    def changes(self) -> list[str]:
        """Name what is different now, where a limit may have been raised."""
        settings, limits = _settings(), _limits()
        return [
            *(name for name, value in self._settings.items() if settings[name] != value),
            *(name for name, value in self._limits.items() if limits[name] < value),
            *_busy(set(threading.enumerate()) - self._threads),
        ]


def _settings() -> dict[str, object]:
    return {**device.global_state(), **{f"time.{name}": getattr(time, name) for name in CLOCKS}}


def _limits() -> dict[str, float]:
    if sys.platform == "win32":
        return {}
    import resource  # noqa: PLC0415 - not everywhere

    limits = {}
    for name in (f"RLIMIT_{name}" for name in LIMITS):
        if hasattr(resource, name):
            limit, _ = resource.getrlimit(getattr(resource, name))
            limits[name] = math.inf if limit == resource.RLIM_INFINITY else limit
    return limits


def _busy(threads: set[threading.Thread]) -> list[str]:
    if not threads or not hasattr(time, "pthread_getcpuclockid"):
        return []
    before = _cpu_seconds(threads)
    time.sleep(BUSY_WINDOW)
    after = _cpu_seconds(threads)
    worked = [after[ident] - before[ident] for ident in before.keys() & after.keys()]
    busy = sum(seconds > BUSY * BUSY_WINDOW for seconds in worked)
    return [counted(busy, "thread") + " still at work"] if busy else []


def _cpu_seconds(threads: set[threading.Thread]) -> dict[int, float]:
    living = [thread.ident for thread in threads if thread.is_alive() and thread.ident]
    return {ident: time.clock_gettime(time.pthread_getcpuclockid(ident)) for ident in living}
