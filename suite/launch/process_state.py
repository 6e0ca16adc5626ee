# SPDX-License-Identifier: MIT
"""What a case may change for its whole process: settings, clocks, limits, signals and threads."""

import math
import signal
import sys
import threading
import time

from frobench.suite.kit.device import global_state
from frobench.suite.units import counted

CLOCKS = ("monotonic", "perf_counter", "sleep")
LIMITS = ("AS", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC")
"""Limits of the system without which the harness cannot write, start or finish what comes next."""
TIMERS = [getattr(signal, f"ITIMER_{name}", None) for name in ("REAL", "VIRTUAL", "PROF")]
BUSY_WINDOW, BUSY = 0.02, 0.1
"""Seconds for which threads that a case left are watched, and the part of it that each may work."""


class ProcessState:
    """The settings, clocks, limits, signals and threads of this process when this is made."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._settings = _settings()
        self._limits = _limits()
        self._still = [it for it in TIMERS if it is not None and signal.getitimer(it)[0] == 0]
        self._handlers = {it: signal.getsignal(it) for it in signal.valid_signals()}

    def silence(self) -> None:
        """Stop the timers that were started, and restore the handlers of signals.

        An alarm that a case left would end the process of a later one.
        """
        for timer in self._still:
            signal.setitimer(timer, 0)
        for number, handler in self._handlers.items():
            if handler is not None and signal.getsignal(number) != handler:
                signal.signal(number, handler)

    def changes(self) -> list[str]:
        """Name what is different now, where a limit may have been raised."""
        settings, limits = _settings(), _limits()
        return [
            *(name for name, value in self._settings.items() if settings[name] != value),
            *(name for name, value in self._limits.items() if limits[name] < value),
            *_busy(set(threading.enumerate()) - self._threads),
        ]


def _settings() -> dict[str, object]:
    return {**global_state(), **{f"time.{name}": getattr(time, name) for name in CLOCKS}}


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
