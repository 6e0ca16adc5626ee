# SPDX-License-Identifier: MIT
"""The command in a process forked from this one, cut short, and what is left of its processes.

All its descendants become this process's when their parents end, so that none is missed.
"""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.instruments.processes.forking import become, exit_code, fork, run_command

PR_SET_CHILD_SUBREAPER = 36
"""The option of `prctl` that makes a process the parent of orphaned descendants (linux/prctl.h)."""
PATIENCE = 240.0
"""Seconds that a command may take; on an idle machine it takes two."""
LEFT_SECONDS = 60.0
"""Seconds after a command's end in which all its processes must be gone, on a busy machine too."""
BENCHES = Path(__file__).parent / "benches"
CHEAP = (
    *("run", "--profile", "quick", "--devices", "cpu", "--benchmarks", str(BENCHES)),
    *("-k", "cheap", "--launches", "2", "--budget", "1", "--seed", "1"),
)
"""The run that a campaign cuts short: three cases in two launches."""


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parents end."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


class Ended(NamedTuple):
    """A command that has ended: its exit code, minus the signal if one ended it, and its output."""

    code: int | None
    out: str
    err: str


class Command:
    """`frobench` with some arguments in a folder, forked from this process.

    prepare : called in the command's process before anything else
    terminal : a descriptor that takes the place of the files for its output
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        prepare: Callable[[], object] = int,
        terminal: int | None = None,
    ) -> None:
        self._folder = folder
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            self.pid = fork()
            if self.pid == 0:
                os.chdir(folder)
                os.environ["FROBENCH_LOCK"] = str(folder / "frobench.lock")
                files = [terminal or file.fileno() for file in (out, err)]
                become(lambda: run_command(arguments, prepare), *files)

    def end(self, seconds: float = PATIENCE) -> Ended:
        """Wait for the end; kill a command that takes longer, whose exit code is then -9."""
        code = _wait(self.pid, time.monotonic() + seconds)
        if code is None:
            os.kill(self.pid, signal.SIGKILL)
            code = exit_code(self.pid)
        out, err = (
            (self._folder / name).read_text("utf-8", errors="replace") for name in ("out", "err")
        )
        return Ended(code, out, err)


def run(arguments: Sequence[str], folder: Path, prepare: Callable[[], object] = int) -> Ended:
    """Run `frobench` to its end."""
    return Command(arguments, folder, prepare).end()


def processes_left() -> list[str]:
    """Return what descendants are still there after `LEFT_SECONDS`, and end them."""
    begun = time.monotonic()
    while children := _descendants():
        if time.monotonic() > begun + LEFT_SECONDS:
            names = [f"process left: {' '.join(child.cmdline()[:4])}" for child in children]
            for child in children:
                child.kill()
            return names
        time.sleep(0.01)
    return []


def _descendants() -> list[psutil.Process]:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return psutil.Process().children(recursive=True)


def _wait(pid: int, deadline: float) -> int | None:
    """Return a child's exit code; nothing if it lives longer."""
    while (code := exit_code(pid, os.WNOHANG)) is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return code
