# SPDX-License-Identifier: MIT
"""How far a machine's runs of identical code lie apart, learned from its stored runs.

Launches of one run share the machine's state of those minutes, so their spread does not show how
far the next run may lie. Other runs of the same machine show it: each contributes the level of
every case, and what the levels vary by more than their launches explain is the wander between
runs.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist, median, variance
from typing import NamedTuple

from msgspec import Struct

from suite.comparability import state
from suite.compare.alike import failures, faults
from suite.compare.disturbance import disturbing, gauge_shifts, gauges, shift_of, sure_shifts
from suite.model import Run
from suite.permutation import pulled_in, table
from suite.statistics import ALARMS, LEAST_LAUNCHES, Between, launch_medians

LEAST_RUNS = 3
"""Other runs from which the wander is learned; with fewer it is assumed."""
MOST_RUNS = 12
"""Other runs that are looked at, the newest."""
ASSUMED = 0.01
"""Standard deviation of a case's level between runs, relative, where nothing is learned; that of
its launches, if it is larger."""
PRIOR_RUNS = 4
"""How many runs the other cases of a device count for in what is learned of one case."""
ALIKE_SHIFT = 0.02
"""By how much the gauge of a run from which something is learned may surely differ, as a log."""
SCALE = 2.0
"""By how much more than the gauge surely does a case may differ: its bodies are no case's."""
EXPLAINED = 1.35
"""The variance of a level by that of a launch over their number, for normal launches: pulling
outliers in makes the launches look steadier, and the median of several runs is below their mean."""


class Level(Struct, frozen=True):
    """Where the launches of a case lie in a run, as logs of seconds, outliers pulled in.

    version : of the benchmark
    device : the device that gives the case its name
    variance : of one launch
    """

    version: str
    device: str
    mean: float
    variance: float
    launches: int


class Levels(Struct, frozen=True):
    """What one run says to comparisons of others.

    run : its name
    state : a digest of what moves numbers on its machine
    disturbed : codes of what else used the machine, sorted
    gauges : times of each body of the gauge
    cases : by full name, those with enough launches
    """

    run: str
    state: str
    disturbed: list[str]
    gauges: dict[str, list[float]]
    cases: dict[str, Level]

    def is_like(self, run: Run) -> bool:
        """Whether this is another run of the same machine in the same state.

        A run whose gauge surely differs met another state: how far apart runs lie in which the
        gauge differs shows by the gauge itself.
        """
        ours = run.frobench
        alike = (
            bool(self.cases)
            and self.run != ours.run
            and self.state == state(ours.environment)
            and self.disturbed == sorted(disturbing(run) or ())
        )
        if not alike:
            return False
        shifts = sure_shifts(gauges(run), self.gauges).values()
        return all(abs(shift) <= ALIKE_SHIFT for shift in shifts)


class Wander(NamedTuple):
    """How far a case's level lies from run to run.

    error : standard deviation of the level, as a log
    degrees : of freedom with which it is known
    shift : by which the gauges of the two runs surely differ, as a log
    """

    error: float
    degrees: float
    shift: float = 0.0

    def between(self, family: int) -> Between:
        """Return the difference of two runs, for one of so many cases."""
        error = math.sqrt(2) * self.error
        reach = student(1 - ALARMS / (2 * max(family, 1)), self.degrees) * error
        return Between(error, reach, self.shift)


def levels(run: Run) -> Levels:
    """Return what a run says to comparisons of others: nothing where its checks found an error."""
    failed = failures(run, "")
    cases = {
        case.fullname: (case, medians)
        for case in run.benchmarks
        for medians in [launch_medians(case.stats.data, case.extra_info.launches)]
        if sum(value is not None and value > 0 for value in medians) >= LEAST_LAUNCHES
        and case.fullname not in failed
        and not faults(run, "")
    }
    return Levels(
        run=run.frobench.run,
        state=state(run.frobench.environment),
        disturbed=sorted(disturbing(run) or ()),
        gauges=gauges(run),
        cases={
            name: Level(case.extra_info.version, case.extra_info.device, *found)
            for (name, (case, _)), found in zip(
                cases.items(), centres([medians for _, medians in cases.values()]), strict=True
            )
        },
    )


def centres(cases: Sequence[Sequence[float | None]]) -> list[tuple[float, float, int]]:
    """Return the mean log over launches of each case, their variance and their number.

    Outliers are pulled in first.
    """
    if not cases:
        return []
    logs = [[math.log(value) if value else math.nan for value in medians] for medians in cases]
    middles, values, present = pulled_in(table(logs))
    launches = present.sum(axis=0)
    means = values.sum(axis=0) / launches
    squares = (((values - means) * present) ** 2).sum(axis=0)
    counts = launches + 0 * middles
    return [
        (float(mean), float(square / (count - 1)), int(count))
        for mean, square, count in zip(middles + means, squares, counts, strict=True)
    ]


def wander(base: Run, new: Run, others: Sequence[Levels]) -> dict[str, Wander]:
    """Return for each case of two runs how far its level lies from run to run.

    A case's own variance between runs is known poorly from a few of them, so it is drawn towards
    what the median case of the device has, relative to the variance of its launches.

    others : runs of the same machine, without those that are compared
    """
    infos = {case.fullname: case.extra_info for case in base.benchmarks}
    known = learned({name: (info.version, info.device) for name, info in infos.items()}, others)
    shifts = gauge_shifts(base, new)
    return {
        case.fullname: (known[case.fullname] or _assumed(case.fullname, ours))._replace(
            shift=SCALE * shift_of(case, shifts)
        )
        for ours in [(levels(base), levels(new))]
        for case in base.benchmarks
    }


def learned(
    cases: Mapping[str, tuple[str, str]], others: Sequence[Levels]
) -> dict[str, Wander | None]:
    """Return what other runs show of cases, given their version and device by full name."""
    known = {name: _excess(name, *case, others) for name, case in cases.items()}
    pools = _pools(known.values())
    return {name: _wander(excess, pools) for name, excess in known.items()}


def student(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t, by its expansion around the normal one.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5. From four degrees
    of freedom it is within 3% up to a probability of 0.9995.
    """
    x = NormalDist().inv_cdf(probability)
    first = (x**3 + x) / 4
    second = (5 * x**5 + 16 * x**3 + 3 * x) / 96
    third = (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384
    return x + first / degrees + second / degrees**2 + third / degrees**3


class _Excess(NamedTuple):
    """The variance of a case's level between runs beyond what its launches explain.

    relative : to the variance of a launch
    launch : the variance of a launch; ``None`` where no run has the case
    degrees : of freedom; 0 where there are not two runs
    """

    device: str
    relative: float
    launch: float | None
    degrees: int


def assumed(variances: Iterable[float]) -> Wander:
    """Return what is assumed of a case where nothing is learned.

    variances : of a launch, in each of the two runs
    """
    return Wander(max([ASSUMED, *map(math.sqrt, variances)]), math.inf)


def _assumed(name: str, ours: Iterable[Levels]) -> Wander:
    return assumed(one.cases[name].variance for one in ours if name in one.cases)


def _wander(excess: _Excess, pools: Mapping[str, float]) -> Wander | None:
    if excess.launch is None or excess.device not in pools:
        return None
    degrees = PRIOR_RUNS + excess.degrees
    own = excess.degrees * max(excess.relative, 0.0)
    relative = (PRIOR_RUNS * pools[excess.device] + own) / degrees
    return Wander(math.sqrt(relative * excess.launch), degrees)


def _excess(name: str, version: str, device: str, others: Sequence[Levels]) -> _Excess:
    levels = [other.cases[name] for other in others if name in other.cases]
    mine = [level for level in levels if level.version == version]
    launch = median(level.variance for level in mine) if mine else None
    if len(mine) < 2 or not launch:  # noqa: PLR2004 - what a variance needs
        return _Excess(device, 0.0, launch, 0)
    explained = EXPLAINED * median(level.variance / level.launches for level in mine)
    beyond = variance([level.mean for level in mine]) - explained
    return _Excess(device, beyond / launch, launch, len(mine) - 1)


def _pools(found: Iterable[_Excess]) -> dict[str, float]:
    """Return the relative excess of each device's median case, where enough runs show it."""
    devices: dict[str, list[float]] = {}
    for excess in found:
        if excess.degrees + 1 >= LEAST_RUNS:
            devices.setdefault(excess.device, []).append(excess.relative)
    return {device: max(0.0, median(cases)) for device, cases in devices.items()}
