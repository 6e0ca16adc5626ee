# SPDX-License-Identifier: MIT
"""`frobench run --once`: one call of one case in this process, for a profiler to attach to."""

import io
import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from frobench.suite.errors import CannotRunError, NothingMeasuredError, NothingSelectedError
from frobench.suite.exit_codes import absent, absent_in
from frobench.suite.journal import Journal, Measured, Refused, Stopped
from frobench.suite.launch.collection import has_cases, parameters
from frobench.suite.plan import LaunchSpec, Plan
from frobench.suite.profiles import PROFILES, settings_for
from frobench.suite.run.launches import LOG_LINES, arguments, environment
from frobench.suite.run.lock import machine_lock
from frobench.suite.stored.machine_identity import name_of, short_name

MOST_NAMES = 8
"""Cases that an error names."""


class Called(Struct, frozen=True, kw_only=True):
    """A case that was called, by its full name, and the seconds of the call."""

    case: str
    devices: list[str]
    seconds: float


def run_once(  # noqa: PLR0913 - one a choice that the user has
    case: str,
    benchmarks: Path,
    devices: list[str],
    *,
    expression: str,
    seed: int,
    trace: Path | None,
    waiting: Callable[[str], object] | None,
) -> Called:
    """Set a case up, warm it up, call it once and check its result, all in this process.

    case : as the user calls it, of those that any profile has
    devices : names, or none for the CPU and every accelerator
    trace : the file for a trace of the call, if one is wanted
    waiting : see `machine_lock`

    Raises `CannotRunError`, `NothingSelectedError` and `NothingMeasuredError`.
    """
    settings = settings_for("rigorous", devices, expression=expression)
    with machine_lock(waiting=waiting), TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "once.jsonl")
        settings = replace(settings, case_seconds=PROFILES["quick"].case_seconds)
        spec = LaunchSpec(
            plan=Plan(run="", started="", seed=seed, settings=settings, benchmarks=str(benchmarks)),
            mode="once",
            journal=str(journal.path),
            runner=os.getppid(),  # this process is its own runner, and lives as long as it does
            trace=str(trace) if trace else None,
        )
        path = Path(folder) / "once.json"
        path.write_bytes(msgspec.json.encode(spec))
        chosen = _Choice(case)
        selection = ["-k", expression] if expression else []
        code, printed = _pytest([*arguments(path, benchmarks), *selection], chosen)
        return _outcome(journal, chosen, code, printed)


class _Choice:
    """A plugin of pytest that leaves the case that is wanted, or keeps the `error` why none is."""

    def __init__(self, wanted: str) -> None:
        self._wanted = wanted
        self.devices: list[str] = []
        self.error: NothingSelectedError | None = None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        cases = {
            item.nodeid: item
            for item in items
            if isinstance(item, pytest.Function)
            if "measure" in item.fixturenames and has_cases(item)
        }
        items.clear()
        try:
            chosen = cases[the_case(self._wanted, list(cases))]
        except NothingSelectedError as error:
            self.error = error
            return
        self.devices = str(parameters(chosen)["device"]).split("+")
        items.append(chosen)


def the_case(wanted: str, cases: Sequence[str]) -> str:
    """Return the full name of the one case that a user means.

    wanted : a name, in full or without file or ``bench``, or else a part of one

    Raises `NothingSelectedError` if no case matches, or several do.
    """
    matches = [case for case in cases if wanted in {case, short_name(case), name_of(case)}]
    matches = matches or [case for case in cases if wanted.lower() in case.lower()]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise NothingSelectedError(
            f"no case matches {wanted!r}; `frobench list --profile rigorous` shows what there is"
        )
    named = "\n  ".join(matches[:MOST_NAMES])
    raise NothingSelectedError(
        f"{wanted!r} matches {len(matches)} cases; give the name of one, such as\n  {named}"
    )


def _pytest(options: list[str], chosen: _Choice) -> tuple[int, str]:
    """Run pytest in this process; return its exit code and what it printed."""
    printed = io.StringIO()
    kept = environment()
    os.environ.clear()
    os.environ.update(kept)
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = pytest.main(options, plugins=[chosen])
        except pytest.fail.Exception:  # what `measure` says of a body that was interrupted
            code = pytest.ExitCode.INTERRUPTED
    return int(code), printed.getvalue()


def _outcome(journal: Journal, chosen: _Choice, code: int, printed: str) -> Called:
    """Return what became of the case, by what the session wrote down."""
    for record in journal:
        if isinstance(record, Stopped):
            raise CannotRunError(record.message)
        if isinstance(record, Refused):
            failed = record.status == "failed"
            word = "failed" if failed else "left out"
            reason = f"{word}: {name_of(record.case)}: {record.reason}"
            lines = [reason, *record.details.splitlines()]
            raise NothingMeasuredError("\n  ".join(lines), failed=failed)
        if isinstance(record, Measured):
            return Called(case=record.case, devices=chosen.devices, seconds=record.samples[0])
    if chosen.error is not None:
        raise chosen.error
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if module := absent_in(printed):
        raise CannotRunError(absent(module))
    end = "\n".join(printed.splitlines()[-LOG_LINES:])
    raise CannotRunError(f"the benchmarks cannot be collected; pytest said:\n{end}")
