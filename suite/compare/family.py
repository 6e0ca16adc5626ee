# SPDX-License-Identifier: MIT
"""Cases that are compared together: they share 5% of false alarms, and each gets its word."""

import math
from collections.abc import Collection, Sequence
from random import Random
from statistics import NormalDist, fmean, median, stdev
from typing import NamedTuple

from msgspec import Struct

from frobench.suite.compare import rank_tests
from frobench.suite.compare.between_runs import BetweenRunSpread, assumed, levels
from frobench.suite.compare.pairs import CaseComparison
from frobench.suite.compare.rank_tests import (
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
from frobench.suite.statistics import ALARMS, LEAST_LAUNCHES, has_enough
from frobench.suite.stored.types import Case, Estimate, Run
from frobench.suite.units import counted, format_value

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
    least = rank_tests.critical(alike.statistics, ALARMS)
    demands = [float(least * error) for error in alike.errors]
    compared = [
        compare(sides, demand, each.between(len(family)) if each else ALIKE)
        for sides, each, demand in zip(family, spreads, demands, strict=True)
    ]
    allowed = [math.log1p(each.allowance) for each in compared]
    nearest = [max(-most, min(shift, most)) for shift, most in zip(shifts, allowed, strict=True)]
    p_values = rank_tests.step_down(_rearranged(family, nearest).statistics)
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
        return rank_tests.between_runs(base[0], new - shifts)
    return rank_tests.within_launches(new - shifts)


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

    @property
    def core_ratio(self) -> float | None:
        """How many times as slow the cores ran in the new run, if the case is relative to them."""
        log = self.spread.log_core_ratio if self.spread else None
        return None if log is None else math.exp(log)


def judge(candidates: Sequence[Candidate]) -> list[CaseComparison]:
    """Give each case its word. All cases together share 5% of false alarms."""
    candidates = [_relative(each) for each in candidates]
    family = [each for each in candidates if each.is_judged]
    judged = iter(compare_family([one.values for one in family], [one.spread for one in family]))
    return [_case(each, next(judged) if each.is_judged else None) for each in candidates]


def overlap(first: Estimate, second: Estimate) -> bool | None:
    """Tell whether two intervals overlap; ``None`` where one is missing."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return None
    return first.low <= second.high and second.low <= first.high


def _relative(candidate: Candidate) -> Candidate:
    """Divide the times of the new run by how much slower the cores ran, if it is known to help."""
    if candidate.core_ratio is None or len(candidate.values) == 1:
        return candidate
    base, new = candidate.values
    slower = [None if seconds is None else seconds / candidate.core_ratio for seconds in new]
    return candidate._replace(values=(base, slower))


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
        clock=candidate.core_ratio,
        overlap=overlap(candidate.base, candidate.new),
        reason=reason or disturbed,
    )


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
