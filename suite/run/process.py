# SPDX-License-Identifier: MIT
"""One launch: a fresh pytest process in a group of its own, watched from outside.

What it does is read from the journal, so watching costs it nothing. When the case in flight passes
its deadline, the whole group is killed, and the case, not the run, has failed.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import psutil
from msgspec.structs import replace

from frobench.suite.checkout import CHECKOUT
from frobench.suite.journal.records import Begun, Busy, Journal, Measured, Record, Refused, Tried
from frobench.suite.journal.spec import DEVICE_LOST, OPTION, LaunchSpec

POLL_SECONDS = 0.05
QUIET_SECONDS = 180.0
"""Seconds without any news between two cases after which a launch is given up."""
MOMENT = 0.5
"""Seconds in which the runner gets the signal that ended a launch too, so that no case failed."""
LOG_LINES = 15
TRIES, FRUITLESS_TRIES = 20, 2
"""Processes that a pilot or a launch may need because cases hang or crash, and those in a row in
which no case ends, after which it is given up."""
ROOM = 2**20
"""Bytes that a launch may write at once; a disk that refuses them is full."""
MISUSED = 4
"""pytest's exit code when it cannot read its arguments, such as an expression."""
_EXPECTED = {0, 1, DEVICE_LOST}
_ASKED = {-signal.SIGHUP, -signal.SIGINT, -signal.SIGTERM}
"""Exit codes of processes that were asked to end: a batch system asks the runner as well."""
_PYTEST = (
    *("--quiet", "-c", os.devnull, "--strict-markers"),
    *("-o", "python_files=bench_*.py", "-o", "python_functions=bench_*"),
    *(
        "-p",
        "pytest_benchmark.plugin",
        "-p",
        "frobench.suite.launch.plugin",
        "-p",
        "no:cacheprovider",
    ),
)
"""What makes pytest collect benchmarks, and load none of the machine's other plugins."""


class LaunchProcess:
    """A pytest process over the benchmarks, which runs until `watch` has seen it end.

    Its files are beside the journal.

    deadline : returns the seconds that a case may take which begins, if not those of the settings
    """

    def __init__(
        self, spec: LaunchSpec, *options: str, deadline: Callable[[str], float] | None = None
    ) -> None:
        path = Path(spec.journal).with_name(f"{spec.mode}-{spec.launch:03}.json")
        self._spec = spec
        self._deadline = deadline or (lambda _: spec.settings.deadline)
        self._allowed = 0.0  # seconds for the case in flight
        self._log = path.with_suffix(".log")
        path.write_bytes(msgspec.json.encode(replace(spec, runner=os.getpid())))
        command = [sys.executable, "-m", "frobench.suite.launch.entry", str(os.getpid())]
        self._orphans = Orphans()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and files
                [*command, *arguments(path, Path(spec.benchmarks)), *options],
                env=environment(spec.paths),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def watch(self, journal: Journal, hear: Callable[[Record], None]) -> int | None:
        """Pass on what the journal says until the process ends; return its exit code.

        The code is none if the process said nothing for too long, and 0 if a case was in flight:
        then it is the case that has failed, since a body may end its process with any code.
        Nothing that the process started outlives this call.

        Raises `OSError` if the disk refuses what a launch writes.
        """
        try:
            code, in_flight = self._follow(journal, hear)
            self._kill()
        finally:  # again, should an interruption have cut the first time short
            self._kill()
        if code != 0:
            _require_room(self._log.parent)
        if in_flight is None:
            return code
        journal.mend()
        launch, case = self._spec.launch, in_flight.case
        reason = _cause(code, self._allowed)
        journal.write(Refused(launch=launch, case=case, status="failed", reason=reason, fatal=True))
        for record in journal.news():
            hear(record)
        return 0

    def _follow(
        self, journal: Journal, hear: Callable[[Record], None]
    ) -> tuple[int | None, Begun | None]:
        """Return the exit code, and the case in flight at the end or after its deadline."""
        code: int | None = None
        in_flight: Begun | None = None
        heard = time.monotonic()
        while code is None and not _is_late(in_flight, heard, self._allowed):
            time.sleep(POLL_SECONDS)
            code = self._process.poll()  # asked first: its last words come before its end
            for record in journal.news():
                heard = time.monotonic()
                if isinstance(record, Begun):
                    in_flight, self._allowed = record, self._deadline(record.case)
                elif isinstance(record, Tried) and in_flight is not None:
                    in_flight = replace(in_flight, at=heard)
                elif isinstance(record, Measured | Refused | Busy):
                    in_flight = None
                hear(record)
        if code in _ASKED:
            time.sleep(MOMENT)
        return code, in_flight

    def _kill(self) -> None:
        """End the process and everything it started, in whichever group that is."""
        with suppress(ProcessLookupError, PermissionError):  # gone, or only zombies are left
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._orphans.end()

    def printed(self) -> str:
        """Return what this process and earlier ones of its name have printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def last_lines(self) -> str:
        """Return the end of what the process printed."""
        lines = self.printed().splitlines()
        return "\n".join(line for line in lines[-LOG_LINES:] if line.strip())


def environment(first: Sequence[str] = ()) -> dict[str, str]:
    """Return the user's environment without pytest's settings, with `first` ahead of its paths."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    paths = [*first, str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    kept |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join(paths)}
    return kept | ({"PYTHONSAFEPATH": "1"} if first else {})


def arguments(spec: Path, benchmarks: Path) -> list[str]:
    """Return pytest's arguments for a session over benchmarks that a file specifies."""
    # Without the cut, pytest would match `-k` against the folders above as well.
    where = (f"--rootdir={benchmarks.parent}", f"--confcutdir={benchmarks.parent}")
    storage = f"--benchmark-storage=file://{spec.parent}"  # else it makes a folder for results
    return [*_PYTEST, str(benchmarks), *where, storage, f"{OPTION}={spec}"]


def lost(code: int | None) -> str | None:
    """Return how a process was lost, by its exit code while no case was in flight, if it was."""
    return None if code in _EXPECTED else _cause(code, QUIET_SECONDS)


def _cause(code: int | None, deadline: float) -> str:
    if code is None:
        return f"did not end within its deadline of {deadline:.0f} s"
    if code < 0:
        return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended with exit code {code}"


def _is_late(in_flight: Begun | None, heard: float, deadline: float) -> bool:
    since, most = (heard, QUIET_SECONDS) if in_flight is None else (in_flight.at, deadline)
    return time.monotonic() - since > most


def _require_room(folder: Path) -> None:
    probe = folder / "room"
    try:
        with probe.open("wb") as file:
            file.write(bytes(ROOM))
            file.flush()
            os.fsync(file.fileno())
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


PR_SET_CHILD_SUBREAPER = 36
"""The option of `prctl` that makes a process adopt orphaned descendants (linux/prctl.h)."""
PATIENCE, GENERATIONS = 1.0, 10
"""Seconds that killed processes have to end, and how often their children are looked for."""


class Orphans:
    """Processes that left a launch's group, as daemons do, and would disturb the next launch.

    On Linux they become children of this process when their parents end.
    """

    def __init__(self) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._known = {child.pid for child in psutil.Process().children()}

    def end(self) -> None:
        """Kill them; the processes that this one has started itself are in its own session."""
        for _ in range(GENERATIONS):
            children = psutil.Process().children()
            orphans = [c for c in children if c.pid not in self._known and _is_apart(c.pid)]
            if not orphans:
                return
            for orphan in orphans:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(orphan.pid, signal.SIGKILL)
            psutil.wait_procs(orphans, PATIENCE)


def _is_apart(pid: int) -> bool:
    with suppress(ProcessLookupError, PermissionError):
        return os.getsid(pid) != os.getsid(0)
    return False
