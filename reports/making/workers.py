# SPDX-License-Identifier: MIT
"""Work shared by several processes, where there is enough of it to be worth starting them."""

import gc
import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, suppress
from multiprocessing import current_process, get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from typing import TypeVar

from frobench.suite.checkout import CHECKOUT

J = TypeVar("J")
R = TypeVar("R")
FEW = 8
"""Jobs from which on others are started: that takes as long as two or three pages."""
MOST = 8
"""Processes at most: each takes 200 MB."""
LARGEST_SHARE = 8
"""Jobs handed to a process at once, at most."""
LONGEST_FOLDER = 70
"""Bytes of the name of the folder for temporary files, in which a clean process can have its
socket: the name of a socket has 103 bytes at most, of which its own part takes 32."""
FORKSERVER = "forkserver"
SELDOM, FEW_PAGES = 100_000, 1_000_000
"""Objects between two searches for cycles; a run has thousands of lists, and none in a cycle, but
every page leaves its picture in one."""


class Workers(AbstractContextManager["Workers"]):
    """Processes that are started with the first work that needs them, and end with the block.

    processes : how many; by default as many as there are cores, up to `MOST`
    early : import what they need at once, beside this process, so that even one job is worth them
    """

    def __init__(self, processes: int | None = None, *, early: bool = False) -> None:
        alone = current_process().daemon  # such a process may start no other
        self.processes = 1 if alone else processes or min(cores(), MOST)
        self._pool: ProcessPoolExecutor | None = None
        self._few = FEW
        if early and self.processes > 1:
            with suppress(OSError):  # no folder for temporary files
                self._few = 1 if _context().get_start_method() == FORKSERVER else FEW

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, work: Callable[[J], R], jobs: Sequence[J]) -> Iterable[R]:
        """Return what a function of a module makes of each job, in their order."""
        if self._pool is None and len(jobs) < self._few:
            return map(work, jobs)
        if self.processes == 1:
            collect_seldom()
            return map(work, jobs)
        self._pool = self._pool or ProcessPoolExecutor(self.processes, _context(), collect_seldom)
        share = max(1, min(LARGEST_SHARE, len(jobs) // (4 * self.processes)))
        return self._pool.map(work, jobs, chunksize=share)


def collect_seldom(objects: int = SELDOM) -> None:
    """Let this process look for cycles of objects seldom: that takes a tenth of its time."""
    gc.set_threshold(objects)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start() -> None:
    """Start the process that others are copied from, with this code and not that of the folder.

    An interruption is for this process to handle.
    """
    from multiprocessing import forkserver  # noqa: PLC0415 - not on every system

    paths = filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")])
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    before = dict(os.environ)
    os.environ |= {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(paths)}
    try:
        forkserver.ensure_running()
    finally:
        signal.signal(signal.SIGINT, handler)
        os.environ.clear()
        os.environ |= before


def _context() -> BaseContext:
    """Start processes from a clean one that has imported everything, where the system can."""
    folder = os.fsencode(tempfile.gettempdir())
    if FORKSERVER not in get_all_start_methods() or len(folder) > LONGEST_FOLDER:
        return get_context("spawn")
    context = get_context(FORKSERVER)
    context.set_forkserver_preload(["frobench.reports.site.build", "matplotlib.figure"])
    _start()
    return context
