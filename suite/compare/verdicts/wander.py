# SPDX-License-Identifier: MIT
"""How far a machine's runs of identical code lie apart, learned from its stored runs.

Launches of one run share the machine's state of those minutes, so they do not show how far the next
run may lie. The levels of each case in other runs of the machine do: what they vary by more than
their launches explain is the wander. Where the other runs lie closer together relative to the speed
of the cores, the case is compared relative to it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist, median, variance
from typing import NamedTuple

from frobench.suite.compare.disturbance import conclusive_shifts, shift_of
from frobench.suite.compare.rank_tests import Between
from frobench.suite.compare.verdicts.levels import MOST_RUNS, Levels, levels
from frobench.suite.statistics import ALARMS
from frobench.suite.stored.run import Run

LEAST_RUNS = 3
"""Other runs from which the wander is learned; with fewer it is assumed."""
ASSUMED = 0.01
"""Standard deviation of a case's level between runs, relative, where nothing is learned; that of
its launches, if it is larger."""
LEAST = 0.005
"""The same, where it is learned, at least: a few runs that happen to agree show no less."""
PRIOR_RUNS = 4
"""How many runs the other cases of a device count for in what is learned of one case."""
SCALE = 2.0
"""How many times as far as the gauge a case may shift by itself: it has other bodies."""
EXPLAINED = 1.35
"""The variance of a level by that of a launch over their number, for normal launches: pulling
outliers in makes the launches look steadier, and the median of several runs is below their mean."""
Cases = Mapping[str, tuple[str, str]]
"""The version and the device of cases, by full name."""


class Wander(NamedTuple):
    """How much a case's level varies between runs of identical code, as logs."""

    error: float  # standard deviation of the level
    degrees: float  # of freedom with which it is known
    shift: float = 0.0  # by which the gauges of the two runs conclusively differ
    log_core_ratio: float | None = None  # of the cores' time, new / base, if the case is relative

    def between(self, family: int) -> Between:
        """Return the difference of two runs, for one of so many cases."""
        error = math.sqrt(2) * self.error
        reach = student(1 - ALARMS / (2 * max(family, 1)), self.degrees) * error
        return Between(error, reach, self.shift)


class Wanders(NamedTuple):
    """How far the runs of a machine lie apart."""

    cases: dict[str, Wander]  # by full name
    runs: int  # other runs from which it is learned; 0 where it is assumed


def wanders_of(base: Run, new: Run, others: Sequence[Levels]) -> Wanders:
    """Return for each case of two runs how much its level varies between runs.

    A few runs show a case's own variance between them poorly, so it is drawn towards that of the
    median case of the device, relative to the variance of its launches.

    others : other runs, the newest first
    """
    cases = {
        case.fullname: (case.extra_info.version, case.extra_info.device) for case in base.benchmarks
    }
    ours = levels(base), levels(new)
    alike = [run for run in others if run.is_like(ours[0]) and run.run != ours[1].run]
    plain = _lesson(cases, ours, alike)
    relative = _lesson_in_clocks(cases, ours, alike)
    wanders = {}
    for case in base.benchmarks:
        name, lesson = case.fullname, plain
        variances = (run.cases[name].variance for run in ours if name in run.cases)
        wander = plain.cases[name] or assumed(variances)
        steadier = relative.cases.get(name)
        if steadier and steadier.error < wander.error:
            wander, lesson = steadier, relative
        shift = SCALE * shift_of(case, lesson.shifts)
        wanders[name] = wander._replace(shift=shift, log_core_ratio=lesson.log_core_ratio)
    runs = max(plain.runs, relative.runs)
    return Wanders(wanders, runs if runs >= LEAST_RUNS else 0)


class _Lesson(NamedTuple):
    """What other runs show of two runs."""

    cases: Mapping[str, Wander | None] = {}
    shifts: Mapping[str, float] = {}  # see `conclusive_shifts`
    runs: int = 0  # other runs that met the same state as the first
    log_core_ratio: float | None = None  # see `Wander`


def _lesson(cases: Cases, ours: Sequence[Levels], others: Iterable[Levels]) -> _Lesson:
    before, after = (run.gauges for run in ours)
    teachers = [run for run in others if run.met_the_same_state(before)][:MOST_RUNS]
    return _Lesson(learned(cases, teachers), conclusive_shifts(before, after), len(teachers))


def _lesson_in_clocks(cases: Cases, ours: Sequence[Levels], others: Iterable[Levels]) -> _Lesson:
    """Return the same relative to the speed of the cores; nothing where that is unknown."""
    before, after = (run.log_core_seconds for run in ours)
    if before is None or after is None:
        return _Lesson()
    base, new, *rest = filter(None, (run.in_clocks() for run in (*ours, *others)))
    return _lesson(cases, (base, new), rest)._replace(log_core_ratio=after - before)


def learned(cases: Cases, others: Sequence[Levels]) -> dict[str, Wander | None]:
    """Return what other runs show of each case."""
    excesses = {name: _excess(name, *case, others) for name, case in cases.items()}
    pools = _pools(excesses.values())
    return {name: _wander(excess, pools) for name, excess in excesses.items()}


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
    """The variance of a case's level between runs beyond what its launches explain."""

    device: str
    relative: float  # to the variance of a launch
    launch: float | None  # the variance of a launch; None where no run has the case
    degrees: int  # of freedom; 0 where there are not two runs


def assumed(variances: Iterable[float]) -> Wander:
    """Return what is assumed of a case, from the variance of its launches in each run."""
    return Wander(max([ASSUMED, *map(math.sqrt, variances)]), math.inf)


def _wander(excess: _Excess, pools: Mapping[str, float]) -> Wander | None:
    if excess.launch is None or excess.device not in pools:
        return None
    degrees = PRIOR_RUNS + excess.degrees
    own = excess.degrees * max(excess.relative, 0.0)
    relative = (PRIOR_RUNS * pools[excess.device] + own) / degrees
    return Wander(max(LEAST, math.sqrt(relative * excess.launch)), degrees)


def _excess(name: str, version: str, device: str, others: Sequence[Levels]) -> _Excess:
    mine = [one for run in others if (one := run.cases.get(name)) and one.version == version]
    launch = median(level.variance for level in mine) if mine else None
    if len(mine) < 2 or not launch:  # noqa: PLR2004 - what a variance needs
        return _Excess(device, 0.0, launch, 0)
    explained = EXPLAINED * median(level.variance / level.launches for level in mine)
    beyond = variance([level.mean for level in mine]) - explained
    return _Excess(device, beyond / launch, launch, len(mine) - 1)


def _pools(excesses: Iterable[_Excess]) -> dict[str, float]:
    """Return the relative excess of each device's median case, where enough runs show it."""
    devices: dict[str, list[float]] = {}
    for excess in excesses:
        if excess.degrees + 1 >= LEAST_RUNS:
            devices.setdefault(excess.device, []).append(excess.relative)
    return {device: max(0.0, median(cases)) for device, cases in devices.items()}
