# SPDX-License-Identifier: MIT
"""Whether reading the sensors disturbs what is measured meanwhile, on this machine.

In one run it is on for every other case of a launch, and for the others in the next launch: each
two launches measure each case once with it and once without.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import geometric_mean
from tempfile import TemporaryDirectory
from unittest.mock import patch

from frobench.suite.machine.sensors.sensor import Sensor
from frobench.suite.run import runner, telemetry
from frobench.suite.run.progress import Reporter
from frobench.suite.run.runner import Interruptions, Request
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored.machine_identity import short_name
from frobench.suite.stored.types import Case, Run, Telemetry
from frobench.suite.units import counted
from studies.calibration.figures import RATIO, Figure, Goal, Table
from studies.calibration.real import BODIES, LAUNCH_BUDGET
from studies.calibration.work import Spread, Tell

HARMLESS = Goal(least=0.995, most=1.005)
"""What sampling may do to a time."""


class Switch(Reporter):
    """Hears from the runner which case begins, and turns the sampling on for every other one.

    was_on : by launch, from 0, and by the short name of a case
    """

    def __init__(self, tell: Tell, launches: int) -> None:
        super().__init__()
        self.on = threading.Event()
        self.was_on: dict[tuple[int, str], bool] = {}
        self._tell = tell
        self._launches = launches
        self._done = 0
        self._places: dict[str, int] = {}

    def say(self, line: str) -> None:
        """Count the launches."""
        if line.startswith("launch "):
            self._done += 1
            self._tell(self._done / self._launches, line)

    def at(self, spent: float, left: float, what: str) -> None:  # noqa: ARG002 - a reporter's
        """Turn it on or off for the case that begins."""
        place = self._places.setdefault(what, len(self._places))
        on = (place + self._done) % 2 == 0
        self.was_on[self._done, what] = on
        (self.on.set if on else self.on.clear)()


def study(tell: Tell, _spread: Spread, launches: int) -> list[Table]:
    """Make a run of so many launches, and return how it went with sampling and without."""
    switch = Switch(tell, launches)
    return [table(record(switch, launches), switch.was_on)]


def record(switch: Switch, launches: int) -> Run:
    """Measure in a run whose sampling is turned on and off."""
    read, join = telemetry.read, telemetry.join

    def switched(sensor: Sensor, run_seconds: Callable[[], float]) -> telemetry.Reading:
        switch.on.wait()  # without a single moment of the processor
        return read(sensor, run_seconds)

    def joined(threads: Iterable[threading.Thread], seconds: float) -> None:
        switch.on.set()
        join(threads, seconds)

    with (
        TemporaryDirectory() as name,
        patch.object(telemetry, "read", switched),
        patch.object(telemetry, "join", joined),
    ):
        asked = Request(
            results=Path(name),
            benchmarks=BODIES,
            profile="quick",
            devices=["cpu"],
            launches=launches,
            budget=launches * LAUNCH_BUDGET,
        )
        return runner.run(asked, switch, Interruptions())[1]


def table(run: Run, was_on: Mapping[tuple[int, str], bool]) -> Table:
    """Return what sampling did to the time of each case, and to all together."""
    by_case = {short_name(case.fullname): ratios(case, was_on) for case in run.benchmarks}
    told = run.frobench.telemetry
    assert isinstance(told, Telemetry)
    # In each launch it was on for half of the cases, so what a launch does to all cancels out.
    together = [geometric_mean(pair) for pair in zip(*by_case.values(), strict=True)]
    every = estimate(together)
    name = "all cases together"
    ends = {"from": every.low, "to": every.high}
    return Table(
        title=f"Times with the sensors read, over times without, in "
        f"{counted(len(run.frobench.launches), 'launch')}",
        rows="case",
        figures=[
            Figure.of(name, "with / without", every.value, RATIO, HARMLESS),
            *(Figure.of(name, end, value, RATIO) for end, value in ends.items() if value),
            *(
                Figure.of(case, "with / without", estimate(found).value, RATIO)
                for case, found in by_case.items()
            ),
        ],
        note=f"Sampling, on for half of the time, took {told.cost:.2%} of a core.",
    )


def ratios(case: Case, was_on: Mapping[tuple[int, str], bool]) -> list[float]:
    """Return for each two launches how a case's time with sampling compares with that without."""
    medians = case_medians(case)
    name = short_name(case.fullname)
    found = []
    for first in range(0, len(medians) - 1, 2):
        times = [medians[launch] for launch in (first, first + 1)]
        one, other = times if was_on[first, name] else reversed(times)
        assert one is not None, "a launch did not reach the case"
        assert other is not None
        found.append(one / other)
    return found
