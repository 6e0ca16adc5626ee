# SPDX-License-Identifier: MIT
"""Which simple formula of its cases gives a number: found by trying, launch by launch."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations
from operator import itemgetter
from statistics import median

from tests.instruments.site_checker.files import RunFiles
from tests.instruments.site_checker.printed import RATIO, Row
from tests.instruments.site_checker.recomputed import ByLaunch, estimate
from tests.instruments.site_checker.thresholds import crossings

Fits = Callable[[Row], bool]
Quantities = Mapping[tuple[str, str], ByLaunch]
ITEMS, RATIOS = "items/s", {RATIO, "1"}
FLOPS, BYTES = ("flops", "FLOP/s"), ("bytes", "B/s")
ROUND_TRIP = "bench_send_receive"
"""Sends a message and receives the answer."""
DEVICES = (1, 2, 3, 4, 8)
"""What a ratio may be of: twice as fast is 2."""


def recompute(files: RunFiles, cases: Sequence[str], units: Iterable[str], fits: Fits) -> bool:
    """Tell whether a formula of some cases gives a number.

    It is one of: what a case says by itself, the ratio of two that are alike (or that by a
    number of devices), their difference, the sum of two by a third, the part of the highest of
    all, operations for each byte, half of a round trip, what a straight line through times by size
    says (its latency, its rate, and the size that gets half of that), and the size from which
    something holds.

    Parameters
    ----------
    units
        In which the number may be.
    fits
        Whether an estimate is the number; asked without ends first, which is quick.
    """
    known = {name: files.quantities(name) for name in cases if name in files.numbers}
    every, sizes = [*known.values()], [*_sizes(files, known)]
    for unit in units:
        if unit == "n" and any(fits(row) for row in crossings(files, cases)):
            return True
        there = [one for name, one in known.items() if ROUND_TRIP in name]
        trips = chain(_alone(there, unit), _fitted(sizes, unit) if there else ())
        one_way = ({at: one / 2 for at, one in each.items()} for each in trips)
        tried = chain(_alone(every, unit), _pairs(every, unit), _fitted(sizes, unit), one_way)
        for by_launch in tried:
            if (
                by_launch
                and fits(Row(median(by_launch.values()), None, None, None, unit))
                and fits(estimate(by_launch.values(), unit))
            ):
                return True
    return False


def parts(
    files: RunFiles, cases: Sequence[str], ceilings: Iterable[tuple[str, float]]
) -> Iterator[tuple[Row, float]]:
    """Yield what part of each ceiling the rates of cases are, or those of lines through them.

    Parameters
    ----------
    ceilings
        Each with its unit.
    """
    known = {name: files.quantities(name) for name in cases if name in files.numbers}
    for unit, ceiling in ceilings:
        lines = (line for one in _sizes(files, known) for line in _lines(one, unit))
        for by_launch in chain(_alone([*known.values()], unit), lines):
            yield estimate([one / ceiling for one in by_launch.values()], "1"), ceiling


def bandwidth(files: RunFiles, copies: Sequence[str]) -> ByLaunch:
    """Return the rate of one copy, or that of the line through several by the bytes they move."""
    if len(copies) == 1:
        return files.quantities(copies[0])["bytes", "B/s"]
    moved = {name: files.stored_cases[name]["extra_info"]["work"]["bytes"] for name in copies}
    times = sorted((float(moved[name]), files.seconds(name)) for name in copies)
    every = set.intersection(*(set(one) for _, one in times))
    return {at: 1 / _line([(size, one[at]) for size, one in times])[1] for at in every}


def _alone(known: Sequence[Quantities], unit: str) -> Iterator[ByLaunch]:
    """Yield what single cases say."""
    for one in known:
        for (_, of), values in one.items():
            if of == unit or (
                of == ITEMS and unit.endswith("/s") and unit not in {"B/s", "FLOP/s"}
            ):
                yield values


def _pairs(known: Sequence[Quantities], unit: str) -> Iterator[ByLaunch]:
    """Yield what comes of two or more cases that say the same kind of thing."""
    for kind in dict.fromkeys(kind for one in known for kind in one):
        alike = [one[kind] for one in known if kind in one]
        if unit in RATIOS:
            yield from _ratios(alike)
        elif unit == kind[1]:
            for one, other in permutations(alike, 2):
                yield {at: one[at] - other[at] for at in one.keys() & other.keys()}
    for first, second in permutations(known, 2) if unit == "FLOP/B" else ():
        peak, copied = first.get(FLOPS, {}), second.get(BYTES, {})
        yield {at: peak[at] / copied[at] for at in peak.keys() & copied.keys()}


def _ratios(alike: Sequence[ByLaunch]) -> Iterator[ByLaunch]:
    """Yield ratios of two, parts of the highest, and sums of two by a third."""
    for one, other in permutations(alike, 2):
        both = [at for at in one.keys() & other.keys() if other[at]]
        for count in DEVICES:
            yield {at: one[at] / other[at] / count for at in both}
    launches = {at for one in alike for at in one}
    most = {at: max(one[at] for one in alike if at in one) for at in launches}
    yield from ({at: one[at] / most[at] for at in one if most[at]} for one in alike)
    every = set.intersection(*(set(one) for one in alike))
    for whole in alike:
        for one, other in combinations([one for one in alike if one is not whole], 2):
            yield {at: (one[at] + other[at]) / whole[at] for at in every if whole[at]}


def _sizes(
    files: RunFiles, known: Mapping[str, Quantities]
) -> Iterator[list[tuple[float, ByLaunch]]]:
    """Yield times by size, where the cases differ in nothing else, and by the bytes they move."""
    params = {name: files.stored_cases[name]["params"] for name in known}
    names = {key for one in params.values() for key in one}
    differ = [key for key in names if len({str(one.get(key)) for one in params.values()}) > 1]
    if len(differ) != 1 or not all(type(one.get(differ[0])) is int for one in params.values()):
        return
    work = {name: files.stored_cases[name]["extra_info"]["work"].get("bytes") for name in known}
    for sizes in ({name: one[differ[0]] for name, one in params.items()}, work):
        if all(sizes.values()):
            times = [(float(sizes[name]), one["time", "s"]) for name, one in known.items()]
            yield sorted(times, key=itemgetter(0))


def _fitted(every: Iterable[Sequence[tuple[float, ByLaunch]]], unit: str) -> Iterator[ByLaunch]:
    """Yield what lines say, of all times by size."""
    return (line for sizes in every for line in _lines(sizes, unit))


def _lines(sizes: Sequence[tuple[float, ByLaunch]], unit: str) -> Iterator[ByLaunch]:
    """Yield what lines say that are fitted to the least sizes, all of them or some fewer."""
    for count in range(len(sizes), 2, -1):
        some = sizes[:count]
        every = set.intersection(*(set(times) for _, times in some))
        lines = {at: _line([(size, times[at]) for size, times in some]) for at in every}
        if unit == "s":
            yield {at: latency for at, (latency, _) in lines.items()}
            yield {at: each for at, (_, each) in lines.items()}
        elif all(each for _, each in lines.values()):
            if unit == "B/s":
                yield {at: 1 / each for at, (_, each) in lines.items()}
            elif unit in {"B", "n"}:
                yield {at: latency / each for at, (latency, each) in lines.items()}


def _line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return latency and seconds a unit that make the squares of the relative errors least."""
    a = math.fsum(1 / time**2 for _, time in points)
    b = math.fsum(size / time**2 for size, time in points)
    c = math.fsum(size**2 / time**2 for size, time in points)
    d, e = (math.fsum(size**power / time for size, time in points) for power in (0, 1))
    whole = a * c - b * b
    return ((c * d - b * e) / whole, (a * e - b * d) / whole) if whole else (0.0, 0.0)
