# SPDX-License-Identifier: MIT
"""How far a machine's runs of identical code lie apart, learned from its stored runs.

Launches of one run share the machine's state of those minutes, so their spread does not show how
far the next run may lie. Other runs of the same machine show it: each contributes the level of
every case, and what the levels vary by more than their launches explain is the wander between
runs.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist, fmean, variance
from typing import NamedTuple

from msgspec import Struct

from suite.comparability import state
from suite.compare.alike import failures, faults
from suite.compare.disturbance import disturbing, gauge_shifts, shift_of
from suite.model import Case, Run
from suite.permutation import pulled_in, table
from suite.statistics import ALARMS, LEAST_LAUNCHES, Between, launch_medians

LEAST_RUNS = 3
"""Other runs from which the wander is learned; with fewer it is assumed."""
MOST_RUNS = 12
"""Other runs that are looked at, the newest."""
ASSUMED = 0.01
"""Standard deviation of a case's level between runs, relative, where nothing is learned."""
PRIOR_RUNS = 4
"""How many runs the other cases of a device count for in what is learned of one case."""


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
    cases : by full name, those with enough launches
    """

    run: str
    state: str
    disturbed: list[str]
    cases: dict[str, Level]

    def is_like(self, run: Run) -> bool:
        """Whether this is another run of the same machine in the same state."""
        ours = run.frobench
        return (
            bool(self.cases)
            and self.run != ours.run
            and self.state == state(ours.environment)
            and self.disturbed == sorted(disturbing(run) or ())
        )


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


UNKNOWN = Wander(ASSUMED, math.inf)


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
    the mean of all cases that the device has.

    others : runs of the same machine, without those that are compared
    """
    known = {case.fullname: _excess(case, others) for case in base.benchmarks}
    pools, shifts = _pools(known.values()), gauge_shifts(base, new)
    return {
        case.fullname: _wander(known[case.fullname], pools)._replace(shift=shift_of(case, shifts))
        for case in base.benchmarks
    }


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

    degrees : of freedom; 0 where there are not two runs
    """

    device: str
    variance: float
    degrees: int


def _wander(excess: _Excess, pools: Mapping[str, float]) -> Wander:
    pool = pools.get(excess.device)
    if pool is None:
        return UNKNOWN
    degrees = PRIOR_RUNS + excess.degrees
    own = excess.degrees * max(excess.variance, 0.0)
    return Wander(math.sqrt((PRIOR_RUNS * pool + own) / degrees), degrees)


def _excess(case: Case, others: Sequence[Levels]) -> _Excess:
    info = case.extra_info
    seen = [
        level
        for level in (other.cases.get(case.fullname) for other in others)
        if level is not None and level.version == info.version
    ]
    if len(seen) < 2:  # noqa: PLR2004 - what a variance needs
        return _Excess(info.device, 0.0, 0)
    explained = fmean(level.variance / level.launches for level in seen)
    return _Excess(info.device, variance([level.mean for level in seen]) - explained, len(seen) - 1)


def _pools(found: Iterable[_Excess]) -> dict[str, float]:
    """Return the mean excess variance of each device's cases, where enough runs show it."""
    devices: dict[str, list[_Excess]] = {}
    for excess in found:
        if excess.degrees + 1 >= LEAST_RUNS:
            devices.setdefault(excess.device, []).append(excess)
    return {
        device: max(
            0.0,
            sum(one.degrees * one.variance for one in cases) / sum(one.degrees for one in cases),
        )
        for device, cases in devices.items()
    }
