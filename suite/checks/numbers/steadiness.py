# SPDX-License-Identifier: MIT
"""Rules about machines that do not hold their speed."""

import math
from collections import defaultdict
from collections.abc import Iterator
from statistics import NormalDist, correlation, fmean, median
from typing import NamedTuple

from frobench.suite.checks.courses import drifts
from frobench.suite.checks.facts import by_launch, mostly
from frobench.suite.checks.rule import Fault
from frobench.suite.statistics import LEAST_LAUNCHES, doubled_ranks
from frobench.suite.stored.run import Run, Severity

SEVERITY: Severity = "warning"

LARGEST_SETTLING = 0.05
"""Largest change from the first third of a launch to the last, relative; caches settle by less."""
EARLY, LATE = 1 / 3, 2 / 3
"""Places up to and from which a case came early or late in its launch."""
PLACE_CHANCE = 0.001
"""Largest p-value of a correlation between place and slowness that counts."""
LEAST_POINTS = 18
"""Cases in launches, below which the normal approximation of a rank correlation is poor."""
NEARLY_ALL = 0.9
"""Part of the launches that show the same: a neighbour's noise lasts for several cases of one."""


class _Point(NamedTuple):
    """A case in a launch: its place, 0 to 1, and the log of its time relative to its median."""

    case: str
    launch: int
    position: float
    slowness: float


def drift(run: Run) -> Iterator[Fault]:
    """Over the run, all cases or one became slower or faster by more than 2%, by a trend or a step.

    The machine did not hold its speed: it heated up, its power source changed, or something
    else started or ended. The launches are not independent, so a 95% interval may cover the median
    in fewer than 95% of runs. Warm the machine up or let it cool, and measure again.
    """
    whole = [case for case in run.benchmarks if all(case.extra_info.launches)]
    times = [[math.log(launch.seconds) for launch in by_launch(run, case)] for case in whole]
    for change, case, since in drifts(times):
        word = "slower" if change > 0 else "faster"
        if since is None:
            message = f"the last launches were {abs(change):.1%} {word} than the first"
        else:
            message = f"from launch {since} on, times were {abs(change):.1%} {word} than before"
        yield Fault(message, None if case is None else whole[case].fullname)


def unsteady_clock(run: Run) -> Iterator[Fault]:
    """Cases measured late in a launch are more than 5% slower, or faster, than early ones.

    The device became hot and throttled, or its clock had not settled when the launch began. Cool
    it better or limit its power or clock, and measure again.
    """
    for device, points in _points(run).items():
        changes = _changes(points)
        if len(points) < LEAST_POINTS or not changes:
            continue
        change = math.expm1(median(changes))
        if (
            abs(change) > LARGEST_SETTLING
            and _chance_of_order(points) < PLACE_CHANCE
            and mostly((slope * change > 0 for slope in _slopes(points)), NEARLY_ALL)
        ):
            word = "slower" if change > 0 else "faster"
            yield Fault(f"late in a launch {device} is {abs(change):.1%} {word} than early in it")


def _points(run: Run) -> dict[str, list[_Point]]:
    orders = zip(*(case.extra_info.order for case in run.benchmarks), strict=True)
    last = {number: max(positions) for number, positions in enumerate(orders, start=1)}
    points: dict[str, list[_Point]] = {}
    for case in run.benchmarks:
        launches = by_launch(run, case)
        if len(launches) < LEAST_LAUNCHES:
            continue
        usual = math.log(median(launch.seconds for launch in launches))
        mine = points.setdefault(case.extra_info.devices[0], [])
        for launch in launches:
            if (places := last[launch.number] - 1) > 0:
                position = (launch.position - 1) / places
                slowness = math.log(launch.seconds) - usual
                mine.append(_Point(case.fullname, launch.number, position, slowness))
    return points


def _chance_of_order(points: list[_Point]) -> float:
    """Return the p-value of Spearman's rank correlation, two-sided, normally approximated."""
    positions = doubled_ranks([point.position for point in points])
    strength = correlation(positions, doubled_ranks([point.slowness for point in points]))
    return 2 * NormalDist().cdf(-abs(strength) * math.sqrt(len(points) - 1))


def _changes(points: list[_Point]) -> list[float]:
    """Return for each case that came early and late how much slower it was late, as a logarithm."""
    early, late = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for point in points:
        if point.position <= EARLY:
            early[point.case].append(point.slowness)
        elif point.position >= LATE:
            late[point.case].append(point.slowness)
    return [median(late[case]) - median(early[case]) for case in early if case in late]


def _slopes(points: list[_Point]) -> list[float]:
    """Return for each launch whether slowness rises or falls in it; only the sign counts."""
    launches = defaultdict[int, list[_Point]](list)
    for point in points:
        launches[point.launch].append(point)
    middles = {launch: fmean(one.position for one in here) for launch, here in launches.items()}
    return [
        sum((point.position - middles[launch]) * point.slowness for point in here)
        for launch, here in launches.items()
    ]
