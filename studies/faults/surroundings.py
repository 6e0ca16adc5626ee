# SPDX-License-Identifier: MIT
"""Terminals, users, clocks and limits that a run may meet."""

import builtins
import fcntl
import os
import pty
import pwd
import re
import resource
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, Self

from frobench.suite.run import launches
from studies.faults.bodies import RUN
from studies.faults.forked import CHEAP, Command, Ended, processes_left, run
from studies.faults.kept import finish
from studies.faults.trials import Extent, Trial
from tests.instruments.processes.command import variables

PROMISE = (
    "A run is measured and stored whatever the terminal, the locale, the user and the clock are. "
    "What cannot be done is said in one line, without a traceback."
)
COLUMNS = 40
NEW_PROCESSES = {
    "Turkish locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "ASCII output": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "Python without docstrings": {"PYTHONOPTIMIZE": "2"},
    "Python with warnings as errors": {"PYTHONWARNINGS": "error"},
    "no home, no folder for temporary files": {"HOME": "/nowhere", "TMPDIR": "/nowhere"},
    "options for pytest": {"PYTEST_ADDOPTS": "--no-such-option", "PYTEST_PLUGINS": "nowhere"},
}
"""Environments, each for processes of their own."""
OUTPUTS = {
    "closed output": ">&-",
    "closed messages": "2>&-",
    "closed input, output and messages": "<&- >&- 2>&-",
    "full output": "> /dev/full",
    "full messages": "2> /dev/full",
    "output that nobody reads": "| true",
    "messages that nobody reads": "2>&1 >/dev/null | true",
}
TERMINALS = {
    "dumb terminal": {"TERM": "dumb"},
    "terminal without colours": {"TERM": "xterm-256color", "NO_COLOR": "1"},
    "terminal of 40 columns": {"TERM": "xterm-256color", "NO_COLOR": "1"},
}
CGROUP = Path("/sys/fs/cgroup/memory")
"""The memory controller of version 1."""
CANNOT = 3


def left_out() -> dict[str, str]:
    """Return the kinds that cannot be tried here, each with the reason."""
    reasons = {}
    if not os.access(CGROUP, os.W_OK):
        reasons["memory limit of a cgroup"] = f"{CGROUP} is not there, or not to be written to"
    return reasons


def trials(_extent: Extent) -> list[Trial]:
    """Return each kind once."""
    names = (*PREPARED, *OTHERS, *TERMINALS, *NEW_PROCESSES, *OUTPUTS)
    return [Trial(__name__, name) for name in names if name not in left_out()]


def attempt(trial: Trial, folder: Path) -> Iterable[str]:
    """Run in some surroundings, and see that the run is stored."""
    kind = trial.kind
    if kind in NEW_PROCESSES or kind in OUTPUTS:
        yield from _new_process(folder, OUTPUTS.get(kind, ""), NEW_PROCESSES.get(kind, {}))
    elif kind in TERMINALS:
        yield from _on_terminal(folder, kind)
    elif kind in PREPARED:
        yield from stored(run(CHEAP, folder, PREPARED[kind]), folder)
    else:
        yield from OTHERS[kind](folder)
    yield from processes_left()


def stored(ended: Ended, folder: Path) -> Iterator[str]:
    """Yield what is wrong with a command that should have stored a run."""
    if ended.code != 0 or "Traceback" in ended.err:
        yield f"exit code {ended.code}: {ended.err[-2000:]}"
    yield from finish(folder, resume=False)
    if not [*folder.glob("results/*/*.json")]:
        yield "no run is stored"


def _new_process(folder: Path, redirection: str, surroundings: dict[str, str]) -> Iterator[str]:
    """Run the command in new processes of a shell; what its output is worth is no matter."""
    arguments = " ".join(f"'{argument}'" for argument in CHEAP)
    done = subprocess.run(
        ["/bin/bash", "-c", f"'{sys.executable}' -m frobench {arguments} {redirection}"],
        cwd=folder,
        env=variables(folder, surroundings),
        capture_output=True,
        text=True,
        check=False,
    )
    code = 0 if redirection else done.returncode
    yield from stored(Ended(code, done.stdout, done.stderr), folder)


def _on_terminal(folder: Path, name: str) -> Iterator[str]:
    """Run on a terminal, and see what is shown there."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))

    def prepare() -> None:
        os.environ.update(TERMINALS[name])
        os.environ.pop("COLUMNS", None)

    command = Command(CHEAP, folder, prepare, terminal)
    os.close(terminal)
    shown = b""
    with suppress(OSError):  # the terminal's other end is closed
        while part := os.read(main, 4096):
            shown += part
    os.close(main)
    ended = command.end()
    text = shown.decode(errors="replace")
    yield from stored(Ended(ended.code, text, text), folder)
    if name == "dumb terminal" and "\x1b" in text:
        yield f"escapes on a dumb terminal: {text[:200]!r}"
    if re.search(r"\x1b\[[0-9;]*m", text):
        yield f"colours: {text[:200]!r}"
    if name != "terminal of 40 columns":
        return
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|.*\r(?!\n)", "", text)
    long = [line for line in plain.splitlines() if len(line) > COLUMNS]
    yield from (f"longer than {COLUMNS}: {line}" for line in long if ".json" not in line)


def _leave_nameless() -> None:
    def unknown(_user: object) -> None:
        raise KeyError("no such user")

    for name in ("HOME", "LOGNAME", "LNAME", "USER", "USERNAME"):
        os.environ.pop(name, None)
    pwd.getpwuid = pwd.getpwnam = unknown  # type: ignore[assignment]


def _set_clock_back() -> None:
    class Clock(datetime):
        """A clock that loses an hour a second after the run began."""

        begun = time.monotonic()

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            lost = timedelta(hours=time.monotonic() - cls.begun > 1.0)
            return super().now(tz) - lost

    plain, begun = time.time, time.monotonic()
    time.time = lambda: plain() - 3600 * (time.monotonic() - begun > 1.0)
    vars(launches)["datetime"] = Clock


def _hide(beginnings: tuple[str, ...]) -> None:
    """Let files whose paths begin so be unreadable, in this process and its forks."""

    def guarded(plain: Callable[..., Any]) -> Callable[..., Any]:
        def opened(path: Any, *rest: Any, **options: Any) -> Any:  # noqa: ANN401 - as open has it
            if str(path).startswith(beginnings):
                raise PermissionError(13, "Permission denied", str(path))
            return plain(path, *rest, **options)

        return opened

    builtins.open = guarded(builtins.open)
    Path.open = guarded(Path.open)  # type: ignore[method-assign]


def _removed(folder: Path) -> Iterator[str]:
    gone = folder / "gone"
    gone.mkdir()

    def prepare() -> None:
        os.chdir(gone)
        gone.rmdir()

    ended = run(CHEAP, folder, prepare)
    if ended.code != CANNOT or "Traceback" in ended.err:
        yield f"exit code {ended.code}: {ended.err[-2000:]}"


def _cgroup(folder: Path) -> Iterator[str]:
    group = CGROUP / f"frobench-{os.getpid()}"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(str(2**29))

    def prepare() -> None:
        os.environ.update(MISBEHAVING="takes_all_memory", AT_CALL="10")
        (group / "cgroup.procs").write_text(str(os.getpid()))

    try:
        ended = run(RUN, folder, prepare)
        yield from processes_left()
    finally:
        group.rmdir()
    if ended.code != 1 or "SIGKILL" not in ended.err:
        yield f"exit code {ended.code}: {ended.err[-2000:]}"


PREPARED: dict[str, Callable[[], object]] = {
    "user without a name and a home": _leave_nameless,
    "clock set back by an hour": _set_clock_back,
    "unreadable /proc/cpuinfo": partial(_hide, ("/proc/cpuinfo",)),
    "unreadable /sys/class and /sys/fs": partial(_hide, ("/sys/class/", "/sys/fs/")),
    "few files and processes": partial(resource.setrlimit, resource.RLIMIT_NOFILE, (64, 64)),
    "no rights for others": partial(os.umask, 0o077),
}
"""Calls that change a run's process before the run begins; the run is stored all the same."""
OTHERS: dict[str, Callable[[Path], Iterable[str]]] = {
    "folder removed before the start": _removed,
    "memory limit of a cgroup": _cgroup,
}
