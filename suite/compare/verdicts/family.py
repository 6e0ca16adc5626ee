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
    verdict,
)
from suite.compare.verdicts import permutation
from suite.compare.verdicts.permutation import Rearranged, table
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

    An allowance makes the null hypothesis wider: the new run is moved by the difference that
    was measured, at most by the allowance, so to the nearest point at which nothing has changed.

    family : each with six launches on either side, and all with the same launches
    wander : how far the level of each case lies from run to run; ``None`` if not at all
    """
    if not family:
        return []
    shifts = [math.log(ratio(*sides)) for sides in family]
    alike = _rearranged(family, shifts)
    least = permutation.critical(alike.statistics, ALARMS)
    demands = [float(least * error) for error in alike.errors]
    compared = [
        compare(sides, demand, each.between(len(family)) if each else ALIKE)
        for sides, each, demand in zip(family, wander, demands, strict=True)
    ]
    allowed = [math.log1p(each.allowance) for each in compared]
    nearest = [max(-most, min(shift, most)) for shift, most in zip(shifts, allowed, strict=True)]
    p_values = permutation.step_down(_rearranged(family, nearest).statistics)
    return [Judged(*pair) for pair in zip(compared, p_values, strict=True)]


def compare(sides: Sides, demand: float = 0.0, between: Between = ALIKE) -> Comparison:
    """Compare one case, by the method that suits its values."""
    if len(sides) == 1:
        return compare_pairs(sides[0], demand)
    return compare_values(*sides, demand, between)


def _rearranged(family: Sequence[Sides], shifts: Sequence[float]) -> Rearranged:
    """Rearrange the launches, after a shift of each case is taken from the new run."""
    *base, new = (
        table([[math.nan if v is None else math.log(v) for v in sides[side]] for sides in family])
        for side in range(len(family[0]))
    )
    if base:
        return permutation.between_runs(base[0], new - shifts)
    return permutation.within_launches(new - shifts)
