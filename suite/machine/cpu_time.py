# SPDX-License-Identifier: MIT
"""The processor time that a call got, what it had to wait for, and what other programs took.

Linux accounts for both the time that a thread ran and the time that it waited; elsewhere only the
wall clock is known.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import active_children
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from frobench.suite.machine.host import ROOT, affinity, read

NANO = 1e-9
TICK = 0.01
"""Seconds after which Linux accounts for a running thread; a shorter call may seem to run 0 s."""
DISTURBED = 0.1
"""Part of the time that a call waits for the processor, above which other programs disturb."""
MOMENT = 0.2
"""Seconds for which other programs are watched, at least: twenty ticks."""


class Accounts(NamedTuple):
    """Seconds of all threads of this process and of its workers, since each began.

    ran : on a processor
    waited : ready to run, while the processor was given to others
    """

    ran: float
    waited: float

    def since(self, before: "Accounts") -> "Accounts":
        """Return what was added since, without threads that have ended."""
        return Accounts(max(0.0, self.ran - before.ran), max(0.0, self.waited - before.waited))


Read = Callable[[], Accounts | None]


def accounts(root: Path = ROOT) -> Accounts | None:
    """Return what the system has accounted so far; `None` where it keeps no such accounts."""
    totals = [NANO * sum(column) for column in zip(*_threads(root), strict=True)]
    return Accounts(*totals) if totals else None


def undisturbed(
    seconds: float, before: Accounts | None, after: Accounts | None, cores: int
) -> float:
    """Return the least seconds that a call would have taken had it not waited for the processor.

    Threads may wait at the same time, so no less is left than what they ran takes on the cores. A
    call that is too short for the accounts keeps its time, and none gets 0, from which a larger
    size would be predicted to take no time.
    """
    if before is None or after is None:
        return seconds
    ran, waited = after.since(before)
    return max(0.0, seconds - waited, min(seconds, (ran + TICK) / cores))


def _threads(root: Path) -> Iterator[tuple[int, int]]:
    workers = [worker.pid for worker in active_children() if worker.pid is not None]
    for process in (os.getpid(), *workers):
        with suppress(OSError):  # a worker may end meanwhile
            for thread in (root / f"proc/{process}/task").iterdir():
                ran, waited, *_ = [*read(thread / "schedstat").split(), "", ""]
                if ran.isdigit() and waited.isdigit():
                    yield int(ran), int(waited)


class Others:
    """Watches how busy other programs keep the cores that this process may use."""

    def __init__(self) -> None:
        self._cores = affinity()
        self._begun = self._read()

    def used(self) -> float | None:
        """Return the cores' worth of time that others took since construction, if known."""
        if self._begun is None:
            return None
        time.sleep(max(0.0, MOMENT - (time.monotonic() - self._begun[0])))
        now = self._read()
        if now is None:
            return None
        (begun, before), (at, taken) = self._begun, now
        return max(0.0, (taken - before) / (at - begun))

    def _read(self) -> tuple[float, float] | None:
        """Return the time, and the CPU seconds of other programs on the cores so far."""
        with suppress(OSError, IndexError, psutil.Error):
            own = _own_seconds()
            cores: list[Any] = psutil.cpu_times(percpu=True)
            every_program = sum(_seconds(cores[core]) for core in self._cores)
            return time.monotonic(), every_program - own
        return None


def _seconds(core: Any) -> float:  # noqa: ANN401 - its fields are those of the system
    # The user's seconds include those of guests.
    uncounted = ("idle", "iowait", "guest", "guest_nice")
    return float(sum(core) - sum(getattr(core, name, 0.0) for name in uncounted))


def _own_seconds() -> float:
    this = psutil.Process()
    total = 0.0
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):  # it has just ended
            total += sum(process.cpu_times()[:4])  # of its ended children too
    return total
