# SPDX-License-Identifier: MIT
"""`frobench run --once`: one case in the command's own process, and nothing stored."""

import io
import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from suite.absent import absent, absent_in
from suite.errors import CannotRunError, NothingMeasuredError
from suite.journal.journal import Journal
from suite.journal.records import Measured, Refused, Stopped
from suite.journal.spec import LaunchSpec
from suite.once.choice import Choice
from suite.profiles import PROFILES, settings_for
from suite.run.folder.lock import machine_lock
from suite.run.process import LOG_LINES, arguments, environment
from suite.stored.names import name_of


class Once(Struct, frozen=True, kw_only=True):
    """What to call, and where.

    case : as the user calls it
    devices : names, or none for the CPU and every accelerator
    trace : the file for a trace of the call, if one is wanted
    """

    case: str
    benchmarks: Path
    devices: list[str]
    expression: str = ""
    seed: int = 0
    trace: Path | None = None


class Called(Struct, frozen=True, kw_only=True):
    """A case that was called: its full name, what it ran on, and the seconds of the call."""

    case: str
    devices: list[str]
    seconds: float


def run_once(asked: Once, waiting: Callable[[str], object] | None = None) -> Called:
    """Set a case up, warm it up, call it once and check its result, all in this process.

    waiting : see `machine_lock`

    Raises `CannotRunError`, `NothingSelectedError` and `NothingMeasuredError`.
    """
    with machine_lock(waiting=waiting), TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "once.jsonl")
        spec = Path(folder) / "once.json"
        spec.write_bytes(msgspec.json.encode(_spec(asked, journal.path)))
        chosen = Choice(asked.case)
        code, printed = _pytest(asked, spec, chosen)
        return _outcome(journal, chosen, code, printed)


def _spec(asked: Once, journal: Path) -> LaunchSpec:
    """Ask for one call; every case that any profile has can be chosen."""
    settings = settings_for("rigorous", asked.devices, expression=asked.expression)
    return LaunchSpec(
        mode="once",
        launch=0,
        journal=str(journal),
        benchmarks=str(asked.benchmarks),
        seed=asked.seed,
        settings=replace(settings, case_seconds=PROFILES["quick"].case_seconds),
        runner=os.getppid(),  # this process is its own runner, and lives as long as it does
        trace=str(asked.trace) if asked.trace else None,
    )


def _pytest(asked: Once, spec: Path, chosen: Choice) -> tuple[int, str]:
    """Run pytest in this process; return its exit code and what it printed."""
    printed = io.StringIO()
    kept = environment()
    os.environ.clear()
    os.environ.update(kept)
    selection = ["-k", asked.expression] if asked.expression else []
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = pytest.main([*arguments(spec, asked.benchmarks), *selection], plugins=[chosen])
        except pytest.fail.Exception:  # what `measure` says of a body that was interrupted
            if not chosen.interrupted:
                raise
            code = pytest.ExitCode.INTERRUPTED
    return int(code), printed.getvalue()


def _outcome(journal: Journal, chosen: Choice, code: int, printed: str) -> Called:
    """Return what became of the case, by what the session wrote down."""
    for record in journal:
        if isinstance(record, Stopped):
            raise CannotRunError(record.message)
        if isinstance(record, Refused):
            failed = record.status == "failed"
            word = "failed" if failed else "left out"
            lines = [
                f"{word}: {name_of(record.case)}: {record.reason}",
                *record.details.splitlines(),
            ]
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
