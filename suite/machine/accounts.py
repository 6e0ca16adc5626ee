# SPDX-License-Identifier: MIT
"""The processor time that a call got, and what it had to wait for while others had it.

A program that competes for the processor makes a call take longer and changes neither. Linux
keeps both accounts for each thread; elsewhere there are none, and only the wall clock is known.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import active_children
from pathlib import Path
from typing import NamedTuple

from suite.machine.limits import ROOT, read

NANO = 1e-9
TICK = 0.01
"""Longest time for which a thread runs before Linux adds that to its account, in seconds. What a
shorter call ran may be seen as nothing."""
DISTURBED = 0.1
"""Waiting for the processor, as a part of the time, above which other programs disturb."""


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
    """Return the least that a call would have taken had it not waited for the processor.

    Threads may wait at the same time, so what they waited is taken off only as far as the time
    that they ran leaves: on this many cores it takes at least its share. So the time of a call that
    is too short for the accounts stays as it is, and none becomes 0, by which any larger size would
    be predicted to take no time.

    seconds : of the wall clock
    cores : that the call could use
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
