# SPDX-License-Identifier: MIT
"""The pilot: which cases there are, and which of them this machine can measure in time."""

from collections.abc import Callable
from pathlib import Path

from frobench.suite import journal
from frobench.suite.errors import CannotRunError, NothingSelectedError
from frobench.suite.exit_codes import absent, absent_in
from frobench.suite.journal import Collected, Journal, LaunchSpec, Measured, Plan, Record, Refused
from frobench.suite.machine.host import MEND_FAILURE, failure
from frobench.suite.run.launches import FRUITLESS_TRIES, MISUSED, TRIES, LaunchProcess, lost
from frobench.suite.stored.types import Settings


def collect(settings: Settings, folder: Path, benchmarks: Path) -> Collected:
    """Return the cases that settings select, and what is known of them before they run.

    Raises `CannotRunError`, `NothingSelectedError`. The folder is for temporary files.
    """
    file = Journal(folder / "collection.jsonl")
    plan = Plan(run="", started="", seed=0, settings=settings, benchmarks=str(benchmarks))
    spec = LaunchSpec(plan=plan, mode="collect", journal=str(file.path))
    return _Watcher().watch(spec, file, "--collect-only")


def explore(plan: Plan, file: Journal, show: Callable[[Record], None]) -> None:
    """Call every selected case a few times, sizes upwards, and journal what became of each.

    A case that hangs or takes its process with it has failed; a fresh process does the rest.
    Raises `CannotRunError`, `NothingSelectedError`.
    """
    watcher = _Watcher(show)
    left, fruitless = [case.fullname for case in plan.like], 0
    for _ in range(TRIES):
        file.mend()
        before = len(watcher.finished)
        spec = LaunchSpec(plan=plan, mode="pilot", journal=str(file.path), order=left)
        collected = watcher.watch(spec, file)
        left = [case.fullname for case in collected.cases if case.fullname not in watcher.finished]
        if not left:
            return
        fruitless = fruitless + 1 if len(watcher.finished) == before else 0
        if fruitless == FRUITLESS_TRIES:
            raise CannotRunError(
                f"the pilot lost {FRUITLESS_TRIES} processes in a row before a case ended; the "
                f"last one said:\n{watcher.last_lines}"
            )
    raise CannotRunError(f"the pilot lost {TRIES} processes to cases that hang or crash")


class _Watcher:
    """Watches a pilot's processes; `finished` are the cases measured or refused."""

    def __init__(self, show: Callable[[Record], None] = lambda _: None) -> None:
        self.finished: set[str] = set()
        self.last_lines = ""
        self._show = show
        self._found: Collected | None = None

    def watch(self, spec: LaunchSpec, file: Journal, *options: str) -> Collected:
        """Watch one process to its end, or two if the first is killed before it has any cases."""
        settings = spec.plan.settings
        expression, profile = settings.expression, settings.profile
        selection = [] if spec.order or not expression else ["-k", expression]
        for _ in range(FRUITLESS_TRIES):
            process = LaunchProcess(spec, *selection, *options)
            code = process.watch(file, self._hear)
            self.last_lines = process.last_lines()
            if self._found is not None or (code is not None and code >= 0):
                break
        if code == MISUSED:  # no body's: a process that ends with a case in flight has code 0 here
            raise NothingSelectedError(self.last_lines.rpartition("ERROR: ")[2])
        if self._found is None:
            raise self._not_collected(code, process.printed())
        if not self._found.cases:
            if spec.order:
                raise CannotRunError(
                    "none of that run's cases exists here; was it made with other --benchmarks or "
                    "--devices? `frobench list` shows what there is"
                )
            if expression:
                raise NothingSelectedError(
                    f"no case matches {expression!r} in the profile {profile}; `frobench list` "
                    "shows what there is"
                )
            raise NothingSelectedError(
                f"no case of the profile {profile} in {spec.plan.benchmarks}; a case is a function "
                "bench_* in a file bench_*.py that calls its argument `measure`"
            )
        return self._found

    def _not_collected(self, code: int | None, printed: str) -> CannotRunError:
        """Return why no process collected anything, by the exit code of the last one."""
        if code == journal.DISK_REFUSES:  # and pytest swallows the message, so early
            return CannotRunError("the disk refuses what the pilot writes; is there room on it?")
        if module := absent_in(printed):
            return CannotRunError(absent(module))
        if failed := failure(printed):  # which is printed long before the end
            return CannotRunError(f"{failed}\n  advice: {MEND_FAILURE}")
        how = f" ({loss})" if (loss := lost(code)) and (code is None or code < 0) else ""
        return CannotRunError(
            f"the benchmarks cannot be collected{how}; pytest said:\n{self.last_lines}"
        )

    def _hear(self, record: Record) -> None:
        if isinstance(record, journal.Stopped):
            raise CannotRunError(record.message)
        if isinstance(record, Collected):
            self._found = self._found or record
        elif isinstance(record, Measured | Refused):
            self.finished.add(record.case)
        self._show(record)
