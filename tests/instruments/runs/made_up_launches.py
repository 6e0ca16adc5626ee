# SPDX-License-Identifier: MIT
"""A runner whose launches are made up: each writes at once what a process of pytest would."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from pathlib import Path
from time import monotonic
from typing import IO, Any, ClassVar
from unittest.mock import Mock

import msgspec
import pytest
from msgspec import UNSET

from frobench.suite import doctor
from frobench.suite.journal import (
    DISK_REFUSES,
    Begun,
    Collected,
    Journal,
    Measured,
    Record,
    Surroundings,
)
from frobench.suite.machine import environment
from frobench.suite.plan import OPTION, CaseIdentity, LaunchSpec
from frobench.suite.run import launches, merge, runner, telemetry
from frobench.suite.run.progress import Reporter
from frobench.suite.run.runner import Interruptions, Request
from frobench.suite.stored.types import CommitInfo, Exercise, Run
from tests.instruments.runs import factory_machine, made_up_records

NAMES = ["bench_one[cpu]", "bench_two[cpu]"]
LAUNCHES = 2
FAILED = 1
"""The exit code of a process that an exception ends, and of a pytest with a failed test."""
WALL_SECONDS = 0.01
"""Of a case, a little longer than making it up takes."""
PID = 2**30
"""The number of no process."""


def identity(name: str) -> CaseIdentity:
    fullname = f"benchmarks/bench_it.py::{name}"
    return made_up_records.identity(name, fullname=fullname, group="it", param="cpu")


def measured(launch: int, name: str, seconds: float) -> Measured:
    facts: Any = {"samples": [seconds] * 3, "sampled": 3 * seconds, "wall_seconds": WALL_SECONDS}
    return made_up_records.measured(identity(name).fullname, launch=launch, warmup=0.1, **facts)


class Launch:
    """Stands for `subprocess.Popen`: does what a launch does, in this process.

    modes : of all launches so far
    seconds : of the samples that the journal took; no two cases have the same
    """

    modes: ClassVar[list[str]] = []
    seconds: ClassVar[list[float]] = []
    _clock = count(1)

    pid = PID

    def __init__(self, arguments: Sequence[str], *, stdout: IO[bytes], **_: object) -> None:
        self._log = stdout
        path = next(a.partition("=")[2] for a in arguments if a.startswith(OPTION))
        self.spec = msgspec.json.decode(Path(path).read_bytes(), type=LaunchSpec)
        self.modes.append(self.spec.mode)
        self._code = self.run()

    def poll(self) -> int:
        """Return the exit code."""
        return self._code

    wait = poll

    def run(self) -> int:
        """Write a line for each record, and a dot for each case; return the exit code."""
        journal = Journal(Path(self.spec.journal))
        for record in self.records():
            try:
                journal.write(record)
            except OSError:
                return DISK_REFUSES
            if isinstance(record, Measured):
                if self.spec.mode == "measure":
                    self.seconds.append(record.samples[0])
                try:
                    self._log.write(b".")
                except OSError:
                    return FAILED
        return 0

    def records(self) -> Iterator[Record]:
        """Yield what a launch writes into its journal."""
        if self.spec.mode == "pilot":
            yield Surroundings(devices=["cpu"], environment=factory_machine.environment(None, 0))
            exercises = {"it": Exercise(question="How fast is it?", explanation="It.")}
            yield Collected(cases=[identity(name) for name in NAMES], exercises=exercises)
        for name in NAMES:
            case = identity(name).fullname
            if not self.spec.order or case in self.spec.order:
                yield Begun(launch=self.spec.launch, case=case, at=monotonic(), settled=0.0)
                yield measured(self.spec.launch, name, next(self._clock) / 1e9)


class Quiet(Reporter):
    """Says nothing, and remembers the lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        """Remember a line."""
        self.lines.append(line)


@contextmanager
def made_up(launch: type[Launch] = Launch) -> Iterator[None]:
    """Let every launch be made up, ask nothing of the machine, and wait for no disk."""
    launch.modes, launch.seconds = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", launch)
        patch.setattr(launches, "POLL_SECONDS", 0)
        patch.setattr(launches, "end_orphans", lambda _: None)
        patch.setattr(launches, "Others", lambda: Mock(used=lambda: 0.0))
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(runner, "machine_lock", lambda **_: nullcontext())
        patch.setattr(doctor, "glance", lambda *_: [])
        patch.setattr(telemetry, "recording", lambda *_: nullcontext())
        patch.setattr(telemetry, "why_no_counter", lambda _: {})
        patch.setattr(environment, "commit", lambda: CommitInfo(id="e" * 40))
        patch.setattr(environment, "machine_info", dict)
        patch.setattr(runner, "project_folder", lambda *_: None)
        patch.setattr(merge, "version", lambda _: "5.2.0")
        yield


def run(
    results: Path, resume: str | None = None, reporter: Quiet | None = None
) -> tuple[Path, Run]:
    """Make a run of a few launches, or resume one."""
    asked: Any = {"devices": ["cpu"], "launches": LAUNCHES, "seed": 1, "resume": resume}
    wanted = Request(results=results, benchmarks=results, **asked)
    with Interruptions() as interruptions:
        return runner.run(wanted, reporter or Quiet(), interruptions)


def follow_each_other(made: Run) -> bool:
    """Tell whether each launch began behind the one before it, and the last ended in the run."""
    end = 0.0
    for launch in made.frobench.launches:
        if launch.begun is not UNSET and launch.started:  # else it was cut off
            if launch.begun < end - 0.01:
                return False
            end = launch.begun + launch.seconds
    return end <= made.frobench.seconds + 0.01
