# SPDX-License-Identifier: MIT
"""How a run hears that it is to end: by Ctrl-C, SIGTERM or a terminal that closes, often twice."""

import math
import signal
from time import monotonic
from types import FrameType
from typing import Any, Self

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_SECONDS = 5.0
"""Seconds in which a second signal is ignored, and after which the exception is raised again, since
Python ignores one that is raised inside a destructor."""


class Interruptions:
    """Turns SIGINT, SIGTERM and SIGHUP into `KeyboardInterrupt` while the context lasts.

    A SIGINT or SIGHUP that the process was started to ignore, as in the background of a script,
    stays ignored.
    """

    def __init__(self) -> None:
        self._held = False
        self._last = -math.inf
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in ENDING:
            if number == signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._interrupt)
        self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        self.hold()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def hold(self) -> None:
        """Ignore every further signal, so that what is finished can be stored."""
        self._held = True
        signal.setitimer(signal.ITIMER_REAL, 0.0)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        now = monotonic()
        if not self._held and now - self._last >= AGAIN_SECONDS:
            self._last = now
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
            raise KeyboardInterrupt
