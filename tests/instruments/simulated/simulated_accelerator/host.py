# SPDX-License-Identifier: MIT
"""The host's side of the clock: what a launch and a wait cost the calling thread.

Every cost is waited out to the exact moment. When the machine gets in the way (the thread
was preempted), the delay becomes a debt that
the following launches repay by waiting less, so that a sequence of launches takes its true
time. A synchronisation ends with no debt, that of all threads: or one that only launches would
begin its next sequence early.
"""

import select
import threading
from time import perf_counter, sleep

from .tape import Tape

_SPIN = 1.5e-3
"""Seconds before a moment from which sleeping would be too coarse."""

_NAP = 60.0
"""Longest sleep at once; a device that hangs is waited for in naps."""


class Host(threading.local):
    """The calling thread's account, in seconds.

    overhead : what a call costs outside of the simulation's own code; the same for all threads
    settled : synchronisations of all threads
    """

    overhead = 0.0
    settled = 0
    _debt, _when = 0.0, 0

    @property
    def debt(self) -> float:
        """How much the thread is behind its simulated time."""
        return self._debt if self._when == Host.settled else 0.0

    def now(self) -> float:
        """Return the simulated moment of the calling thread."""
        return perf_counter() - self.debt

    def begin(self) -> float:
        """Return the simulated moment at which the caller's call began."""
        return perf_counter() - self.debt - Host.overhead

    def spend(self, begin: float, seconds: float) -> None:
        """Wait until ``seconds`` after ``begin``."""
        moment = begin + seconds
        tape.forget()
        wait_until(moment)
        self._debt, self._when = max(0.0, perf_counter() - moment), Host.settled

    def settle(self, moment: float) -> None:
        """Wait until ``moment`` and forget the debts of all threads."""
        tape.forget()
        wait_until(moment)
        Host.settled += 1


def wait_until(moment: float) -> None:
    """Return at ``moment`` of `perf_counter`, never earlier; other threads may run meanwhile."""
    while (left := moment - perf_counter()) > _SPIN:
        sleep(min(left - _SPIN, _NAP))
    while perf_counter() < moment:
        select.select((), (), (), 0)  # gives up the interpreter's lock; sleep(0) takes 75 us


tape = Tape()
"""What is yet to be computed in this process."""

host = Host()
"""The account of whichever thread asks."""
