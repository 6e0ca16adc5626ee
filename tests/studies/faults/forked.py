# SPDX-License-Identifier: MIT
"""The command in a process forked from this one, so that torch is imported once for all runs.

The runner and its launches are real processes in sessions of their own, with real signals and
files. All their descendants become this process's when their parents end, so that none is missed.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import psutil

import frobench
from suite.launch import entry
from suite.run.interruptions import ENDING
from suite.run.sensed import telemetry

PR_SET_CHILD_SUBREAPER = 36
"""The option of `prctl` that makes a process the parent of orphaned descendants (linux/prctl.h)."""
PATIENCE = 240.0
"""Seconds that a command may take, of which it needs two on a machine that does nothing else."""
INTERRUPTED = 130
LEFT_SECONDS = 2.0
"""Seconds after a command's end in which all its processes must be gone."""
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
            self.pid = _fork()
            if self.pid == 0:
                os.chdir(folder)
                os.environ["FROBENCH_LOCK"] = str(folder / "frobench.lock")
                files = [terminal or file.fileno() for file in (out, err)]
                _exec(lambda: _command(arguments, prepare), *files)

    def end(self, seconds: float = PATIENCE) -> Ended:
        """Wait for the end; kill a command that takes longer, whose exit code is then -9."""
        code = _wait(self.pid, time.monotonic() + seconds)
        if code is None:
            os.kill(self.pid, signal.SIGKILL)
            code = _exit_code(self.pid, options=0)
        out, err = (
            (self._folder / name).read_text("utf-8", errors="replace") for name in ("out", "err")
        )
        return Ended(code, out, err)


def run(arguments: Sequence[str], folder: Path, prepare: Callable[[], object] = int) -> Ended:
    """Run `frobench` to its end."""
    return Command(arguments, folder, prepare).end()


def processes_left() -> list[str]:
    """Return what descendants are still there after `LEFT_SECONDS`, and end them."""
    deadline = time.monotonic() + LEFT_SECONDS
    while children := _descendants():
        if time.monotonic() > deadline:
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
    while (code := _exit_code(pid)) is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return code


def _exit_code(pid: int, options: int = os.WNOHANG) -> int | None:
    """Return a child's exit code, minus the signal that ended it; nothing if it still lives."""
    found, status = os.waitpid(pid, options)
    return os.waitstatus_to_exitcode(status) if found else None


def _fork() -> int:
    """Fork this process; signals that end a run wait until the new one is what it stands for.

    What Python calls around a fork would swallow the exception that a signal raises.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    return pid


def _exec(call: Callable[[], object], out: int, err: int) -> NoReturn:
    """Call something with the descriptors, signals and session of a new program; end."""
    with suppress(PermissionError):  # it leads a session already
        os.setsid()
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        for number, descriptor in enumerate((nothing.fileno(), out, err)):
            os.dup2(descriptor, number)
    os.closerange(3, 256)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", 1, closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    code = 1
    try:
        code = _code_of(call)
        sys.stdout.flush()
    finally:  # whatever the call has done to files and streams
        os._exit(code)


def _code_of(call: Callable[[], object]) -> int:
    """Call something; return the exit code that Python would end with."""
    try:
        call()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as Python ends a program
        traceback.print_exc()
        sys.stderr.flush()
        return 1
    return 0


def _no_sensors(*_: object) -> AbstractContextManager[None]:
    """Read no sensor: a thread that holds a lock when a launch is forked would never release it."""
    return nullcontext()


def _command(arguments: Sequence[str], prepare: Callable[[], object]) -> None:
    subprocess.Popen = _popen  # type: ignore[assignment,misc]
    telemetry.Sampler = _no_sensors  # type: ignore[assignment,misc]
    prepare()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    except KeyboardInterrupt:  # it came before the command could hear it
        sys.exit(INTERRUPTED)
    frobench.main([*arguments], prog_name="frobench")


class _Launch:
    """Stands for `subprocess.Popen` of a launch: forks this process."""

    def __init__(self, arguments: Sequence[str], env: dict[str, str], stdout: IO[bytes]) -> None:
        self.returncode: int | None = None
        self.pid = _fork()
        if self.pid == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
            os.environ.clear()
            os.environ.update(env)
            sys.argv = [*arguments[2:]]
            _exec(entry.main, stdout.fileno(), stdout.fileno())

    def poll(self) -> int | None:
        """Return the exit code, if it has ended."""
        if self.returncode is None:
            self.returncode = _exit_code(self.pid)
        return self.returncode

    def wait(self) -> int | None:
        """Wait for the end; return the exit code."""
        if self.returncode is None:
            self.returncode = _exit_code(self.pid, options=0)
        return self.returncode


_plain_popen = subprocess.Popen


def _popen(arguments: Sequence[str], **options: Any) -> Any:  # noqa: ANN401 - as subprocess has it
    if "suite.launch.entry" not in arguments:
        return _plain_popen(arguments, **options)
    return _Launch(arguments, options["env"], options["stdout"])
