# SPDX-License-Identifier: MIT
"""What a case may change for its whole process: settings, clocks, limits, signals and threads."""

import resource
import signal
import threading
import time
from contextlib import suppress

from frobench.suite.kit.device import global_state

LIMITS = ("AS", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC")
"""Limits of the system without which the harness cannot write, start or finish what comes next."""
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
BUSY_WINDOW, BUSY = 0.02, 0.1
"""Seconds for which threads that a case left are watched, and the part of it that each may work."""


class ProcessState:
    """The settings, clocks, limits, signals and threads of this process when this is made."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._settings = _settings()
        self._still = [timer for timer in TIMERS if signal.getitimer(timer)[0] == 0]
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
        """Name what is different now."""
        settings, left = _settings(), set(threading.enumerate()) - self._threads
        changed = [name for name, value in self._settings.items() if settings[name] != value]
        return changed + ["a thread still at work"] * any(map(_is_busy, left))


def _settings() -> dict[str, object]:
    clocks = {f"time.{name}": getattr(time, name) for name in ("monotonic", "perf_counter")}
    kinds = {f"RLIMIT_{name}": getattr(resource, f"RLIMIT_{name}", None) for name in LIMITS}
    limits = {name: resource.getrlimit(kind) for name, kind in kinds.items() if kind is not None}
    return {**global_state(), **clocks, **limits}


def _is_busy(thread: threading.Thread) -> bool:
    with suppress(AttributeError, OSError, TypeError):  # it has ended, or the system cannot tell
        clock = time.pthread_getcpuclockid(thread.ident)  # type: ignore[arg-type] # none: ended
        before = time.clock_gettime(clock)
        time.sleep(BUSY_WINDOW)
        return time.clock_gettime(clock) - before > BUSY * BUSY_WINDOW
    return False
