# SPDX-License-Identifier: MIT
"""Processes that a launch leaves behind, which would disturb the next one: they are ended.

A body may start processes that leave the launch's group, as daemons do. On Linux they become
children of the runner when their parents end.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

import psutil

PR_SET_CHILD_SUBREAPER = 36
"""The option of `prctl` that makes a process adopt orphaned descendants (linux/prctl.h)."""
PATIENCE = 1.0
"""Seconds that killed processes are given to end."""
GENERATIONS = 10
"""Times that orphans are looked for: each kill may leave the children of the killed."""


class Orphans:
    """The orphans that this process adopts from now on."""

    def __init__(self) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._known = {child.pid for child in psutil.Process().children()}

    def end(self) -> None:
        """Kill them; the processes that this one has started itself are in its own session."""
        for _ in range(GENERATIONS):
            children = psutil.Process().children()
            orphans = [
                child for child in children if child.pid not in self._known and _is_apart(child.pid)
            ]
            if not orphans:
                return
            for orphan in orphans:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(orphan.pid, signal.SIGKILL)
            psutil.wait_procs(orphans, PATIENCE)


def _is_apart(pid: int) -> bool:
    """Tell whether a process belongs to another session than this one."""
    with suppress(ProcessLookupError, PermissionError):
        return os.getsid(pid) != os.getsid(0)
    return False
