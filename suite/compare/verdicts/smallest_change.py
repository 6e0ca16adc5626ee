# SPDX-License-Identifier: MIT
"""The smallest change that a run will be able to show, said before it measures.

The numbers of launches and cases are known then. The spread of launches is taken from an earlier
run of the machine, or assumed. The forecast is what the comparison itself says of normal launches,
with the allowance for separate runs that is assumed where none is learned.
"""

import math
from collections.abc import Collection
from random import Random
from statistics import NormalDist, fmean, median, stdev

from msgspec import Struct

from frobench.suite.compare.verdicts.family import compare_family
from frobench.suite.compare.verdicts.levels import levels
from frobench.suite.compare.verdicts.wander import assumed
from frobench.suite.statistics import LEAST_LAUNCHES
from frobench.suite.stored.run import Run
from frobench.suite.units import counted, format_value

SPREAD = 0.01
"""Standard deviation of launches, relative, where no earlier run of the machine tells."""


class Forecast(Struct, frozen=True):
    """What a run will show beside another one of as many launches.

    smallest_change : the slow-down of a case, as a fraction, that will be found in about 90%;
        ``None`` where no slow-down, however large, can be shown by so few launches
    """

    launches: int
    cases: int
    spread: float  # standard deviation of a case's launches, relative
    earlier: str | None  # the run that the spread was measured in; None where it is assumed
    smallest_change: float | None


def forecast(launches: int, cases: Collection[str], earlier: Run | None) -> Forecast:
    """Return what a run of cases, given by their full names, will show.

    earlier : a stored run of this machine, if there is one
    """
    known = levels(earlier).cases if earlier else {}
    spreads = [math.sqrt(known[name].variance) for name in cases if name in known]
    spread = median(spreads) if spreads else SPREAD
    return Forecast(
        launches=launches,
        cases=len(cases),
        spread=spread,
        earlier=earlier.frobench.run if earlier and spreads else None,
        smallest_change=_smallest_change(launches, len(cases), spread),
    )


def in_words(known: Forecast) -> str:
    """Say in a line what a run will show, and on what condition."""
    if known.smallest_change is None:
        return (
            "no slow-down, however large, can be shown: "
            f"a verdict needs {LEAST_LAUNCHES} launches, and {known.launches} are planned"
        )
    change, spread = (
        format_value(part, "1", digits=2) for part in (known.smallest_change, known.spread)
    )
    cases = "the case" if known.cases == 1 else f"any of {counted(known.cases, 'case')}"
    source = f", as in {known.earlier}" if known.earlier else "; how far they do, only a run shows"
    return (
        f"compared with another run of {known.launches} launches, a slow-down of about {change} "
        f"in {cases} will be found if launches vary by {spread}{source}"
    )


def _smallest_change(launches: int, cases: int, spread: float) -> float | None:
    """Compare made-up runs without a difference; return the change that the median case shows."""
    if launches < LEAST_LAUNCHES or not cases:
        return None
    ideal = [NormalDist().inv_cdf((at + 0.5) / launches) for at in range(launches)]
    scale = spread / stdev(ideal)
    seconds = [math.exp(scale * (value - fmean(ideal))) for value in ideal]
    random = Random(launches)  # noqa: S311 - no secret, and the same forecast every time
    family = [
        (random.sample(seconds, launches), random.sample(seconds, launches)) for _ in range(cases)
    ]
    judged = compare_family(family, [assumed([spread**2])] * cases)
    changes = [each.comparison.smallest_change for each in judged]
    return median(math.inf if change is None else change for change in changes)
