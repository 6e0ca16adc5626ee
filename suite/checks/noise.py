# SPDX-License-Identifier: MIT
# ruff: noqa: D401 - the first line of a rule says what it reports, as a user reads it
"""Rules about what makes a run's numbers less trustworthy than they look."""

import math
from collections.abc import Iterator
from statistics import fmean

from suite.checks.rule import Fault
from suite.model import Case, Run, Severity
from suite.profiles import STEPS_IN_A_SAMPLE
from suite.statistics import LEAST_LAUNCHES, estimate, launch_medians, spread
from suite.units import format_estimate

SEVERITY: Severity = "warning"

WIDEST_INTERVAL = 0.1
"""Width of a trustworthy interval, relative to its value, at most."""
WIDEST_SPREAD = 0.1
"""Spread of trustworthy launches, relative to their median, at most."""
LARGEST_DRIFT = 0.02
"""Change from the first third of the launches to the last, relative, at most."""
DRIFT_CHANCE = 0.01
"""Launches in no order drift as steadily as that with this probability, at most."""
LARGEST_OVERLAP = 0.05
"""Overlap of devices that work in turn, at most; the clocks are matched no better."""
ORDER_CHANCE = 0.001
"""Random orders are all alike with this probability, at most, before it is called a fault."""


def noisy_case(run: Run) -> Iterator[Fault]:
    """A case's launches differ by more than 10%, or its 95% interval is more than 10% wide.

    Do not trust differences of that size. Close other programs, plug the machine in, let it
    cool, and measure again with a larger budget.
    """
    for case in run.benchmarks:
        medians = _medians(case)
        found, apart = estimate(medians), spread(medians)
        signs = []
        if apart is not None and apart > WIDEST_SPREAD:
            signs.append("launches differ " + _by(apart))
        if found.low is not None and found.high is not None:
            width = (found.high - found.low) / found.value
            if width > WIDEST_INTERVAL:
                signs.append("wide interval")
        if signs:
            yield Fault(f"{', '.join(signs)}: {format_estimate(found, 's')}", case.fullname)


def few_launches(run: Run) -> Iterator[Fault]:
    """Fewer launches were made than a 95% interval needs.

    Values stand without an interval, so nothing can be compared with them. Measure again
    with more `--launches`; a run that was interrupted is finished with `--resume`.
    """
    launches = len(run.frobench.launches)
    if launches < LEAST_LAUNCHES:
        yield Fault(f"{launches} launches, where an interval needs {LEAST_LAUNCHES}")
        return
    for case in run.benchmarks:
        measured = sum(count > 0 for count in case.extra_info.launches)
        if measured < LEAST_LAUNCHES:
            message = f"measured in {measured} launches, where an interval needs {LEAST_LAUNCHES}"
            yield Fault(message, case.fullname)


def incomplete_run(run: Run) -> Iterator[Fault]:
    """The run ended before its last launch did.

    Some cases have fewer samples than others. Finish it with `--resume`.
    """
    if not run.frobench.complete:
        yield Fault("interrupted before every planned launch ended")


def drift(run: Run) -> Iterator[Fault]:
    """Over the run, all cases together became steadily slower or faster by more than 2%.

    The machine did not hold its speed: it heated up, its power source changed, or something
    else started or ended. Warm it up or let it cool, and measure again.
    """
    series = _common_course(run)
    if len(series) < LEAST_LAUNCHES:
        return
    third = len(series) // 3
    change = math.expm1(fmean(series[-third:]) - fmean(series[:third]))
    if abs(change) > LARGEST_DRIFT and _chance_of_trend(series) < DRIFT_CHANCE:
        word = "slower" if change > 0 else "faster"
        yield Fault(f"the last launches were {abs(change):.1%} {word} than the first")


def coarse_clock(run: Run) -> Iterator[Fault]:
    """A case's samples are shorter than 100 steps of the clock.

    The clock rounds them by more than 1%. A case this short needs a body that does more.
    """
    for case in run.benchmarks:
        info = case.extra_info
        steps = [
            seconds * iterations / launch.timer_step
            for seconds, iterations, launch in zip(
                _medians(case), info.iterations, run.frobench.launches, strict=False
            )
            if seconds is not None and launch.timer_step > 0
        ]
        if steps and min(steps) < STEPS_IN_A_SAMPLE:
            yield Fault(f"a sample lasts {min(steps):.0f} steps of the clock", case.fullname)


def overlap_in_turn(run: Run) -> Iterator[Fault]:
    """A control that works strictly in turn shows overlap, so the clocks of its devices differ.

    Do not believe the overlap that the cases beside it show.
    """
    for case in run.benchmarks:
        shown = case.extra_info.parts.get("overlap", [])
        if "in_turn" in case.name and any((part or 0.0) > LARGEST_OVERLAP for part in shown):
            most = max(part or 0.0 for part in shown)
            yield Fault(f"overlap of {most:.0%} where there can be none", case.fullname)


def fixed_order(run: Run) -> Iterator[Fault]:
    """All launches measured the cases in the same order.

    Then what one case leaves behind (a warm cache, a hot chip) always falls on the same
    next one. Let `frobench run` choose the order, which it draws anew for every launch.
    """
    orders = [case.extra_info.order for case in run.benchmarks]
    repeats = len(run.frobench.launches) - 1
    by_chance = -math.lgamma(len(orders) + 1) * repeats
    same = all(len(set(places) - {0}) == 1 for places in orders)  # 0 is a launch without it
    if by_chance < math.log(ORDER_CHANCE) and same:
        yield Fault(f"{len(orders)} cases came in the same order in all {repeats + 1} launches")


def _by(part: float) -> str:
    return f"by {part:.0%}" if part < 1 else f"{1 + part:,.0f}-fold"


def _medians(case: Case) -> list[float | None]:
    return launch_medians(case.stats.data, case.extra_info.launches)


def _common_course(run: Run) -> list[float]:
    """Return for each launch the mean logarithm of how slow its cases were.

    A case counts relative to its own mean, and only if every launch has it.
    """
    courses = []
    for case in run.benchmarks:
        logs = [math.log(seconds) for seconds in _medians(case) if seconds is not None]
        if len(logs) == len(run.frobench.launches):
            courses.append([value - fmean(logs) for value in logs])
    return [fmean(launch) for launch in zip(*courses, strict=True)]


def _chance_of_trend(series: list[float]) -> float:
    """Return the p-value of Kendall's test for a trend, two-sided and exact."""
    from scipy.stats import kendalltau  # noqa: PLC0415 - half a second, and seldom needed

    return float(kendalltau(range(len(series)), series).pvalue)
