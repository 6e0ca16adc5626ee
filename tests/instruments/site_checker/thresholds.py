# SPDX-License-Identifier: MIT
"""Sizes from which something holds, launch by launch: where a margin turns positive for good.

A margin is of times that are a fixed cost and one that grows with a power of the size, so that
between two sizes it is a straight line over that power.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

from tests.instruments.site_checker.files import RunFiles
from tests.instruments.site_checker.printed import RATIO, Row
from tests.instruments.site_checker.recomputed import ByLaunch, estimate

POWERS = (1, 3)
"""With which work grows: with the length of something, and with a matrix's edge."""
LEVELS = (1.0, 0.95)
"""Above which a ratio of two is to stay: as fast, and nearly so."""
DEVICES = (1, 2, 3, 4, 8)
TWICE, HALF, ALMOST, HARDLY = 2.0, 0.5, 1 / 1.05, 1 / 1.01
"""As long as a launch; of the best rate; of the longest loop's speed; of the silent one's."""

ROUNDING = 1e-9
"""Relative error of a crossing, at most."""

BySize = Mapping[int, ByLaunch]
Quantities = Mapping[int, Mapping[tuple[str, str], ByLaunch]]


def crossings(files: RunFiles, cases: Sequence[str]) -> Iterator[Row]:
    """Yield from which sizes on something may hold: nothing where a launch never gets there.

    The interval is the nearest measured sizes that all launches lie between.

    Tried are a family of cases of several sizes against another one, as many or fewer devices, and
    a single family against half of its best rate, its smallest case, its largest, and its silent
    version.
    """
    for families in _families(files, [one for one in cases if one in files.numbers]):
        tried = _two(*families) if len(families) == 2 else _alone(families[0])
        for margins, power in product(tried, POWERS):
            launches = set.intersection(*(set(one) for one in margins.values()))
            found = {
                at: _crossing({n: m[at] for n, m in margins.items()}, power) for at in launches
            }
            if found and all(0 < one < math.inf for one in found.values()):
                yield _bracketed(sorted(margins), sorted(found.values()))


def _bracketed(sizes: Sequence[int], found: Sequence[float]) -> Row:
    row = estimate(found, "n")
    if row.low is None:
        return row
    below = max(size for size in sizes if size < found[0] * (1 - ROUNDING))
    above = min(size for size in sizes if size >= found[-1] * (1 - ROUNDING))
    return row._replace(low=float(below), high=float(above))


def _crossing(margins: Mapping[int, float], power: int) -> float:
    """Return the size from which on margins are positive; 0 is before the first, inf never."""
    sizes = sorted(margins)
    below = [place for place, size in enumerate(sizes) if margins[size] < 0]
    if not below:
        return 0.0
    if below[-1] == len(sizes) - 1:
        return math.inf
    first, then = sizes[below[-1] : below[-1] + 2]
    part = margins[first] / (margins[first] - margins[then])
    return float((first**power + part * (then**power - first**power)) ** (1 / power))


def _families(files: RunFiles, cases: Sequence[str]) -> Iterator[list[Quantities]]:
    """Yield the cases as one or two families that differ in a size within, of common sizes."""
    params = {one: files.stored_cases[one]["params"] for one in cases}
    for size in sorted({key for one in params.values() for key in one}):
        found: dict[str, dict[int, Any]] = {}
        for case, its in params.items():
            if type(its.get(size)) is int:
                rest = sorted((key, str(value)) for key, value in its.items() if key != size)
                family = repr((case.partition("[")[0], rest))
                found.setdefault(family, {})[its[size]] = files.quantities(case)
        common = set.intersection(*(set(one) for one in found.values())) if found else set()
        if len(found) in {1, 2} and len(common) > 1:
            yield [{n: one[n] for n in sorted(common)} for one in found.values()]


def _two(one: Quantities, other: Quantities) -> Iterator[BySize]:
    """Yield by how much one takes longer than another does on so many devices."""
    for (first, second), level, count in product(permutations((one, other)), LEVELS, DEVICES):
        for own, its in ((count, level), (1, level * count)):
            times = {n: (first[n]["time", "s"], second[n]["time", "s"]) for n in first}
            yield {
                n: {at: own * a[at] - its * b[at] for at in a.keys() & b.keys()}
                for n, (a, b) in times.items()
            }


def _alone(one: Quantities) -> Iterator[BySize]:
    """Yield by how much a case is faster than half of the best, slower than the smallest, ..."""
    sizes = sorted(one)
    rates = {n: its.get(("flops", "FLOP/s"), {}) for n, its in one.items()}
    every = set.intersection(*(set(its) for its in rates.values()))
    best = {at: max(rates[n][at] for n in sizes) for at in every}
    yield {
        n: {at: (rates[n][at] / best[at] - HALF) * one[n]["time", "s"][at] for at in every}
        for n in sizes
    }
    steps = {n: its.get(("item", "s"), {}) for n, its in one.items()}
    least, most = steps[sizes[0]], steps[sizes[-1]]
    both = least.keys() & most.keys()
    yield {
        n: {at: own[at] - TWICE * least[at] for at in own.keys() & both} for n, own in steps.items()
    }
    yield {
        n: {at: n * (most[at] - ALMOST * own[at]) for at in own.keys() & both}
        for n, own in steps.items()
    }
    silent = {n: its.get(("silent", RATIO), {}) for n, its in one.items()}
    yield {
        n: {at: (1 / longer - HARDLY) * n * one[n]["step", "s"][at] for at, longer in its.items()}
        for n, its in silent.items()
    }
