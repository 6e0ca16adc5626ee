# SPDX-License-Identifier: MIT
"""How often identical code is called different where whole runs are shifted, by simulation.

Every run gets a shift that all its launches share, as the state of a machine gives it: one for
all cases, or one for each. How far the shifts go is learned from other simulated runs.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from frobench.suite.compare.between_run_spread import (
    BetweenRunSpread,
    Level,
    Levels,
    assumed,
    centres,
    learned,
)
from frobench.suite.compare.multiple_testing import compare_family
from studies.calibration.figures import Figure, Table, errors
from studies.calibration.regimes import NOISE, REGIMES, Regime, Values
from studies.calibration.verdicts import ALARMS, LAUNCHES, STRETCH
from studies.calibration.work import Spread, Tell

SHIFTS = (0.0, 0.5, 1.0, 2.0)
"""Standard deviations of a run's shift, in those of a launch."""
FAMILIES = (6, 40)
OTHERS = 8
"""Other runs that the shifts are learned from."""
KINDS = [
    regime
    for regime in REGIMES
    if regime.name in {"effect of the process", "heavy tails (Cauchy)", "bimodal 60% : 40%"}
]
WITH, WITHOUT, ASSUMED, EDGE = "learned", "without", "assumed", "edge"


class Cell(NamedTuple):
    """What is simulated.

    size : of the shifts
    common : whether all cases of a run share one
    cases : in the family
    """

    regime: Regime
    size: float
    common: bool
    launches: int
    cases: int

    @property
    def row(self) -> str:
        """What the row of the table is called."""
        whom = "" if not self.size else ", all cases" if self.common else ", each case"
        return f"{self.regime.name}: {self.size:g} SD{whom}"

    @property
    def column(self) -> str:
        """What the column of the table is called."""
        return f"{self.cases} cases, {self.launches}"


def study(tell: Tell, spread: Spread, suites: int) -> list[Table]:
    """Return the alarms with allowances and without, and those at the edge of an allowance.

    suites : simulated for each cell
    """
    cells = [
        Cell(regime, size, common, launches, cases)
        for regime, size, common, cases, launches in product(
            KINDS, SHIFTS, (True, False), FAMILIES, LAUNCHES
        )
        if size or common
    ]
    counts = []
    simulated = spread(partial(alarms, suites=suites), cells)
    for done, found in enumerate(simulated, start=1):
        counts.append(found)
        tell(done / len(cells), cells[done - 1].row)
    shared = "Identical code, two runs, each shifted as a whole: a suite of so many cases with any"
    return [
        Table(
            title=f"{shared} called faster or slower, by the number of launches, with allowances "
            f"learned from {OTHERS} other runs, in {suites:,} suites a cell",
            rows="shift",
            figures=list(_figures(cells, counts, WITH, suites, ALARMS)),
        ),
        Table(
            title="The same without an allowance",
            rows="shift",
            figures=list(_figures(cells, counts, WITHOUT, suites)),
        ),
        Table(
            title="The same with the allowance that is assumed where no other runs are known, and "
            f"with launches that spread by {NOISE:.0%}",
            rows="shift",
            figures=list(_figures(cells, counts, ASSUMED, suites)),
        ),
        Table(
            title="The same where every case is shifted by just its allowance",
            rows="shift",
            figures=list(_figures(cells, counts, EDGE, suites, ALARMS)),
        ),
    ]


def alarms(cell: Cell, suites: int) -> dict[str, int]:
    """Count the suites with an alarm, by what was known of the shifts."""
    seed = [cell.launches, cell.cases, int(10 * cell.size), cell.common]
    random = np.random.default_rng([*seed, *cell.regime.name.encode()])
    counts = dict.fromkeys((WITH, WITHOUT, ASSUMED, EDGE), 0)
    for _ in range(suites):
        base, new, *others = (run(random, cell) for _ in range(2 + OTHERS))
        known = list(learn(others, STRETCH).values())
        before, after = np.exp(STRETCH * base), np.exp(STRETCH * new)
        counts[WITH] += alarmed(before, after, known)
        counts[WITHOUT] += alarmed(before, after, [None] * cell.cases)
        counts[ASSUMED] += alarmed(np.exp(base), np.exp(new), assume(base, new))
        if not cell.size:
            counts[EDGE] += _alarmed_at_the_edge(before, after)
    return counts


def run(random: np.random.Generator, cell: Cell) -> Values:
    """Draw the log medians of a run's launches, a row a case."""
    shift = random.normal(0, cell.size * NOISE, (1 if cell.common else cell.cases, 1))
    medians: Values = np.log(cell.regime.draw(random, cell.cases, cell.launches))
    return medians + shift


def learn(runs: Sequence[Values], stretch: float = 1.0) -> dict[str, BetweenRunSpread | None]:
    """Return what other runs show of each case."""
    names = [str(place) for place in range(len(runs[0]))]
    levels = [
        Levels(
            run="",
            state="",
            disturbed=[],
            gauges={},
            cases={
                name: Level("", "cpu", *found)
                for name, found in zip(names, centres(np.exp(stretch * one).tolist()), strict=True)
            },
        )
        for one in runs
    ]
    return learned(dict.fromkeys(names, ("", "cpu")), levels)


def assume(base: Values, new: Values) -> list[BetweenRunSpread]:
    """Return what is assumed of each case where no other runs are known."""
    spreads = [[found[1] for found in centres(np.exp(run).tolist())] for run in (base, new)]
    return [assumed(pair) for pair in zip(*spreads, strict=True)]


def alarmed(base: Values, new: Values, spread: Sequence[BetweenRunSpread | None]) -> bool:
    """Tell whether any case is called faster or slower."""
    family = list(zip(base.tolist(), new.tolist(), strict=True))
    return any(each.differs for each in compare_family(family, spread))


def _alarmed_at_the_edge(base: Values, new: Values) -> bool:
    """Shift each case by what is known of the two runs, which is their allowance."""
    edge = STRETCH * NOISE
    known = BetweenRunSpread(0.0, np.inf, shift=edge)
    return alarmed(base, new * np.exp(edge), [known] * len(base))


def _figures(
    cells: Sequence[Cell],
    counts: Sequence[dict[str, int]],
    which: str,
    suites: int,
    most: float | None = None,
) -> Iterator[Figure]:
    for cell, found in zip(cells, counts, strict=True):
        if which != EDGE or not cell.size:
            yield errors(cell.row, cell.column, found[which], suites, most)
