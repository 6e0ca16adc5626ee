# SPDX-License-Identifier: MIT
"""What else used the processor while a launch ran."""

import math
import os
from time import monotonic

import psutil

from suite.limits import affinity

NOT_BUSY = ("idle", "iowait", "guest", "guest_nice")
"""Times of a core in which it did nothing, or that another of its times contains."""


class Others:
    """Counts the time of the usable cores that neither this process nor its children used.

    Time that a hypervisor gave to another guest ("steal") counts too.
    """

    def __init__(self) -> None:
        self._begun = monotonic()
        self._busy, self._own = _busy_seconds(), _own_seconds()

    def cores(self) -> float:
        """Return how many cores others kept busy on average since this object was made."""
        seconds = monotonic() - self._begun
        others = (_busy_seconds() - self._busy) - (_own_seconds() - self._own)
        return max(0.0, others) / seconds if seconds > 0 else 0.0


def _busy_seconds() -> float:
    """Return the seconds that the usable cores have been busy, whoever used them."""
    times, usable = psutil.cpu_times(percpu=True), affinity()
    return math.fsum(
        seconds
        for number in usable
        if number < len(times)
        for name, seconds in times[number]._asdict().items()
        if name not in NOT_BUSY
    )


def _own_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
