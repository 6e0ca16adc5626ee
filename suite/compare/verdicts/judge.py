# SPDX-License-Identifier: MIT
"""Many comparisons at once: all cases share 5% of false alarms, and each gets its word."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from suite.compare.model import CaseComparison
from suite.compare.rank_tests import verdict
from suite.compare.verdicts.family import Judged, Sides, compare, compare_family
from suite.compare.verdicts.wander import Wander
from suite.statistics import LEAST_LAUNCHES
from suite.stored.run import Case, Estimate


class Candidate(NamedTuple):
    """A case to be judged.

    base, new : seconds
    values : of the launches
    reason : why the case is incomparable, if it is
    disturbed : why nothing can be said of it, if the runs were disturbed unlike
    clock : how many times as slow the cores ran in the new run, where the values are relative to
        them
    """

    case: Case
    base: Estimate
    new: Estimate
    values: Sides
    reason: str | None
    disturbed: str | None = None
    clock: float | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the case takes part in the family."""
        least = min(sum(value is not None for value in side) for side in self.values)
        return not self.reason and not self.disturbed and least >= LEAST_LAUNCHES


def judge(
    candidates: Sequence[Candidate], wander: Mapping[str, Wander] | None = None
) -> list[CaseComparison]:
    """Give each case its word. All cases together share 5% of false alarms.

    candidates : all with two sequences of values, or all with one
    wander : how far the level of each case, by its full name, lies from run to run. Without it, two
        runs are as alike as two launches of one
    """
    wander = wander or {}
    candidates = [_relative(each, wander.get(each.case.fullname)) for each in candidates]
    family = [each for each in candidates if each.is_judged]
    judged = compare_family(
        [each.values for each in family], [wander.get(each.case.fullname) for each in family]
    )
    known = {each.case.fullname: verdict for each, verdict in zip(family, judged, strict=True)}
    return [_case(each, known.get(each.case.fullname)) for each in candidates]


def overlap(first: Estimate, second: Estimate) -> bool | None:
    """Tell whether two intervals overlap; ``None`` where one is missing."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return None
    return first.low <= second.high and second.low <= first.high


def _relative(candidate: Candidate, wander: Wander | None) -> Candidate:
    """Divide the times of the new run by how much slower the cores ran, if it is known to help."""
    if wander is None or wander.clock is None or len(candidate.values) == 1:
        return candidate
    base, new = candidate.values
    slower = math.exp(wander.clock)
    values = [None if seconds is None else seconds / slower for seconds in new]
    return candidate._replace(values=(base, values), clock=slower)


def _case(candidate: Candidate, judged: Judged | None) -> CaseComparison:
    """Put together what is known of a case; one that was not judged is compared by itself."""
    case, base, new, values, reason, disturbed, clock = candidate
    comparison, p_value = judged or (compare(values), None)
    word = "incomparable" if reason else "unresolved" if disturbed else verdict(comparison, p_value)
    return CaseComparison(
        fullname=case.fullname,
        group=case.group,
        headline=case.extra_info.headline,
        word=word,
        base=base,
        new=new,
        ratio=comparison.ratio,
        p_value=p_value,
        smallest_change=None if reason or disturbed else comparison.smallest_change,
        allowance=comparison.allowance,
        clock=clock,
        overlap=overlap(base, new),
        reason=reason or disturbed,
    )
