# SPDX-License-Identifier: MIT
"""Which simple formula of its cases gives a number: found by trying, launch by launch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, permutations
from statistics import median

from tests.site_checker.files import RunFiles
from tests.site_checker.printed import Row
from tests.site_checker.recomputed import ByLaunch, estimate

Fits = Callable[[Row], bool]
ITEMS = "items/s"
DEVICES = (1, 2, 3, 4, 8)
"""What a ratio may be of: twice as fast is 2."""


def recompute(files: RunFiles, cases: Sequence[str], units: Iterable[str], fits: Fits) -> bool:
    """Tell whether a formula of some cases gives a number.

    It is one of: what a case says by itself, the ratio of two that are alike (or that by a
    number of devices), their difference, how many of a difference make up for a part, the sum of
    two by a third.

    Parameters
    ----------
    units
        In which the number may be.
    fits
        Whether an estimate is the number; asked without ends first, which is quick.
    """
    known = {name: files.quantities(name) for name in cases if name in files.numbers}
    for unit in units:
        for by_launch in _formulas([*known.values()], unit):
            if by_launch and fits(Row(median(by_launch.values()), None, None, None, unit)):
                if fits(estimate(by_launch.values(), unit)):
                    return True
    return False


def _formulas(
    known: Sequence[dict[tuple[str, str], ByLaunch]], unit: str
) -> Iterator[dict[int, float]]:
    for one in known:
        for (_, of), values in one.items():
            if of == unit or (of == ITEMS and unit.endswith("/s") and unit not in {"B/s", "FLOP/s"}):
                yield dict(values)
    kinds = dict.fromkeys(kind for one in known for kind in one)
    for kind in kinds:
        alike = [one[kind] for one in known if kind in one]
        for one, other in permutations(alike, 2):
            both = one.keys() & other.keys()
            if unit in {"×", "1"} and all(other[at] for at in both):
                ratio = {at: one[at] / other[at] for at in both}
                for count in DEVICES:
                    yield {at: value / count for at, value in ratio.items()}
            if unit == kind[1]:
                yield {at: one[at] - other[at] for at in both}
        if unit in {"×", "1"}:
            for whole in alike:
                for one, other in combinations([one for one in alike if one is not whole], 2):
                    every = one.keys() & other.keys() & whole.keys()
                    yield {at: (one[at] + other[at]) / whole[at] for at in every}
