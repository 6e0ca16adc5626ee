# SPDX-License-Identifier: MIT
"""How often a slow-down is found that has the size which a comparison says it would find in 90%."""

from functools import partial
from itertools import product

import numpy as np

from suite.statistics import CONFIDENCE
from tests.calibration.figures import Figure, Table
from tests.calibration.regimes import REGIMES, Regime
from tests.calibration.verdicts import LAUNCHES, WAYS, Compare
from tests.calibration.work import Spread, Tell


def study(tell: Tell, spread: Spread, trials: int) -> list[Table]:
    """Return the share of slow-downs found, by regime, number of launches and way to compare.

    trials : comparisons simulated for each
    """
    cells = list(product(WAYS.items(), REGIMES, LAUNCHES))
    figures = []
    for done, figure in enumerate(spread(partial(_found, trials=trials), cells), start=1):
        figures.append(figure)
        tell(done / len(cells), figure.column)
    title = (
        "How often a slow-down of the size that a comparison prints is found by another, in "
        f"{trials:,} simulated pairs of them a cell, by the number of launches"
    )
    return [Table(title=title, rows="", figures=figures)]


def _found(cell: tuple[tuple[str, Compare], Regime, int], trials: int) -> Figure:
    (way, compare), regime, launches = cell
    random = np.random.default_rng([launches, *regime.name.encode()])
    draws = np.stack([regime.draw(random, trials, launches) for _ in range(4)], axis=1)
    found = 0
    for here, there, base, new in draws.tolist():
        change = compare(here, there).smallest_change or 0.0
        slowed = compare(base, [(1 + change) * value for value in new])
        p_value = slowed.p_value or 0.0
        found += p_value <= 1 - CONFIDENCE and slowed.ratio.value > 1
    return Figure.of(regime.name, f"{way}, {launches}", found / trials, "1")
