# SPDX-License-Identifier: MIT
"""Work shared by several processes, where there is enough of it to be worth starting them."""

import gc
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import current_process, get_context
from typing import TypeVar

J = TypeVar("J")
R = TypeVar("R")
FEW = 8
"""Jobs from which on others are started: that takes as long as two or three pages."""
MOST = 8
"""Processes at most: each takes 200 MB."""
SAFE_PATH = "PYTHONSAFEPATH"
"""The variable that keeps Python from importing modules of the current folder."""
SELDOM, FEW_PAGES = 100_000, 1_000_000
"""Objects between two searches for cycles; a run has thousands of lists, and none in a cycle, but
every page leaves its picture in one."""


class Workers(AbstractContextManager["Workers"]):
    """Processes that are started with the first work that needs them, and end with the block.

    processes : how many; by default as many as there are cores, up to `MOST`
    """

    def __init__(self, processes: int | None = None) -> None:
        alone = current_process().daemon  # such a process may start no other
        self.processes = 1 if alone else processes or min(cores(), MOST)
        self._pool: ProcessPoolExecutor | None = None

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, work: Callable[[J], R], jobs: Sequence[J]) -> Iterable[R]:
        """Return what a function of a module makes of each job, in their order."""
        if self._pool is None and len(jobs) < FEW:
            return map(work, jobs)
        if self.processes == 1:
            collect_seldom()
            return map(work, jobs)
        if self._pool:
            return self._pool.map(work, jobs)
        # Those that start now leave interruptions, and modules in the current folder, alone.
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        before = os.environ.get(SAFE_PATH, "")
        os.environ[SAFE_PATH] = "1"
        try:
            self._pool = ProcessPoolExecutor(self.processes, get_context("spawn"), collect_seldom)
            return self._pool.map(work, jobs)
        finally:
            os.environ[SAFE_PATH] = before  # as good as unset where it is empty
            signal.signal(signal.SIGINT, handler)


def collect_seldom(objects: int = SELDOM) -> None:
    """Let this process look for cycles of objects seldom: that takes a tenth of its time."""
    gc.set_threshold(objects)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
