# SPDX-License-Identifier: MIT
"""Which simple formula of its cases gives a number: found by trying, launch by launch."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations
from operator import itemgetter
from statistics import median

from tests.site_checker.files import RunFiles
from tests.site_checker.printed import Row
from tests.site_checker.recomputed import ByLaunch, estimate

Fits = Callable[[Row], bool]
Quantities = Mapping[tuple[str, str], ByLaunch]
ITEMS, RATIOS = "items/s", {"×", "1"}
DEVICES = (1, 2, 3, 4, 8)
"""What a ratio may be of: twice as fast is 2."""


def recompute(
    files: RunFiles, cases: Sequence[str], units: Iterable[str], fits: Fits,
    ceilings: Sequence[tuple[str, float]] = (),
) -> bool:
    """Tell whether a formula of some cases gives a number.

    It is one of: what a case says by itself, the ratio of two that are alike (or that by a
    number of devices), their difference, the sum of two by a third, the part of the highest of
    all, a rate by a ceiling, operations for each byte, and what a straight line through times by
    size says: its latency, its rate, and the size that gets half of that.

    Parameters
    ----------
    units
        In which the number may be.
    ceilings
        What rates may be held against, each with its unit.
    fits
        Whether an estimate is the number; asked without ends first, which is quick.
    """
    known = {name: files.quantities(name) for name in cases if name in files.numbers}
    every, sizes = [*known.values()], _sizes(files, known)
    for unit in units:
        tried = chain(_alone(every, unit, ceilings), _pairs(every, unit), _lines(sizes, unit))
        for by_launch in tried:
            if by_launch and fits(Row(median(by_launch.values()), None, None, None, unit)):
                if fits(estimate(by_launch.values(), unit)):
                    return True
    return False


def _alone(
    known: Sequence[Quantities], unit: str, ceilings: Sequence[tuple[str, float]]
) -> Iterator[ByLaunch]:
    """Yield what single cases say, and rates by what they are held against."""
    for one in known:
        for (_, of), values in one.items():
            if of == unit or (of == ITEMS and unit.endswith("/s") and unit not in {"B/s", "FLOP/s"}):
                yield values
            for name, ceiling in ceilings if unit == "1" else ():
                if name == of:
                    yield {at: value / ceiling for at, value in values.items()}


def _pairs(known: Sequence[Quantities], unit: str) -> Iterator[ByLaunch]:
    """Yield what comes of two or more cases that say the same kind of thing."""
    for kind in dict.fromkeys(kind for one in known for kind in one):
        alike = [one[kind] for one in known if kind in one]
        for one, other in permutations(alike, 2):
            both = one.keys() & other.keys()
            if unit in RATIOS and all(other[at] for at in both):
                for count in DEVICES:
                    yield {at: one[at] / other[at] / count for at in both}
            if unit == kind[1]:
                yield {at: one[at] - other[at] for at in both}
        if unit in RATIOS:
            every = set.intersection(*(set(one) for one in alike))
            most = {at: max(one[at] for one in alike) for at in every}
            yield from ({at: one[at] / most[at] for at in every if most[at]} for one in alike)
            for whole in alike:
                for one, other in combinations([one for one in alike if one is not whole], 2):
                    yield {at: (one[at] + other[at]) / whole[at] for at in every if whole[at]}
    if unit == "FLOP/B":
        for one, other in permutations(known, 2):
            peak, copied = one.get(("flops", "FLOP/s"), {}), other.get(("bytes", "B/s"), {})
            yield {at: peak[at] / copied[at] for at in peak.keys() & copied.keys()}


def _sizes(files: RunFiles, known: Mapping[str, Quantities]) -> list[tuple[float, ByLaunch]]:
    """Return times by size, where the cases differ in nothing else."""
    params = {name: files.stored_cases[name]["params"] for name in known}
    names = {key for one in params.values() for key in one}
    differ = [key for key in names if len({str(one.get(key)) for one in params.values()}) > 1]
    if len(differ) != 1 or not all(type(one.get(differ[0])) is int for one in params.values()):
        return []
    times = [(float(params[name][differ[0]]), one["time", "s"]) for name, one in known.items()]
    return sorted(times, key=itemgetter(0))


def _lines(sizes: Sequence[tuple[float, ByLaunch]], unit: str) -> Iterator[ByLaunch]:
    """Yield what lines say that are fitted to the least sizes, all of them or some fewer."""
    for count in range(len(sizes), 2, -1):
        some = sizes[:count]
        every = set.intersection(*(set(times) for _, times in some))
        lines = {at: _line([(size, times[at]) for size, times in some]) for at in every}
        if unit == "s":
            yield {at: latency for at, (latency, _) in lines.items()}
            yield {at: each for at, (_, each) in lines.items()}
        elif unit in {"B/s", "B", "n"} and all(each for _, each in lines.values()):
            over = {"B/s": lambda one: 1.0}.get(unit, lambda one: one)
            yield {at: over(latency) / each for at, (latency, each) in lines.items()}


def _line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return latency and seconds a unit that make the squares of the relative errors least."""
    a = math.fsum(1 / time**2 for _, time in points)
    b = math.fsum(size / time**2 for size, time in points)
    c = math.fsum(size**2 / time**2 for size, time in points)
    d, e = (math.fsum(size**power / time for size, time in points) for power in (0, 1))
    whole = a * c - b * b
    return ((c * d - b * e) / whole, (a * e - b * d) / whole) if whole else (0.0, 0.0)
