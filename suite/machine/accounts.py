# SPDX-License-Identifier: MIT
"""The processor time that a call got, what it had to wait for, and what other programs took.

A program that competes for the processor makes a call take longer and changes neither. Linux
keeps both accounts for each thread; elsewhere there are none, and only the wall clock is known.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import active_children
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from suite.machine.limits import ROOT, affinity, read

NANO = 1e-9
TICK = 0.01
"""Longest time for which a thread runs before Linux adds that to its account, in seconds. What a
shorter call ran may be seen as nothing."""
DISTURBED = 0.1
"""Waiting for the processor, as a part of the time, above which other programs disturb."""
MOMENT = 0.2
"""Seconds for which other programs are watched, at least: twenty ticks of the kernel's accounts."""


class Accounts(NamedTuple):
    """Seconds of all threads of this process and of its workers, since each began.

    ran : on a processor
    waited : ready to run, while the processor was given to others
    """

    ran: float
    waited: float

    def since(self, before: "Accounts") -> "Accounts":
        """Return what was added since; less is told where threads have ended meanwhile."""
        return Accounts(max(0.0, self.ran - before.ran), max(0.0, self.waited - before.waited))


Read = Callable[[], Accounts | None]


def accounts(root: Path = ROOT) -> Accounts | None:
    """Return what the system has accounted so far; `None` where it keeps no such accounts."""
    threads = list(_threads(root))
    if not threads:
        return None
    return Accounts(*(NANO * sum(column) for column in zip(*threads, strict=True)))


def undisturbed(
    seconds: float, before: Accounts | None, after: Accounts | None, cores: int
) -> float:
    """Return the least seconds that a call would have taken had it not waited for the processor.

    Threads may wait at the same time, so what they waited is taken off only as far as the time
    that they ran leaves: on this many cores it takes at least its share. So the time of a call that
    is too short for the accounts stays as it is, and none becomes 0, by which any larger size would
    be predicted to take no time.
    """
    if before is None or after is None:
        return seconds
    ran, waited = after.since(before)
    return max(0.0, seconds - waited, min(seconds, (ran + TICK) / cores))


def _threads(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the nanoseconds that each thread ran and waited."""
    workers = [worker.pid for worker in active_children() if worker.pid is not None]
    for process in (os.getpid(), *workers):
        with suppress(OSError):  # a worker may end meanwhile
            for thread in (root / f"proc/{process}/task").iterdir():
                ran, waited, *_ = [*read(thread / "schedstat").split(), "", ""]
                if ran.isdigit() and waited.isdigit():
                    yield int(ran), int(waited)


class Busy(NamedTuple):
    """CPU seconds of everybody on some cores, and of this process and all that it started."""

    at: float
    everybody: float
    own: float


class Others:
    """Watches how busy other programs keep the cores that this process may use."""

    def __init__(self) -> None:
        self._cores = affinity()
        self._begun = self._read()

    def used(self) -> float | None:
        """Return the cores' worth of time that others took since this was made, if it is known."""
        if self._begun is None:
            return None
        time.sleep(max(0.0, MOMENT - (time.monotonic() - self._begun.at)))
        now = self._read()
        if now is None:
            return None
        taken = now.everybody - self._begun.everybody - (now.own - self._begun.own)
        return max(0.0, taken / (now.at - self._begun.at))

    def _read(self) -> Busy | None:
        with suppress(OSError, IndexError, psutil.Error):
            own = _own_seconds()
            cores: list[Any] = psutil.cpu_times(percpu=True)
            return Busy(time.monotonic(), sum(_seconds(cores[core]) for core in self._cores), own)
        return None


def _seconds(core: Any) -> float:  # noqa: ANN401 - its fields are those of the system
    """Return the seconds in which a core was at work; those of a guest are in the user's too."""
    idle = core.idle + getattr(core, "iowait", 0.0)
    twice = getattr(core, "guest", 0.0) + getattr(core, "guest_nice", 0.0)
    return float(sum(core) - idle - twice)


def _own_seconds() -> float:
    """Return the CPU seconds of this process, of what it runs, and of what has ended of that."""
    this = psutil.Process()
    total = 0.0
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):  # it has just ended
            total += sum(process.cpu_times()[:4])
    return total
