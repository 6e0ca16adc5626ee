# SPDX-License-Identifier: MIT
"""The launches of a run: what watching them costs, and what hanging cases cost the others."""

import time
from collections.abc import Callable, Collection
from itertools import takewhile
from pathlib import Path
from typing import ClassVar

import pytest
from msgspec.structs import replace

from frobench.suite.journal import Begun, Ended, Journal, Record, Refused
from frobench.suite.plan import LaunchSpec, Plan
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
    """A launch's process that measures every case at once, or until the first hanging one."""

    spent: ClassVar[float] = 0.0  # CPU seconds of the runner while the last one measured
    hung: ClassVar[list[tuple[str, float]]] = []  # cases, and the seconds until they were ended
    hanging: ClassVar[Collection[str]] = ()
    clock: ClassVar[RunClock]

    def __init__(self, spec: LaunchSpec, *, deadline: Callable[[str], float]) -> None:
        self._spec, self._deadline = spec, deadline

    def watch(self, _journal: Journal, hear: Callable[[Record], None]) -> int:
        """Pass on what the launch says; let the clock pass a hanging case's deadline."""
        number, names = self._spec.launch, iter(self._spec.order)
        measured_ones = [*takewhile(lambda name: name not in self.hanging, names)]
        before = time.process_time()
        for record in records(number, measured_ones):
            hear(record)
        Launch.spent = time.process_time() - before
        for case in self._spec.order[len(measured_ones) :][:1]:
            self.hung.append((case, self._deadline(case)))
            self.clock.advance_to(self.clock.seconds() + self._deadline(case))
            hear(Refused(launch=number, case=case, status="failed", reason="hung", fatal=True))
        return 0


def run(folder: Path, planned: Plan, monkeypatch: pytest.MonkeyPatch) -> launches.Launches:
    """Make the launches of a plan."""
    monkeypatch.setattr(launches, "LaunchProcess", Launch)
    Launch.clock = RunClock()
    made = launches.Launches(planned, folder, Launch.clock, Reporter())
    made.run()
    return made


def test_the_tenth_launch_of_300_cases_costs_the_runner_next_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / LAUNCHES)
    for number in range(LAUNCHED):
        journal.append(records(number, NAMES))
        journal.write(Ended(launch=number, started="", begun=float(number), seconds=1.0))
    assert run(tmp_path, PLAN, monkeypatch).done == LAUNCHED + 1
    assert Launch.spent < 1.0  # it is milliseconds; 10 s and more if each case looks at all records


def test_cases_that_hang_take_a_part_of_the_budget_and_are_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for("quick", ["cpu"], budget=260.0, launches=3)
    pairs = [(case, measured(case.fullname, samples=[1e-3])) for case in PLAN.cases]
    planned = replace(PLAN, settings=settings, deadlines=deadlines(pairs, 0.02))
    monkeypatch.setattr(Launch, "hanging", NAMES[::60])
    monkeypatch.setattr(Launch, "hung", [])
    assert run(tmp_path, planned, monkeypatch).done == 3
    assert sorted(case for case, _ in Launch.hung) == sorted(NAMES[::60])
    assert sum(seconds for _, seconds in Launch.hung) < 0.25 * 260.0


def test_a_case_has_ten_times_as_long_as_it_should_take_and_a_group_the_whole_deadline() -> None:
    alone, group = PLAN.cases[0], replace(PLAN.cases[1], devices=["cpu/2x1"])
    slow = measured("", samples=[0.5], wall_seconds=4.0, sampled=1.0)
    pairs = [(case, replace(slow, case=case.fullname)) for case in (alone, group)]
    planned = replace(PLAN, deadlines=deadlines(pairs, 0.02))
    assert 30 < planned.deadline(alone.fullname, left=0.0) < 60
    assert planned.deadline(group.fullname, left=0.0) == planned.settings.deadline == 60
