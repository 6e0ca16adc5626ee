# SPDX-License-Identifier: MIT
"""Cases that are compared together: they share 5% of false alarms, and each gets its word."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from frobench.suite.compare import verdicts
from frobench.suite.compare.between_run_spread import BetweenRunSpread
from frobench.suite.compare.matching import CaseComparison
from frobench.suite.compare.verdicts import (
    ALIKE,
    Between,
    Comparison,
    Rearranged,
    compare_pairs,
    compare_values,
    ratio_alone,
    table,
    verdict,
)
from frobench.suite.statistics import ALARMS, has_enough
from frobench.suite.stored.types import Case, Estimate

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
    def ratio(self) -> Estimate:
        """New / base."""
        return self.comparison.ratio

    @property
    def differs(self) -> bool:
        """Whether the case is faster or slower."""
        return verdict(self.comparison, self.p_value) in {"faster", "slower"}


def compare_family(
    family: Sequence[Sides], spreads: Sequence[BetweenRunSpread | None]
) -> list[Judged]:
    """Compare cases that share their launches.

    An allowance makes the null hypothesis wider: the new run is moved by the difference that
    was measured, at most by the allowance, so to the nearest point at which nothing has changed.

    family : each with six launches on either side, and all with the same launches
    spreads : how much the level of each case varies between runs; ``None`` if not at all
    """
    if not family:
        return []
    shifts = [math.log(ratio_alone(*sides)) for sides in family]
    alike = _rearranged(family, shifts)
    least = verdicts.critical(alike.statistics, ALARMS)
    demands = [float(least * error) for error in alike.errors]
    compared = [
        compare(sides, demand, each.between(len(family)) if each else ALIKE)
        for sides, each, demand in zip(family, spreads, demands, strict=True)
    ]
    allowed = [math.log1p(each.allowance) for each in compared]
    nearest = [max(-most, min(shift, most)) for shift, most in zip(shifts, allowed, strict=True)]
    p_values = verdicts.step_down(_rearranged(family, nearest).statistics)
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
        return verdicts.between_runs(base[0], new - shifts)
    return verdicts.within_launches(new - shifts)


class Candidate(NamedTuple):
    """A case to be judged.

    base, new : seconds
    values : of the launches; either each candidate has two sequences, or each has one
    reason : why the case is incomparable, if it is
    disturbed : why it gets no verdict, if the runs were disturbed unlike
    spread : how much its level varies between runs; without it, two runs are as alike as two
        launches of one
    """

    case: Case
    base: Estimate
    new: Estimate
    values: Sides
    reason: str | None
    disturbed: str | None = None
    spread: BetweenRunSpread | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the case takes part in the family."""
        return not self.reason and not self.disturbed and all(map(has_enough, self.values))


def judge(candidates: Sequence[Candidate]) -> list[CaseComparison]:
    """Give each case its word. All cases together share 5% of false alarms."""
    family = [each for each in candidates if each.is_judged]
    judged = iter(compare_family([one.values for one in family], [one.spread for one in family]))
    return [_case(each, next(judged) if each.is_judged else None) for each in candidates]


def overlap(first: Estimate, second: Estimate) -> bool | None:
    """Tell whether two intervals overlap; ``None`` where one is missing."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return None
    return first.low <= second.high and second.low <= first.high


def _case(candidate: Candidate, judged: Judged | None) -> CaseComparison:
    """Put together what is known of a case; one that was not judged is compared by itself."""
    case, reason, disturbed = candidate.case, candidate.reason, candidate.disturbed
    comparison, p_value = judged or (compare(candidate.values), None)
    word = "incomparable" if reason else "unresolved" if disturbed else verdict(comparison, p_value)
    return CaseComparison(
        fullname=case.fullname,
        group=case.group,
        headline=case.extra_info.headline,
        word=word,
        base=candidate.base,
        new=candidate.new,
        ratio=comparison.ratio,
        p_value=p_value,
        smallest_change=None if reason or disturbed else comparison.smallest_change,
        allowance=comparison.allowance,
        reason=reason or disturbed,
    )
