# SPDX-License-Identifier: MIT
"""How often identical code is called faster or slower, by simulation."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product

import numpy as np

from frobench.suite.compare.multiple_testing import Sides, compare, compare_family
from frobench.suite.compare.verdicts import Comparison, verdict
from frobench.suite.units import format_value
from studies.calibration.figures import Figure, Table, errors, most_by_luck
from studies.calibration.regimes import REGIMES, Regime, Values
from studies.calibration.work import Spread, Tell

CASES = 20
"""Cases of a simulated suite."""
LAUNCHES = (6, 8, 12)
"""Those that the profiles plan for."""
STRETCH = 5
"""How many times as wide as in the regimes the logarithms spread: where launches agree within
2%, false alarms would pass as `same`, and could not be counted."""
ALARMS = 0.05
WAYS = ("two runs", "side by side")
"""Ways to compare two versions: measured in runs of their own, or both in every launch."""


def sides(way: str, base: Values, new: Values) -> list[Sides]:
    """Return what is compared of the launches of cases, a row each."""
    if way == "two runs":
        return list(zip(base.tolist(), new.tolist(), strict=True))
    return [(row,) for row in (new / base).tolist()]


def study(tell: Tell, spread: Spread, suites: int) -> list[Table]:
    """Return the false alarms among pairs of runs, and among versions measured side by side.

    suites : simulated for each regime, number of launches and way to compare
    """
    cells = list(product(REGIMES, LAUNCHES))
    tables = []
    for place, way in enumerate(WAYS):
        figures: list[Figure] = []
        simulate = partial(_alarms, way=way, suites=suites)
        for done, found in enumerate(spread(simulate, cells), start=1):
            figures += found
            tell((place + done / len(cells)) / len(WAYS), way)
        tables.append(_table(way, figures, suites))
    return tables


def different(compared: Iterable[Comparison]) -> int:
    """Count the comparisons that say faster or slower, each by itself."""
    return sum(verdict(each) in {"faster", "slower"} for each in compared)


def alarmed(family: Sequence[Sides]) -> bool:
    """Tell whether any of some cases that share their alarms is called faster or slower."""
    return any(each.differs for each in compare_family(family, [None] * len(family)))


def _alarms(cell: tuple[Regime, int], way: str, suites: int) -> list[Figure]:
    regime, launches = cell
    random = np.random.default_rng([launches, *regime.name.encode()])
    base, new = (regime.draw(random, suites * CASES, launches) ** STRETCH for _ in range(2))
    every = sides(way, base, new)
    families = [every[first : first + CASES] for first in range(0, len(every), CASES)]
    alone, together = different(map(compare, every)), sum(map(alarmed, families))
    return [
        errors(regime.name, f"a case, {launches}", alone, len(every), ALARMS),
        errors(regime.name, f"a suite, {launches}", together, suites, ALARMS),
    ]


def _table(way: str, figures: list[Figure], suites: int) -> Table:
    """Put the shares of cases before those of suites."""
    cases = suites * CASES
    of_cases, of_suites = (
        format_value(most_by_luck(ALARMS, trials), "1", digits=2) for trials in (cases, suites)
    )
    return Table(
        title=f"Identical code, {way}, called faster or slower, by the number of launches: "
        f"{cases:,} simulated cases by themselves, and {suites:,} suites of {CASES} cases together",
        rows="",
        figures=sorted(figures, key=lambda figure: figure.column.startswith("a suite")),
        note=f"By luck a true 5% is seen as up to {of_cases} of so many cases and {of_suites} of "
        "so many suites; only more is a miss.",
    )
