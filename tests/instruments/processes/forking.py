# SPDX-License-Identifier: MIT
"""Programs in processes forked from this one, so that torch is imported once for all of them.

They are real processes in sessions of their own, with real signals and files; what differs from new
ones is that their modules are imported already, and that a runner reads no sensor.
"""

import importlib
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from importlib.metadata import entry_points
from typing import IO, Any, NoReturn

import cpuinfo

from frobench.command import main
from frobench.suite.launch import entry
from frobench.suite.run import telemetry
from frobench.suite.run.runner import ENDING

INTERRUPTED = 130
"""The exit code of a command that is interrupted."""
SHARED = (
    *("torch", "torch._dynamo", "torch.distributed.fsdp", "torch.fx.experimental.symbolic_shapes"),
    *("frobench.judging", "frobench.measuring", "frobench.publishing", "pytest_benchmark.plugin"),
    *("frobench.reports.site.build", "frobench.reports.summary.plain"),
    *("frobench.suite.launch.plugin", "frobench.suite.terminal.output"),
)
"""Modules that a command or a launch imports when it needs them: import them before the forks."""
_LIBRARIES = [
    path
    for path in sys.path
    if path not in {os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)}  # noqa: PTH109 - as sys.path has it
]
"""Folders in which every Python looks for modules."""


def import_shared() -> None:
    """Import what forked processes need; ask once what takes a Python of its own to tell."""
    for name in SHARED:
        importlib.import_module(name)
    cpuinfo.get_cpu_info = partial(dict, cpuinfo.get_cpu_info())


def fork() -> int:
    """Fork this process; signals that end a run wait until the new one is what it stands for.

    What Python calls around a fork would swallow the exception that a signal raises.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    return pid


def become(call: Callable[[], object], out: int, err: int) -> NoReturn:
    """Call something with the descriptors, signals and session of a new program; end.

    out, err : descriptors that take the place of the standard ones
    """
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


def run_command(arguments: Sequence[str], prepare: Callable[[], object] = int) -> None:
    """Run `frobench` in this process, which was forked for it; its launches are forked from it.

    It waits for no disk: what it writes need not outlive the machine.

    prepare : called before anything else
    """
    subprocess.Popen = _popen  # type: ignore[assignment,misc]
    # A thread that holds a lock when a launch is forked would never release it.
    telemetry.recording = lambda *_: nullcontext()  # type: ignore[assignment]
    os.fsync = lambda fd: None  # noqa: ARG005 - as the system has it
    prepare()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    except KeyboardInterrupt:  # it came before the command could hear it
        sys.exit(INTERRUPTED)
    main([*arguments], prog_name="frobench")


def set_environment(variables: Mapping[str, str]) -> None:
    """Give this process the variables of a new one, and the folders that Python then looks in."""
    os.environ.clear()
    os.environ.update(variables)
    first = [] if variables.get("PYTHONSAFEPATH") else [os.getcwd()]  # noqa: PTH109 - as sys.path has it
    named = variables.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [*first, *filter(None, named), *_LIBRARIES]
    importlib.invalidate_caches()


def load_backends() -> None:
    """Load what torch would have loaded if it had been imported in this process.

    A backend may replace the clock, so what is imported after torch is then imported anew.
    """
    for backend in entry_points(group="torch.backends"):
        backend.load()()
        for name in [*sys.modules]:
            if name.startswith(("pytest_benchmark", "frobench.suite")):
                del sys.modules[name]


def exit_code(pid: int, options: int = 0) -> int | None:
    """Return a child's exit code, minus the signal that ended it; nothing if it still lives."""
    found, status = os.waitpid(pid, options)
    return os.waitstatus_to_exitcode(status) if found else None


class _Launch:
    """Stands for `subprocess.Popen` of a launch: forks this process."""

    def __init__(self, arguments: Sequence[str], env: dict[str, str], stdout: IO[bytes]) -> None:
        self.returncode: int | None = None
        self.pid = fork()
        if self.pid == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
            set_environment(env)
            sys.argv = [*arguments[2:]]
            become(_launch, stdout.fileno(), stdout.fileno())

    def wait(self, options: int = 0) -> int | None:
        """Wait for the end; return the exit code."""
        if self.returncode is None:
            self.returncode = exit_code(self.pid, options)
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit code, if it has ended."""
        return self.wait(os.WNOHANG)


def _launch() -> None:
    load_backends()
    entry.main()


_plain_popen = subprocess.Popen


def _popen(arguments: Sequence[str], **options: Any) -> Any:  # noqa: ANN401 - as subprocess has it
    if "frobench.suite.launch.entry" not in arguments:
        return _plain_popen(arguments, **options)
    return _Launch(arguments, options["env"], options["stdout"])
