# SPDX-License-Identifier: MIT
"""The launches of a run: what watching them costs, and when a case is taken for hanging."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from msgspec.structs import replace

from frobench.suite.journal import Begun, Ended, Journal, Record
from frobench.suite.plan import LaunchSpec
from frobench.suite.profiles import settings_for
from frobench.suite.run import launches
from frobench.suite.run.planning import deadlines
from frobench.suite.run.progress import Reporter
from frobench.suite.run.unfinished import LAUNCHES, RunClock
from tests.instruments.runs import made_up_records
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.made_up_records import measured

CASES, LAUNCHED = 300, 9
SETTINGS = settings_for("quick", ["cpu"], launches=LAUNCHED + 1)


PLAN = made_up_records.plan(
    SETTINGS,
    environment=environment(None, 0),
    cases=[made_up_records.identity(f"bench_tiny[cpu-{n}]") for n in range(CASES)],
    plan_seconds=1.0,
    launch_seconds=1.0,
)
NAMES = [case.fullname for case in PLAN.cases]


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

    def __init__(self, spec: LaunchSpec, **_: object) -> None:
        self._spec = spec

    def watch(self, _journal: Journal, hear: Callable[[Record], None]) -> int:
        """Pass on what the launch says."""
        before = time.process_time()
        for record in records(self._spec.launch, self._spec.order):
            hear(record)
        Launch.spent = time.process_time() - before
        return 0


def test_the_tenth_launch_of_300_cases_costs_the_runner_next_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launches, "LaunchProcess", Launch)
    journal = Journal(tmp_path / LAUNCHES)
    for number in range(LAUNCHED):
        journal.append(records(number, NAMES))
        journal.write(Ended(launch=number, started="", begun=float(number), seconds=1.0))
    made = launches.Launches(PLAN, tmp_path, RunClock(), Reporter())
    made.run()
    assert made.done == LAUNCHED + 1
    assert Launch.spent < 1.0  # it is milliseconds; 10 s and more if each case looks at all records


def test_a_case_has_ten_times_as_long_as_it_should_take_and_a_group_the_whole_deadline() -> None:
    alone, group = PLAN.cases[0], replace(PLAN.cases[1], devices=["cpu/2x1"])
    slow = measured("", samples=[0.5], wall_seconds=4.0, sampled=1.0)
    pairs = [(case, replace(slow, case=case.fullname)) for case in (alone, group)]
    planned = replace(PLAN, deadlines=deadlines(pairs, 0.02))
    # The first case does for all what it did in the pilot: 3 s. Ten times 5.5 s are on top of it.
    assert planned.deadlines == {alone.fullname: 58.0}
    assert [planned.deadline(alone.fullname, left) for left in (0.0, 1180.0, 1300.0)] == [
        58,
        59,
        60,
    ]
    assert planned.deadline(group.fullname, left=0.0) == planned.settings.deadline == 60
    quick = [(case, replace(slow, sampled=3.9, samples=[1e-3])) for case, slow in pairs]
    assert deadlines(quick, 0.02) == {alone.fullname: 10.0}  # at least
