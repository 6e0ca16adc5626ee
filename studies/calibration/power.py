# SPDX-License-Identifier: MIT
"""How many of the slowed cases are called slower, by simulation.

Three methods judge the same launches: the joint permutation test by itself, the same with the
allowance that is learned from other runs, and the method of the first version, which tested each
case by ranks and corrected all of them by Holm's method.
"""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from frobench.suite.compare.between_run_spread import BetweenRunSpread
from frobench.suite.compare.multiple_testing import Sides, compare, compare_family
from frobench.suite.compare.verdicts import verdict
from studies.calibration import shifts
from studies.calibration.figures import Figure, Goal, Table
from studies.calibration.regimes import NOISE, REGIMES, Regime
from studies.calibration.verdicts import LAUNCHES, STRETCH, WAYS, sides
from studies.calibration.work import Spread, Tell

CASES = 40
MOVED = (1, 4, 40)
"""Cases that are slower: one, a tenth and all of them."""
SIZES = {
    "effect of the process": (2, 3),
    "heavy tails (Cauchy)": (3, 6),
    "bimodal 60% : 40%": (3, 6),
}
"""By how much, in standard deviations of a launch: of all its launches, of its centre, or of one
of its modes."""
PROMISED = ("effect of the process", "heavy tails (Cauchy)")
"""Regimes with a goal."""
FEWEST = 6
"""Launches with which ranks and Holm's method find next to nothing."""
LOST, WON = Goal(least=-0.05), Goal(least=0.1)
"""Of what the test finds, less what was found before; and of two runs with fewest launches."""
BEFORE, ALONE, ALLOWED = "before", "test alone", "with allowance"


class Cell(NamedTuple):
    """What is simulated: so many cases are slower by so many standard deviations."""

    way: str
    regime: Regime
    size: int
    moved: int
    launches: int

    @property
    def row(self) -> str:
        """What the row of the table is called."""
        whom = "all cases" if self.moved == CASES else f"{self.moved} of {CASES}"
        return f"{self.regime.name}: {whom} by {self.size} SD"


def study(tell: Tell, spread: Spread, suites: int) -> list[Table]:
    """Return what is found of slowed cases in two runs, and of versions side by side.

    suites : simulated for each cell with one slowed case; a tenth of it, at least, with more
    """
    cells = [
        Cell(way, regime, size, moved, launches)
        for way, regime, moved, launches in product(WAYS, REGIMES, MOVED, LAUNCHES)
        for size in SIZES.get(regime.name, ())
    ]
    figures: dict[str, list[Figure]] = {way: [] for way in WAYS}
    simulated = spread(partial(shares, suites=suites), cells)
    for done, (cell, found) in enumerate(zip(cells, simulated, strict=True), start=1):
        figures[cell.way] += _figures(cell, found)
        tell(done / len(cells), cell.row)
    title = f"Share of the slowed cases, of {CASES}, that are called slower"
    gains = "A gain is what the test alone finds less what the method before found."
    notes = (
        f"{gains} The allowance is learned from {shifts.OTHERS} other runs; no run is shifted.",
        gains,
    )
    return [
        Table(
            title=f"{title}, {way}, by the number of launches",
            rows="",
            figures=figures[way],
            note=note,
        )
        for way, note in zip(WAYS, notes, strict=True)
    ]


def shares(cell: Cell, suites: int) -> dict[str, float]:
    """Return the share of the slowed cases that each method calls slower."""
    seed = [cell.launches, cell.moved, cell.size, WAYS.index(cell.way)]
    random = np.random.default_rng([*seed, *cell.regime.name.encode()])
    unmoved = shifts.Cell(cell.regime, 0.0, common=True, launches=cell.launches, cases=CASES)
    counts = dict.fromkeys((BEFORE, ALONE, ALLOWED), 0)
    tried = max(suites // cell.moved, suites // 10, 1)
    for _ in range(tried):
        base, new, *others = (shifts.run(random, unmoved) for _ in range(2 + shifts.OTHERS))
        new[: cell.moved] += cell.size * NOISE
        family = sides(cell.way, np.exp(STRETCH * base), np.exp(STRETCH * new))
        nothing: list[BetweenRunSpread | None] = [None] * CASES
        counts[BEFORE] += sum(slower_by_ranks(family)[: cell.moved])
        counts[ALONE] += sum(_slower(family, nothing)[: cell.moved])
        if cell.way == WAYS[0]:
            known = [*shifts.learn(others, STRETCH).values()]
            counts[ALLOWED] += sum(_slower(family, known)[: cell.moved])
    return {method: count / tried / cell.moved for method, count in counts.items()}


def slower_by_ranks(family: Sequence[Sides]) -> list[bool]:
    """Return which cases the method before calls slower: exact rank tests, then Holm's method."""
    compared = [compare(each) for each in family]
    adjusted = holm([1.0 if each.p_value is None else each.p_value for each in compared])
    return [verdict(each, p) == "slower" for each, p in zip(compared, adjusted, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted so that the family has one false alarm in at most 5%.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6, 1979.
    """
    count, largest = len(p_values), 0.0
    adjusted = [0.0] * count
    for rank, index in enumerate(sorted(range(count), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _slower(family: Sequence[Sides], spread: Sequence[BetweenRunSpread | None]) -> list[bool]:
    judged = compare_family(family, spread)
    return [verdict(each.comparison, each.p_value) == "slower" for each in judged]


def _figures(cell: Cell, found: dict[str, float]) -> list[Figure]:
    """Judge what is found by what was found before, in the regimes with a goal."""
    gain = found[ALONE] - found[BEFORE]
    two_runs = cell.way == WAYS[0]
    goal = WON if two_runs and cell.launches == FEWEST else LOST
    figures = [
        Figure.of(cell.row, f"{cell.launches}, {method}", found[method], "1")
        for method in ((BEFORE, ALONE, ALLOWED) if two_runs else (BEFORE, ALONE))
    ]
    if cell.regime.name in PROMISED:
        figures.append(Figure.of(cell.row, f"{cell.launches}, gain", gain, "1", goal))
    return figures
