# SPDX-License-Identifier: MIT
"""Cases that are compared together, and share 5% of false alarms."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from suite.compare.rank_tests import (
    ALIKE,
    Between,
    Comparison,
    compare_pairs,
    compare_values,
    ratio,
    ratio_of_pairs,
    verdict,
)
from suite.compare.verdicts import permutation
from suite.compare.verdicts.permutation import Values, table
from suite.compare.verdicts.wander import Wander
from suite.statistics import ALARMS

Launches = Sequence[float | None]
Sides = tuple[Launches] | tuple[Launches, Launches]
"""Values of a case by launch: those of the base and those of the new run; or one sequence, of the
ratios of two versions that each launch measured beside each other."""


class Judged(NamedTuple):
    """A case among others.

    p_value : in the family
    """

    comparison: Comparison
    p_value: float

    @property
    def differs(self) -> bool:
        """Whether the case is faster or slower."""
        return verdict(self.comparison, self.p_value) in {"faster", "slower"}


def compare_family(family: Sequence[Sides], wander: Sequence[Wander | None]) -> list[Judged]:
    """Compare cases that share their launches.

    Launches change places with all their cases (see `suite.compare.verdicts.permutation`).
    An allowance makes the null hypothesis wider: the new run is moved by the difference that
    was seen, at most by the allowance, which is to the nearest point at which nothing has
    changed.

    family : each with six launches on either side, and all with the same launches
    wander : how far the level of each case lies from run to run; ``None`` if not at all
    """
    if not family:
        return []
    shifts = [math.log(_ratio(sides)) for sides in family]
    compared = [
        compare(sides, demand, each.between(len(family)) if each else ALIKE)
        for sides, each, demand in zip(family, wander, _demands(family, shifts), strict=True)
    ]
    allowed = [math.log1p(each.allowance) for each in compared]
    nearest = [max(-most, min(shift, most)) for shift, most in zip(shifts, allowed, strict=True)]
    p_values = permutation.step_down(_statistics(family, nearest))
    return [Judged(*pair) for pair in zip(compared, p_values, strict=True)]


def compare(sides: Sides, demand: float = 0.0, between: Between = ALIKE) -> Comparison:
    """Compare one case, by the method that suits its values."""
    if len(sides) == 1:
        return compare_pairs(sides[0], demand)
    return compare_values(*sides, demand, between)


def _ratio(sides: Sides) -> float:
    """Return the ratio of `compare` alone."""
    return ratio_of_pairs(sides[0]) if len(sides) == 1 else ratio(*sides)


def _demands(family: Sequence[Sides], shifts: Sequence[float]) -> list[float]:
    """Return how far from no difference each case must lie in the family, by its launches alone."""
    before, after = _logs(family, shifts)
    errors = (
        permutation.errors_within(after)
        if before is None
        else permutation.errors_between(before, after)
    )
    least = permutation.critical(_statistics(family, shifts), ALARMS)
    return [float(least * error) for error in errors]


def _statistics(family: Sequence[Sides], shifts: Sequence[float]) -> Values:
    """Return the statistics of all rearrangements, after a shift of each case is taken away."""
    before, after = _logs(family, shifts)
    if before is None:
        return permutation.within_launches(after)
    return permutation.between_runs(before, after)


def _logs(family: Sequence[Sides], shifts: Sequence[float]) -> tuple[Values | None, Values]:
    """Return the logs of either side, launches by cases, with the last side moved back."""
    *before, after = (
        table([[math.nan if v is None else math.log(v) for v in sides[side]] for sides in family])
        for side in range(len(family[0]))
    )
    return before[0] if before else None, after - shifts
