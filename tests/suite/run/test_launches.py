# SPDX-License-Identifier: MIT
"""The runner disturbs no case of a launch, however many launches came before."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from suite.journal.records import Begun, Ended, Identity, Journal, Record
from suite.journal.spec import LaunchSpec
from suite.profiles import settings_for
from suite.run import launches
from suite.run.plan import Draft, Plan
from suite.run.progress import Reporter
from suite.run.unfinished import LAUNCHES, RunClock
from suite.stored.run import CommitInfo
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.made_up_records import measured

CASES, LAUNCHED = 300, 9
SETTINGS = settings_for("quick", ["cpu"], launches=LAUNCHED + 1)


def plan() -> Plan:
    """Return a plan of many cases and launches."""
    draft = Draft(
        run="r", started="", seed=1, settings=SETTINGS, commit=CommitInfo(), benchmarks=""
    )
    return Plan(
        draft=draft,
        settings=SETTINGS,
        environment=environment(None, 0),
        exercises={},
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
        outcomes=[],
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
    """A launch's process that measures every case at once, and what the runner spends on it.

    spent : CPU seconds of the runner while the last one measured
    """

    spent = 0.0

    def __init__(self, spec: LaunchSpec) -> None:
        self._said = records(spec.launch, spec.order)

    def watch(self, _journal: Journal, hear: Callable[[Record], None]) -> int:
        """Pass on what the launch says."""
        before = time.process_time()
        for record in self._said:
            hear(record)
        Launch.spent = time.process_time() - before
        return 0


def test_the_tenth_launch_of_300_cases_costs_the_runner_next_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan()
    journal = Journal(tmp_path / LAUNCHES)
    names = [case.fullname for case in planned.cases]
    for number in range(LAUNCHED):
        journal.append(records(number, names))
        journal.write(Ended(launch=number, started="", begun=float(number), seconds=1.0))
    monkeypatch.setattr(launches, "LaunchProcess", Launch)
    made = launches.Launches(planned, tmp_path, RunClock(tmp_path), Reporter())
    made.run()
    assert made.done == LAUNCHED + 1
    assert Launch.spent < 1.0  # it is milliseconds; 10 s and more if each case looks at all records
