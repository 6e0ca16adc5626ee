# SPDX-License-Identifier: MIT
"""How often identical code is called faster or slower, by simulation."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np

from suite.statistics import Comparison, compare_pairs, compare_values, holm, verdict
from suite.units import format_value
from tests.calibration.figures import Figure, Table, errors, most_by_luck
from tests.calibration.regimes import REGIMES, Regime
from tests.calibration.work import Spread, Tell

CASES = 20
"""Headline cases of a simulated suite."""
LAUNCHES = (6, 8, 12)
"""Those that the profiles plan for."""
STRETCH = 5
"""How many times as wide as in the regimes the logarithms spread: where launches agree within
2%, false alarms would pass as `same`, and could not be counted."""
ALARMS = 0.05

Side = Sequence[float]
Compare = Callable[[Side, Side], Comparison]


def _compare_versions(base: Side, new: Side) -> Comparison:
    return compare_pairs([after / before for before, after in zip(base, new, strict=True)])


WAYS: dict[str, Compare] = {"two runs": compare_values, "side by side": _compare_versions}
"""Ways to compare two versions: measured in runs of their own, or both in every launch."""


def study(tell: Tell, spread: Spread, suites: int) -> list[Table]:
    """Return the false alarms among pairs of runs, and among versions measured side by side.

    suites : simulated for each regime, number of launches and way to compare
    """
    cells = list(product(REGIMES, LAUNCHES))
    tables = []
    for place, (way, compare) in enumerate(WAYS.items()):
        figures: list[Figure] = []
        simulate = partial(_alarms, compare=compare, suites=suites)
        for done, found in enumerate(spread(simulate, cells), start=1):
            figures += found
            tell((place + done / len(cells)) / len(WAYS), way)
        tables.append(_table(way, figures, suites))
    return tables


def different(compared: Sequence[Comparison]) -> tuple[int, int]:
    """Count the comparisons that say faster or slower, each by itself and after Holm's method."""
    adjusted = holm([1.0 if each.p_value is None else each.p_value for each in compared])
    alone = [verdict(each) in {"faster", "slower"} for each in compared]
    together = [
        verdict(each, p) in {"faster", "slower"} for each, p in zip(compared, adjusted, strict=True)
    ]
    return sum(alone), sum(together)


def _alarms(cell: tuple[Regime, int], compare: Compare, suites: int) -> list[Figure]:
    regime, launches = cell
    random = np.random.default_rng([launches, *regime.name.encode()])
    base, new = (
        (regime.draw(random, suites * CASES, launches) ** STRETCH).tolist() for _ in range(2)
    )
    cases = alarmed = 0
    for first in range(0, suites * CASES, CASES):
        suite = range(first, first + CASES)
        alone, together = different([compare(base[case], new[case]) for case in suite])
        cases, alarmed = cases + alone, alarmed + (together > 0)
    return [
        errors(regime.name, f"a case, {launches}", cases, suites * CASES, ALARMS),
        errors(regime.name, f"a suite, {launches}", alarmed, suites, ALARMS),
    ]


def _table(way: str, figures: list[Figure], suites: int) -> Table:
    """Put the shares of cases before those of suites."""
    cases = suites * CASES
    of_cases, of_suites = (
        format_value(most_by_luck(ALARMS, trials), "1", digits=2) for trials in (cases, suites)
    )
    return Table(
        title=f"Identical code, {way}, called faster or slower, by the number of launches: "
        f"{cases:,} simulated cases, and {suites:,} suites of {CASES} headline cases after Holm",
        rows="",
        figures=sorted(figures, key=lambda figure: figure.column.startswith("a suite")),
        note=f"By luck a true 5% is seen as up to {of_cases} of so many cases and {of_suites} of "
        "so many suites; only more is a miss.",
    )
