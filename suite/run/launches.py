# SPDX-License-Identifier: MIT
"""Launches: every case of the plan once in each, whole launches until the budget is spent.

No interval decides what to measure or when to stop: such a choice makes intervals wrong.

A launch is a fresh pytest process in a group of its own, watched from outside. What it does is read
from the journal, so watching costs it nothing. When the case in flight passes its deadline, the
whole group is killed, and the case, not the run, has failed.
"""

import ctypes
import math
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import psutil
from msgspec.structs import replace

from frobench.suite import journal
from frobench.suite.checkout import CHECKOUT
from frobench.suite.errors import CannotRunError
from frobench.suite.files import write_through
from frobench.suite.journal import Begun, Journal, Measured, Record, Refused
from frobench.suite.machine.cpu_time import Others
from frobench.suite.plan import OPTION, LaunchSpec, Plan
from frobench.suite.run.energy import REST
from frobench.suite.run.progress import Reporter, say_refusal
from frobench.suite.run.unfinished import LAUNCHES, RunClock
from frobench.suite.stored.machine_identity import short_name
from frobench.suite.units import counted

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
PR_SET_CHILD_SUBREAPER = 36
"""The option of `prctl` that makes a process adopt orphaned descendants (linux/prctl.h)."""
PATIENCE = 1.0
"""Seconds that killed processes have to end."""
MISUSED = 4
"""pytest's exit code when it cannot read its arguments, such as an expression."""
_EXPECTED = {0, 1, journal.DEVICE_LOST}
_ASKED = {-signal.SIGHUP, -signal.SIGINT, -signal.SIGTERM}
"""Exit codes of processes that were asked to end: a batch system asks the runner as well."""
_PYTEST = (
    f"--quiet -c {os.devnull} --strict-markers -o python_files=bench_*.py "
    "-o python_functions=bench_* -p pytest_benchmark.plugin -p frobench.suite.launch.plugin "
    "-p no:cacheprovider"
).split()
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
        self._deadline = deadline or (lambda _: spec.plan.settings.deadline)
        self._log = path.with_suffix(".log")
        path.write_bytes(msgspec.json.encode(replace(spec, runner=os.getpid())))
        command = [sys.executable, "-m", "frobench.suite.launch.entry", str(os.getpid())]
        self._known = adopt_orphans()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and files
                [*command, *arguments(path, Path(spec.plan.benchmarks)), *options],
                env=environment(spec.plan.paths),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def watch(self, file: Journal, hear: Callable[[Record], None]) -> int | None:
        """Pass on what a journal says until the process ends; return its exit code.

        The code is none if the process said nothing for too long, and 0 if a case was in flight:
        then it is the case that has failed, since a body may end its process with any code.
        Nothing that the process started outlives this call.

        Raises `OSError` if the disk refuses what a launch writes.
        """
        code: int | None = None
        in_flight: str | None = None
        since, allowed = time.monotonic(), QUIET_SECONDS
        try:
            while code is None and time.monotonic() - since <= allowed:
                time.sleep(POLL_SECONDS)
                code = self._process.poll()  # asked first: its last words come before its end
                for record in file.news():
                    if isinstance(record, Begun):
                        in_flight, since = record.case, record.at
                        allowed = self._deadline(in_flight)
                    elif isinstance(record, Measured | Refused | journal.Busy):
                        in_flight, since, allowed = None, time.monotonic(), QUIET_SECONDS
                    elif in_flight is None or isinstance(record, journal.Tried):
                        since = time.monotonic()
                    hear(record)
            if code in _ASKED:
                time.sleep(MOMENT)
            self._kill()
        finally:  # again, should an interruption have cut the first time short
            self._kill()
        if code != 0:
            _require_room(self._log.parent)
        if in_flight is None:
            return code
        file.mend()
        launch, reason = self._spec.launch, _cause(code, allowed)
        refused = Refused(launch=launch, case=in_flight, status="failed", reason=reason, fatal=True)
        file.write(refused)
        for record in file.news():
            hear(record)
        return 0

    def _kill(self) -> None:
        """End the process and everything it started, in whichever group that is."""
        with suppress(ProcessLookupError, PermissionError):  # gone, or only zombies are left
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        end_orphans(self._known)

    def printed(self) -> str:
        """Return what this process and earlier ones of its name have printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def last_lines(self) -> str:
        """Return the end of what the process printed."""
        lines = self.printed().splitlines()
        return "\n".join(line for line in lines[-LOG_LINES:] if line.strip())


def adopt_orphans() -> list[psutil.Process]:
    """Become the parent of processes that outlive theirs, as daemons do; return the children now.

    Linux alone has such parents.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    return psutil.Process().children()


def end_orphans(known: Sequence[psutil.Process]) -> None:
    """Kill all further processes below this one; those that it starts itself share its session."""
    children = psutil.Process().children(recursive=True)
    orphans = [one for one in children if one not in known and _is_apart(one.pid)]
    for orphan in orphans:
        with suppress(psutil.Error):
            orphan.kill()
    psutil.wait_procs(orphans, PATIENCE)


def _is_apart(pid: int) -> bool:
    with suppress(ProcessLookupError, PermissionError):
        return os.getsid(pid) != os.getsid(0)
    return False


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


def _require_room(folder: Path) -> None:
    probe = folder / "room"
    try:
        write_through(probe, bytes(ROOM))
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


class Launches:
    """The launches of a run, those of earlier sittings included."""

    _planned: int  # when the launch in progress began

    def __init__(self, plan: Plan, folder: Path, clock: RunClock, reporter: Reporter) -> None:
        self._plan = plan
        self._clock = clock
        self._reporter = reporter
        self._journal = Journal(folder / LAUNCHES)
        self._journal.mend()
        self.records: list[Record] = []
        # Kept as records arrive: whatever is sought among all of them would disturb a case.
        self._ended: dict[int, journal.Ended] = {}
        self._failed: set[str] = set()
        self._over: defaultdict[int, set[str]] = defaultdict(set)
        self._take_news()
        clock.advance_to(self._last_end())
        if damaged := self._journal.damaged:
            reporter.say(
                f"{self._journal.path} has {counted(len(damaged), 'damaged line')}, the first is "
                f"line {damaged[0]}: what they said is left out"
            )

    @property
    def done(self) -> int:
        """The number of launches that ended."""
        return max(self._ended, default=-1) + 1

    def run(self) -> None:
        """Add whole launches until there are enough, after a rest for the devices' idle power."""
        if self._plan.energy and not self.records:
            begun = time.monotonic()
            time.sleep(REST)
            self._journal.write(journal.Rested(begun=begun, ended=time.monotonic()))
            self._take_news()
        names = {case.fullname for case in self._plan.cases}
        while self.done < self._expected() and not self._failed >= names:
            self.add()
            self._reporter.say(f"launch {self.done} of about {self._expected()} done")

    def add(self) -> None:
        """Make the next launch."""
        number, self._planned = self.done, self._expected()
        measured = [record for record in self.records if isinstance(record, Measured)]
        earlier = math.fsum(r.wall_seconds for r in measured if r.launch == number)
        self._clock.advance_to(self._last_end() + earlier)
        begun, started, others = self._clock.seconds(), datetime.now(UTC), Others()
        before = time.process_time()
        self._launch(number)
        spent, seconds = time.process_time() - before, self._clock.seconds() - begun
        ended = journal.Ended(
            launch=number,
            started=(started - timedelta(seconds=earlier)).isoformat(timespec="seconds"),
            begun=begun - earlier,
            seconds=earlier + seconds,
            others=None if earlier else others.used(),
            runner_cores=spent / seconds,
        )
        self._journal.write(ended)
        self._take_news()

    def _last_end(self) -> float:
        """Return when the last launch ended, or the pilot, in seconds of the run."""
        ends = (record.begun + record.seconds for record in self._ended.values())
        return max(ends, default=self._plan.plan_seconds)

    def _expected(self) -> int:
        return self._plan.launches(self._clock.seconds(), self._launch_seconds(), self.done)

    def _launch_seconds(self) -> float:
        seconds = (record.seconds for record in self._ended.values())
        return max(seconds, default=self._plan.launch_seconds)

    def _launch(self, number: int) -> None:
        """Measure every case once, in a fresh process; what a lost process left, in another."""
        fruitless = 0
        for _ in range(TRIES):
            left = self._left(number)
            if not left:
                return
            self._journal.mend()
            spec = LaunchSpec(
                plan=self._plan,
                mode="measure",
                launch=number,
                journal=str(self._journal.path),
                order=left,
            )
            process = LaunchProcess(spec, deadline=self._deadline)
            if loss := lost(process.watch(self._journal, self._hear)):
                self._reporter.say(f"launch {number + 1}: {loss} between two cases")
            fruitless = fruitless + 1 if self._left(number) == left else 0
            if fruitless == FRUITLESS_TRIES:
                raise CannotRunError(
                    f"launch {number + 1} lost {FRUITLESS_TRIES} processes in a row before a case "
                    f"ended; the last one said:\n{process.last_lines()}"
                )
        raise CannotRunError(f"launch {number + 1} lost {TRIES} processes")

    def _deadline(self, case: str) -> float:
        return self._plan.deadline(case, self._plan.settings.budget - self._clock.seconds())

    def _left(self, number: int) -> list[str]:
        """Return what this launch has still to measure; a case that failed is not tried again."""
        over = self._failed | self._over[number]
        return [name for name in self._plan.order(number) if name not in over]

    def _take_news(self) -> None:
        for record in self._journal.news():
            self._take(record)

    def _take(self, record: Record) -> None:
        self.records.append(record)
        if isinstance(record, journal.Ended):
            self._ended[record.launch] = record
        elif isinstance(record, Measured | Refused):
            self._over[record.launch].add(record.case)
            if isinstance(record, Refused) and record.status == "failed" and not record.lost:
                self._failed.add(record.case)

    def _hear(self, record: Record) -> None:
        if isinstance(record, journal.Stopped):
            raise CannotRunError(record.message)
        self._take(record)
        say_refusal(record, self._reporter)
        if isinstance(record, Begun):
            over = len(self._over[record.launch]) / len(self._plan.cases)
            done = (record.launch + over) / self._planned
            left = self._planned * self._launch_seconds() * (1 - done)
            self._reporter.at(self._clock.seconds(), left, short_name(record.case))
