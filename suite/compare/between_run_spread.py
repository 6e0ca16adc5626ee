# SPDX-License-Identifier: MIT
"""How far runs of one machine differ by themselves: other programs, shifted runs, earlier runs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist, median, variance
from typing import NamedTuple

from msgspec import UNSET, Struct

from frobench.suite.compare.matching import failures, faults
from frobench.suite.compare.verdicts import Between, compare_values, table, winsorised
from frobench.suite.profiles import LARGEST_LOAD
from frobench.suite.statistics import ALARMS, LEAST_LAUNCHES, case_medians
from frobench.suite.stored.differences import state
from frobench.suite.stored.types import Case, Run
from frobench.suite.units import format_value

BUSY = "busy-processor"
DISTURBING = frozenset({"busy-accelerator", BUSY, "held-back", "little-memory", "on-battery"})
"""Codes of `frobench doctor` for what comes and goes and moves numbers."""
Gauges = Mapping[str, Sequence[float]]
LARGEST_SHIFT = 0.05
"""Largest conclusive shift of a gauge that disturbs no comparison, as a ratio less 1."""


def disturbing(run: Run) -> frozenset[str] | None:
    """Return the codes of what disturbed a run; ``None`` where it does not say.

    Launches know how busy other programs kept the processor better than the moment before them.
    """
    load, troubles = run.frobench.others_load, run.frobench.troubles
    if troubles is UNSET and load is None:
        return None
    codes = {trouble.code for trouble in troubles or ()} & DISTURBING
    if load is not None:
        codes = codes - {BUSY} | ({BUSY} if load > LARGEST_LOAD else set())
    return frozenset(codes)


def gauges(run: Run) -> dict[str, list[float]]:
    """Return the times of each body of the gauge, where enough launches have it."""
    times_of: dict[str, list[float]] = {}
    for launch in run.frobench.launches:
        for name, seconds in launch.gauge.items():
            if seconds > 0:
                times_of.setdefault(name, []).append(seconds)
    return {name: times for name, times in times_of.items() if len(times) >= LEAST_LAUNCHES}


def conclusive_shifts(before: Gauges, after: Gauges) -> dict[str, float]:
    """Return for each body of the gauge by how much its times conclusively differ, as a log.

    That is the end of the 95% interval that is nearer to no difference; 0 where that is inside.
    """
    shifts = {}
    for name in [name for name in before if name in after]:
        ratio, shifts[name] = compare_values(before[name], after[name]).ratio, 0.0
        if ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high:
            shifts[name] = min(math.log(ratio.low), math.log(ratio.high), key=abs)
    return shifts


def shift_of(case: Case, shifts: Mapping[str, float]) -> float:
    """Return the largest shift of the gauges of a case's devices."""
    devices = {device.partition("/")[0] for device in case.extra_info.devices}
    mine = (abs(by) for name, by in shifts.items() if name.rpartition("/")[0] in devices)
    return max(mine, default=0.0)


def disturbances(base: Run, new: Run) -> dict[str, str]:
    """Return by a case's full name why it gets no verdict.

    Other programs that kept the processor busy in either run disturb all cases: they never do
    the same twice. Of all else only what disturbed one of the runs counts.
    """
    loads = {"base": base.frobench.others_load, "new": new.frobench.others_load}
    whole = [
        f"other programs kept {format_value(load, '1', digits=2)} of the cores busy in {side}"
        for side, load in loads.items()
        if load is not None and load > LARGEST_LOAD
    ]
    before, after = disturbing(base), disturbing(new)
    if not whole and before is not None and after is not None:
        sides = {"base": before - after, "new": after - before}
        whole = [
            f"{', '.join(sorted(codes))} in {side} only" for side, codes in sides.items() if codes
        ]
    if whole:
        return {case.fullname: f"disturbed: {'; '.join(whole)}" for case in new.benchmarks}
    shifts = conclusive_shifts(gauges(base), gauges(new))
    shift_by_case = {case.fullname: shift_of(case, shifts) for case in new.benchmarks}
    shifted = {
        name: "disturbed: a gauge of its device differs by more than "
        + format_value(math.expm1(shift), "1", digits=2)
        for name, shift in shift_by_case.items()
        if shift > math.log1p(LARGEST_SHIFT)
    }
    first, second = (
        {each.case for each in run.frobench.conclusions if each.code == "throttled-case"}
        for run in (base, new)
    )
    return shifted | {
        name: f"disturbed: throttled in {'new' if name in second else 'base'} only"
        for name in first ^ second
        if name
    }


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

    def is_like(self, other: "Levels") -> bool:
        """Whether this is another run of the same machine, disturbed alike."""
        alike = (self.state, self.disturbed) == (other.state, other.disturbed)
        return alike and bool(self.cases) and self.run != other.run


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
    middles, values, present = winsorised(table(logs))
    launches = present.sum(axis=0)
    means = values.sum(axis=0) / launches
    squares = (((values - means) * present) ** 2).sum(axis=0)
    counts = launches + 0 * middles
    return [
        (float(mean), float(square / (count - 1)), int(count))
        for mean, square, count in zip(middles + means, squares, counts, strict=True)
    ]


LEAST_RUNS = 3
"""Other runs from which the spread is learned; with fewer it is assumed."""
ASSUMED = 0.01
"""Standard deviation of a case's level between runs, relative, where nothing is learned; that of
its launches, if it is larger."""
LEAST = 0.005
"""The same, where it is learned, at least: a few runs that happen to agree show no less."""
PRIOR_RUNS = 4
"""How many runs the other cases of a device count for in what is learned of one case."""
SCALE = 2.0
"""How many times as far as the gauge a case may shift by itself: it has other bodies."""
LAUNCH_VARIANCE_FACTOR = 1.35
"""The variance of a level by that of a launch over their number, for normal launches: pulling
outliers in makes the launches look steadier, and the median of several runs is below their mean."""
Cases = Mapping[str, tuple[str, str]]
"""The version and the device of cases, by full name."""


class BetweenRunSpread(NamedTuple):
    """How much a case's level varies between runs of identical code, as logs."""

    error: float  # standard deviation of the level
    degrees: float  # of freedom with which it is known
    shift: float = 0.0  # by which the gauges of the two runs conclusively differ

    def between(self, family: int) -> Between:
        """Return the difference of two runs, for one of so many cases."""
        error = math.sqrt(2) * self.error
        reach = student(1 - ALARMS / (2 * max(family, 1)), self.degrees) * error
        return Between(error, reach, self.shift)


def between_run_spreads(
    base: Run, new: Run, others: Sequence[Levels]
) -> tuple[dict[str, BetweenRunSpread], int]:
    """Return for each case of two runs, by full name, how much its level varies between runs.

    Return also from how many other runs that is learned: 0 where it is assumed.

    A few runs show a case's own variance between them poorly, so it is drawn towards that of the
    median case of the device, relative to the variance of its launches.

    others : other runs, the newest first
    """
    cases = {
        case.fullname: (case.extra_info.version, case.extra_info.device) for case in base.benchmarks
    }
    ours = levels(base), levels(new)
    before, after = (run.gauges for run in ours)
    alike = [run for run in others if run.is_like(ours[0]) and run.run != ours[1].run]
    earlier = [
        run
        for run in alike
        if all(abs(by) <= ALIKE_SHIFT for by in conclusive_shifts(before, run.gauges).values())
    ][:MOST_RUNS]
    known, shifts = learned(cases, earlier), conclusive_shifts(before, after)
    spreads = {}
    for case in base.benchmarks:
        name = case.fullname
        variances = (run.cases[name].variance for run in ours if name in run.cases)
        spread = known[name] or assumed(variances)
        spreads[name] = spread._replace(shift=SCALE * shift_of(case, shifts))
    return spreads, len(earlier) if len(earlier) >= LEAST_RUNS else 0


def learned(cases: Cases, others: Sequence[Levels]) -> dict[str, BetweenRunSpread | None]:
    """Return what other runs show of each case; ``None`` where they are too few."""
    known: dict[str, tuple[str, float, int, float]] = {}
    excesses: dict[str, list[float]] = {}
    for name, (version, device) in cases.items():
        mine = [one for run in others if (one := run.cases.get(name)) and one.version == version]
        if not mine:
            continue
        launch = median(level.variance for level in mine)
        degrees, excess = len(mine) - 1 if launch else 0, 0.0
        if degrees:
            explained = median(level.variance / level.launches for level in mine)
            between = variance([level.mean for level in mine])
            # Relative to the variance of a launch: what its launches do not explain.
            excess = (between - LAUNCH_VARIANCE_FACTOR * explained) / launch
        if degrees + 1 >= LEAST_RUNS:
            excesses.setdefault(device, []).append(excess)
        known[name] = device, launch, degrees, excess
    spreads: dict[str, BetweenRunSpread | None] = dict.fromkeys(cases)
    for name, (device, launch, degrees, excess) in known.items():
        if device in excesses:
            typical, weight = max(0.0, median(excesses[device])), PRIOR_RUNS + degrees
            pooled = (PRIOR_RUNS * typical + degrees * max(excess, 0.0)) / weight
            spreads[name] = BetweenRunSpread(max(LEAST, math.sqrt(pooled * launch)), weight)
    return spreads


def student(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t, by its expansion around the normal one.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5. From four degrees
    of freedom it is within 5% up to a probability of 0.9995.
    """
    x = NormalDist().inv_cdf(probability)
    first = (x**3 + x) / 4
    second = (5 * x**5 + 16 * x**3 + 3 * x) / 96
    third = (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384
    return x + first / degrees + second / degrees**2 + third / degrees**3


def assumed(variances: Iterable[float]) -> BetweenRunSpread:
    """Return what is assumed of a case, from the variance of its launches in each run."""
    return BetweenRunSpread(max([ASSUMED, *map(math.sqrt, variances)]), math.inf)
