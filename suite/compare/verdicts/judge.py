# SPDX-License-Identifier: MIT
"""Many comparisons at once: all cases share 5% of false alarms, and each gets its word."""

import math
from collections.abc import Sequence
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
    values : of the launches; either each candidate has two sequences, or each has one
    reason : why the case is incomparable, if it is
    disturbed : why it gets no verdict, if the runs were disturbed unlike
    wander : how far its level lies from run to run; without it, two runs are as alike as two
        launches of one
    """

    case: Case
    base: Estimate
    new: Estimate
    values: Sides
    reason: str | None
    disturbed: str | None = None
    wander: Wander | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the case takes part in the family."""
        least = min(sum(value is not None for value in side) for side in self.values)
        return not self.reason and not self.disturbed and least >= LEAST_LAUNCHES

    @property
    def clock(self) -> float | None:
        """How many times as slow the cores ran in the new run, if the case is relative to them."""
        known = self.wander.clock if self.wander else None
        return None if known is None else math.exp(known)


def judge(candidates: Sequence[Candidate]) -> list[CaseComparison]:
    """Give each case its word. All cases together share 5% of false alarms."""
    candidates = [_relative(each) for each in candidates]
    family = [each for each in candidates if each.is_judged]
    judged = iter(
        compare_family([each.values for each in family], [each.wander for each in family])
    )
    return [_case(each, next(judged) if each.is_judged else None) for each in candidates]


def overlap(first: Estimate, second: Estimate) -> bool | None:
    """Tell whether two intervals overlap; ``None`` where one is missing."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return None
    return first.low <= second.high and second.low <= first.high


def _relative(candidate: Candidate) -> Candidate:
    """Divide the times of the new run by how much slower the cores ran, if it is known to help."""
    if candidate.clock is None or len(candidate.values) == 1:
        return candidate
    base, new = candidate.values
    slower = [None if seconds is None else seconds / candidate.clock for seconds in new]
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
        clock=candidate.clock,
        overlap=overlap(candidate.base, candidate.new),
        reason=reason or disturbed,
    )
