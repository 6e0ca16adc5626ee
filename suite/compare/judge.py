# SPDX-License-Identifier: MIT
"""Many comparisons at once: each case gets its word, and the headline cases share their alarms."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from suite.compare.model import CaseComparison
from suite.model import Case, Estimate
from suite.statistics import CONFIDENCE, Comparison, holm, verdict


class Candidate(NamedTuple):
    """A case to be judged.

    base, new : seconds
    compare : makes the comparison, told how many share the 5% of false alarms
    reason : why the case is incomparable, if it is
    """

    case: Case
    base: Estimate
    new: Estimate
    compare: Callable[[int], Comparison]
    reason: str | None


def judge(candidates: Sequence[Candidate]) -> list[CaseComparison]:
    """Give each case its word.

    Headline cases share 5% of false alarms by Holm's method. All others are exploratory: each
    has 5% of its own.
    """
    headline = [each.case.extra_info.headline for each in candidates]
    family = sum(
        leads and not each.reason for leads, each in zip(headline, candidates, strict=True)
    )
    compared = [
        each.compare(max(family, 1) if leads else 1)
        for leads, each in zip(headline, candidates, strict=True)
    ]
    tests = {
        index: comparison.p_value
        for index, comparison in enumerate(compared)
        if comparison.p_value is not None and candidates[index].reason is None
    }
    corrected = _holm(tests) | _holm({index: p for index, p in tests.items() if headline[index]})
    return [
        _case(each, comparison, corrected.get(index))
        for index, (each, comparison) in enumerate(zip(candidates, compared, strict=True))
    ]


def differs(case: CaseComparison) -> bool:
    """Tell whether a case is faster or slower after Holm's correction, exploratory or not.

    Of forty exploratory cases that did not change, two are called different by their own 5%.
    """
    different = case.word in {"faster", "slower"}
    return different and case.p_value is not None and case.p_value <= 1 - CONFIDENCE


def overlap(first: Estimate, second: Estimate) -> bool | None:
    """Tell whether two intervals overlap; ``None`` where one is missing."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return None
    return first.low <= second.high and second.low <= first.high


def _holm(tests: dict[int, float]) -> dict[int, float]:
    return dict(zip(tests, holm(list(tests.values())), strict=True))


def _case(candidate: Candidate, comparison: Comparison, p_value: float | None) -> CaseComparison:
    """Put together what is known of a case; the p-value is the corrected one."""
    case, base, new, _, reason = candidate
    headline = case.extra_info.headline
    return CaseComparison(
        fullname=case.fullname,
        group=case.group,
        headline=headline,
        word="incomparable" if reason else verdict(comparison, p_value if headline else None),
        base=base,
        new=new,
        ratio=comparison.ratio,
        p_value=p_value,
        smallest_change=None if reason else comparison.smallest_change,
        overlap=overlap(base, new),
        reason=reason,
    )
