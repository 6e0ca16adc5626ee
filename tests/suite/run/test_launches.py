# SPDX-License-Identifier: MIT
"""What watching the launches of a run costs."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from frobench.suite.journal import (
    Begun,
    Ended,
    Identity,
    Journal,
    LaunchSpec,
    Plan,
    Record,
)
from frobench.suite.profiles import settings_for
from frobench.suite.run import launches
from frobench.suite.run.progress import Reporter
from frobench.suite.run.unfinished import LAUNCHES, RunClock
from tests.instruments.runs import made_up_records
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.made_up_records import measured

CASES, LAUNCHED = 300, 9
SETTINGS = settings_for("quick", ["cpu"], launches=LAUNCHED + 1)


def plan() -> Plan:
    """Return a plan of many cases and launches."""
    return made_up_records.plan(
        SETTINGS,
        environment=environment(None, 0),
        cases=[
            Identity(
                fullname=f"bench_tiny[cpu-{n}]",
                name="bench_tiny",
                group="tiny",
                function="bench_tiny",
                params={"device": "cpu", "n": n},
                param=None,
                title="Add.",
                headline=True,
                devices=["cpu"],
                version="1",
            )
            for n in range(CASES)
        ],
        plan_seconds=1.0,
        launch_seconds=1.0,
    )


def records(number: int, names: list[str]) -> list[Record]:
    """Return what a launch says that measures these cases."""
    return [
        record
        for name in names
        for record in (Begun(launch=number, case=name, at=0.0), measured(name, launch=number))
    ]


class Launch:
    """A launch's process that measures every case at once."""

    spent: ClassVar[float] = 0.0  # CPU seconds of the runner while the last one measured

    def __init__(self, spec: LaunchSpec) -> None:
        self._spec = spec

    def watch(self, _journal: Journal, hear: Callable[[Record], None]) -> int:
        """Pass on what the launch says."""
        before = time.process_time()
        for record in records(self._spec.launch, self._spec.order):
            hear(record)
        Launch.spent = time.process_time() - before
        return 0


def run(folder: Path, planned: Plan, monkeypatch: pytest.MonkeyPatch) -> launches.Launches:
    """Make the launches of a plan."""
    monkeypatch.setattr(launches, "LaunchProcess", Launch)
    made = launches.Launches(planned, folder, RunClock(), Reporter())
    made.run()
    return made


def test_the_tenth_launch_of_300_cases_costs_the_runner_next_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan()
    journal = Journal(tmp_path / LAUNCHES)
    names = [case.fullname for case in planned.cases]
    for number in range(LAUNCHED):
        journal.append(records(number, names))
        journal.write(Ended(launch=number, started="", begun=float(number), seconds=1.0))
    assert run(tmp_path, planned, monkeypatch).done == LAUNCHED + 1
    assert Launch.spent < 1.0  # it is milliseconds; 10 s and more if each case looks at all records
