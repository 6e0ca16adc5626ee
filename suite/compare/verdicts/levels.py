# SPDX-License-Identifier: MIT
"""Where the launches of each case of a run lie, for comparisons of other runs."""

import math
from collections.abc import Sequence

from msgspec import Struct, structs

from frobench.suite.compare.alike import failures, faults
from frobench.suite.compare.disturbance import Gauges, conclusive_shifts, disturbing, gauges
from frobench.suite.compare.verdicts.permutation import pulled_in, table
from frobench.suite.statistics import LEAST_LAUNCHES, case_medians
from frobench.suite.stored.differences import state
from frobench.suite.stored.run import Run

CLOCK = "cpu/python"
"""The body of the gauge that shows how fast the cores run: it only computes. Heat, power limits and
other guests of a host change their clock, and most times with it."""
MOST_RUNS = 12
"""Other runs that are looked at, the newest."""
ALIKE_SHIFT = 0.02
"""Largest conclusive shift of the gauge of a run from which something is learned, as a log."""


class Level(Struct, frozen=True):
    """Where the launches of a case lie in a run, as logs of seconds, outliers pulled in."""

    version: str  # of the benchmark
    device: str  # the one that gives the case its name
    mean: float
    variance: float  # of one launch
    launches: int


class Levels(Struct, frozen=True):
    """What one run says to comparisons of others."""

    run: str
    state: str  # a digest of what moves numbers on its machine
    disturbed: list[str]  # codes of what else used the machine, sorted
    gauges: dict[str, list[float]]  # times of each body of the gauge
    cases: dict[str, Level]  # by full name, those with enough launches

    @property
    def log_core_seconds(self) -> float | None:
        """The level of the gauge that shows how fast the cores run, as a log of seconds."""
        times = self.gauges.get(CLOCK)
        return centres([times])[0][0] if times else None

    def in_clocks(self) -> "Levels | None":
        """Return the same relative to the speed of the cores; ``None`` where that is unknown."""
        level, ticks = self.log_core_seconds, self.gauges.get(CLOCK, [])
        if level is None:
            return None
        cases = {
            name: structs.replace(case, mean=case.mean - level) for name, case in self.cases.items()
        }
        relative = {
            name: [seconds / tick for seconds, tick in zip(times, ticks, strict=True)]
            for name, times in self.gauges.items()
            if name != CLOCK and len(times) == len(ticks)
        }
        return structs.replace(self, cases=cases, gauges=relative)

    def is_like(self, other: "Levels") -> bool:
        """Whether this is another run of the same machine, disturbed alike."""
        alike = (self.state, self.disturbed) == (other.state, other.disturbed)
        return alike and bool(self.cases) and self.run != other.run

    def met_the_same_state(self, before: Gauges) -> bool:
        """Whether no gauge conclusively differs from another run's."""
        shifts = conclusive_shifts(before, self.gauges).values()
        return all(abs(shift) <= ALIKE_SHIFT for shift in shifts)


def levels(run: Run) -> Levels:
    """Return what a run says to comparisons of others: nothing where its checks found an error."""
    failed = failures(run, "")
    cases = [] if faults(run, "") else run.benchmarks
    every = [(case, case_medians(case)) for case in cases if case.fullname not in failed]
    enough = [
        (case, medians)
        for case, medians in every
        if sum(value is not None and value > 0 for value in medians) >= LEAST_LAUNCHES
    ]
    centred = centres([medians for _, medians in enough])
    return Levels(
        run=run.frobench.run,
        state=state(run.frobench.environment),
        disturbed=sorted(disturbing(run) or ()),
        gauges=gauges(run),
        cases={
            case.fullname: Level(case.extra_info.version, case.extra_info.device, *centre)
            for (case, _), centre in zip(enough, centred, strict=True)
        },
    )


def centres(cases: Sequence[Sequence[float | None]]) -> list[tuple[float, float, int]]:
    """Return the mean log over launches of each case, outliers pulled in, variance and number."""
    if not cases:
        return []
    logs = [
        [math.log(value) if value and value > 0 else math.nan for value in medians]
        for medians in cases
    ]
    middles, values, present = pulled_in(table(logs))
    launches = present.sum(axis=0)
    means = values.sum(axis=0) / launches
    squares = (((values - means) * present) ** 2).sum(axis=0)
    counts = launches + 0 * middles
    return [
        (float(mean), float(square / (count - 1)), int(count))
        for mean, square, count in zip(middles + means, squares, counts, strict=True)
    ]
