# SPDX-License-Identifier: MIT
"""How busy other programs keep the processor right now."""

import time
from contextlib import suppress
from typing import Any, NamedTuple

import psutil

from suite.machine.limits import affinity

MOMENT = 0.2
"""Seconds that are looked at, at least: twenty ticks of the kernel's accounts."""


class Accounts(NamedTuple):
    """CPU seconds of everybody on the cores, and of this process and all that it started."""

    at: float
    everybody: float
    own: float


class Others:
    """Watches the cores that this process may use, from its making on."""

    def __init__(self) -> None:
        self._cores = affinity()
        self._begun = self._read()

    def used(self) -> float | None:
        """Return the cores' worth of time that others took; `None` where nobody accounts for it."""
        if self._begun is None:
            return None
        time.sleep(max(0.0, MOMENT - (time.monotonic() - self._begun.at)))
        now = self._read()
        if now is None:
            return None
        taken = now.everybody - self._begun.everybody - (now.own - self._begun.own)
        return max(0.0, taken / (now.at - self._begun.at))

    def _read(self) -> Accounts | None:
        with suppress(OSError, IndexError, psutil.Error):
            own = _own()
            cores: list[Any] = psutil.cpu_times(percpu=True)
            return Accounts(time.monotonic(), sum(_busy(cores[core]) for core in self._cores), own)
        return None


def _busy(core: Any) -> float:  # noqa: ANN401 - its fields are those of the system
    """Return the seconds in which a core was at work; those of a guest are in the user's too."""
    idle = core.idle + getattr(core, "iowait", 0.0)
    twice = getattr(core, "guest", 0.0) + getattr(core, "guest_nice", 0.0)
    return float(sum(core) - idle - twice)


def _own() -> float:
    """Return the CPU seconds of this process, of what it runs, and of what has ended of that."""
    this = psutil.Process()
    total = 0.0
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):  # it has just ended
            total += sum(process.cpu_times()[:4])
    return total
