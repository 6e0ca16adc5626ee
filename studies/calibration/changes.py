# SPDX-License-Identifier: MIT
"""How often a slow-down is called one that has the size which a comparison prints."""

from functools import partial
from itertools import product

import numpy as np

from frobench.suite.compare.multiple_testing import compare
from frobench.suite.compare.verdicts import verdict
from studies.calibration.figures import Figure, Goal, Table
from studies.calibration.regimes import REGIMES, Regime
from studies.calibration.verdicts import LAUNCHES, STRETCH, WAYS, sides
from studies.calibration.work import Spread, Tell

PROMISED = REGIMES[0]
"""Independent launches, normal but for what a median of few samples leaves."""
FOUND = Goal(least=0.9)

Cell = tuple[int, str, Regime, int]


def study(tell: Tell, spread: Spread, trials: int) -> list[Table]:
    """Return the share called slower, by regime, number of launches and way to compare.

    Once as the launches of the regimes are, where a change has to leave what is called the
    same, and once with logarithms that spread several times as wide, where it has to leave 1.

    trials : comparisons simulated for each
    """
    cells = list(product((1, STRETCH), WAYS, REGIMES, LAUNCHES))
    figures: dict[int, list[Figure]] = {1: [], STRETCH: []}
    found = spread(partial(_found, trials=trials), cells)
    for done, (cell, figure) in enumerate(zip(cells, found, strict=True), start=1):
        figures[cell[0]].append(figure)
        tell(done / len(cells), figure.column)
    title = (
        "How often a slow-down of the size that a comparison prints is called slower by another, "
        f"in {trials:,} simulated pairs of them a cell, by the number of launches"
    )
    wider = f"The same where launches spread {STRETCH} times as wide"
    return [
        Table(title=title, rows="", figures=figures[1]),
        Table(
            title=wider,
            rows="",
            figures=figures[STRETCH],
            note="Only independent launches have a goal: elsewhere the size is a guide.",
        ),
    ]


def _found(cell: Cell, trials: int) -> Figure:
    stretch, way, regime, launches = cell
    random = np.random.default_rng([launches, *regime.name.encode()])
    here, there, base, new = (regime.draw(random, trials, launches) ** stretch for _ in range(4))
    changes = [compare(one).smallest_change for one in sides(way, here, there)]
    slowed = new * (1 + np.array([[change or 0.0] for change in changes]))
    found = sum(
        change is not None and verdict(compare(one)) == "slower"
        for change, one in zip(changes, sides(way, base, slowed), strict=True)
    )
    goal = FOUND if regime == PROMISED else None  # another object in another process
    return Figure.of(regime.name, f"{way}, {launches}", found / trials, "1", goal)
