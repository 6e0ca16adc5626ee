# SPDX-License-Identifier: MIT
"""The pilot: which cases there are, and which of them this machine can measure in time."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from frobench.suite import journal
from frobench.suite.errors import CannotRunError, NothingSelectedError
from frobench.suite.exit_codes import absent, absent_in
from frobench.suite.journal import Collected, Journal, Measured, Record, Refused
from frobench.suite.plan import LaunchSpec, Plan
from frobench.suite.run.launches import FRUITLESS_TRIES, MISUSED, TRIES, LaunchProcess, lost
from frobench.suite.stored.types import Settings


def collect(settings: Settings, folder: Path, benchmarks: Path) -> Collected:
    """Return the cases that settings select, and what is known of them before they run.

    Raises `CannotRunError`, `NothingSelectedError`. The folder is for temporary files.
    """
    plan = Plan(run="", started="", seed=0, settings=settings, benchmarks=str(benchmarks))
    return _watched(plan, "collect", Journal(folder / "collection.jsonl"))


def explore(plan: Plan, file: Journal, show: Callable[[Record], None]) -> None:
    """Call every selected case a few times, sizes upwards, and journal what became of each.

    A case that hangs or takes its process with it has failed; a fresh process does the rest.
    Raises `CannotRunError`, `NothingSelectedError`.
    """
    _watched(plan, "pilot", file, show)


def _watched(
    plan: Plan,
    mode: Literal["collect", "pilot"],
    file: Journal,
    show: Callable[[Record], None] = lambda _: None,
) -> Collected:
    """Start processes until the cases are known, and in a pilot until each is over."""
    found: list[Collected] = []
    over: set[str] = set()

    def hear(record: Record) -> None:
        if isinstance(record, journal.Stopped):
            raise CannotRunError(record.message)
        if isinstance(record, Collected):
            found.append(record)
            if found[1:]:  # another process collects what is left
                return
        elif isinstance(record, Measured | Refused):
            over.add(record.case)
        show(record)

    left, tried, fruitless = [case.fullname for case in plan.like], 0, 0
    while tried < TRIES and fruitless < FRUITLESS_TRIES:
        file.mend()
        before = len(over)
        spec = LaunchSpec(plan=plan, mode=mode, journal=str(file.path), order=left)
        options = ["--collect-only"] * (mode == "collect")
        selection = ["-k", plan.settings.expression] * bool(plan.settings.expression and not left)
        process = LaunchProcess(spec, *options, *selection)
        code = process.watch(file, hear)
        tried, fruitless = tried + 1, fruitless + 1 if len(over) == before else 0
        crashed = code is None or code < 0
        if code == MISUSED or not (found or (crashed and fruitless < FRUITLESS_TRIES)):
            raise _not_collected(code, process)
        if found:
            collected, *_ = found
            _require_cases(collected, spec)
            left = [case.fullname for case in collected.cases if case.fullname not in over]
            if mode == "collect" or not left:
                return collected
    raise CannotRunError(
        f"the pilot lost {tried} processes to cases that hang or crash; the last one said:\n"
        f"{process.last_lines()}"
    )


def _require_cases(found: Collected, spec: LaunchSpec) -> None:
    expression, profile = spec.settings.expression, spec.settings.profile
    if found.cases:
        return
    if spec.order:
        raise CannotRunError(
            "none of that run's cases exists here; was it made with other --benchmarks or "
            "--devices? `frobench list` shows what there is"
        )
    what = f"no case matches {expression!r} in" if expression else "no case of"
    advice = "a case is a function bench_* in a file bench_*.py that calls its argument `measure`"
    if found.near:
        advice = f"did you mean {' or '.join(found.near)}?"
    raise NothingSelectedError(f"{what} the profile {profile} in {spec.plan.benchmarks}; {advice}")


def _not_collected(code: int | None, process: LaunchProcess) -> Exception:
    """Return why no process collected anything, by the exit code of the last one."""
    printed, last = process.printed(), process.last_lines()
    if code == MISUSED:  # no body's: a process that ends with a case in flight has code 0 here
        return NothingSelectedError(last.rpartition("ERROR: ")[2])
    if code == journal.DISK_REFUSES:  # and pytest swallows the message, so early
        return CannotRunError("the disk refuses what the pilot writes; is there room on it?")
    if module := absent_in(printed):
        return CannotRunError(absent(module))
    how = f" ({loss})" if (loss := lost(code)) and (code is None or code < 0) else ""
    return CannotRunError(f"the benchmarks cannot be collected{how}; pytest said:\n{last}")
