# SPDX-License-Identifier: MIT
"""The search for the commit at which a case changed.

The first and the last commit are compared, then commits between them beside the first. These only
point at a commit. It is measured anew beside the commit before it, and only that is claimed. So two
tests can err, however long the search is: that of the ends, by the threshold of every comparison,
and that of the commits found. Each errs in at most 5%, over all cases together.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from frobench.suite.compare.matching import CaseComparison
from frobench.suite.compare.multiple_testing import Judged, compare, compare_family
from frobench.suite.statistics import LEAST_LAUNCHES, NORMAL_QUANTILE, has_enough
from frobench.suite.stored.types import Estimate

Ratios = Mapping[str, Sequence[float | None]]
"""By case, second commit / first commit in each pair of launches; ``None`` where one is missing."""


class BrokenError(Exception):
    """The commit at a position of the range cannot be measured."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position


Measure = Callable[[int, int, int], Ratios]
"""Measures two commits in turn, in so many pairs of launches; raises `BrokenError`."""


class Culprit(Struct, frozen=True):
    """Where a case changed; no commit between the two positions could be measured."""

    case: str
    before: int  # the last commit without the change
    at: int  # the first one with it
    ratio: Estimate | None  # of launches made for this alone; None if they do not confirm it


class Findings(Struct):
    """What a search has found."""

    last: int  # position of the last commit; that of the first is 0
    launches: int  # pairs of them that the ends are given
    ends: Mapping[str, CaseComparison | Judged]  # last / first, by case
    beside_first: dict[int, dict[str, Estimate]] = {}  # ratios of each commit measured so, by case
    broken: dict[int, str] = {}  # why commits cannot be measured
    culprits: list[Culprit] = []

    @property
    def changed(self) -> list[str]:
        """The cases that differ between the ends, the largest change first."""
        change = {case: abs(_log(end.ratio)) for case, end in self.ends.items() if end.differs}
        return sorted(change, key=lambda case: -change[case])


Judge = Callable[[Ratios], Mapping[str, CaseComparison | Judged]]
"""Compares the ends of a range, which were measured in these pairs of launches."""


def search(commits: int, measure: Measure, launches: int, judge: Judge | None = None) -> Findings:
    """Search a range of commits, of which the first is the one before the range.

    launches : pairs of launches of the ends and of each commit found
    judge : compares the ends; by default their ratios alone

    Findings without `ends` say that nothing could be compared. Raises `BrokenError` where an end
    cannot be measured.
    """
    last = commits - 1
    ends = (judge or _judged)(measure(0, last, launches))
    findings = Findings(last=last, launches=launches, ends=ends)
    findings.beside_first[last] = {case: end.ratio for case, end in ends.items()}
    brackets = {case: _bracket(case, findings, measure) for case in findings.changed}
    _confirm(findings, brackets, measure)
    return findings


def _bracket(case: str, findings: Findings, measure: Measure) -> tuple[int, int]:
    launches = _launches_of_a_step(findings.ends[case].ratio, findings.launches)
    known = {position: ratios[case] for position, ratios in findings.beside_first.items()}
    before, after = 0, findings.last
    for position in known:  # measured in the search for another case
        if before < position < after:
            before, after = _halved(before, position, after, known)
    lacking: set[int] = set()
    while between := sorted({*range(before + 1, after)} - findings.broken.keys() - lacking):
        position = between[len(between) // 2]
        try:
            ratios = measure(0, position, launches)
        except BrokenError as error:
            findings.broken[error.position] = str(error)
            continue
        findings.beside_first[position] = {
            name: compare((values,)).ratio for name, values in ratios.items() if has_enough(values)
        }
        if case not in findings.beside_first[position]:
            lacking.add(position)
            continue
        known[position] = findings.beside_first[position][case]
        before, after = _halved(before, position, after, known)
    return before, after


def _halved(before: int, inner: int, after: int, known: Mapping[int, Estimate]) -> tuple[int, int]:
    low, middle, high = (_log(known[at]) if at in known else 0.0 for at in (before, inner, after))
    return (before, inner) if abs(middle - low) > abs(high - middle) else (inner, after)


def _confirm(findings: Findings, brackets: Mapping[str, tuple[int, int]], measure: Measure) -> None:
    """Measure what the search points at anew, each pair of commits for all cases that share it."""
    ends = (0, findings.last)
    pairs = dict.fromkeys(pair for pair in brackets.values() if pair != ends)
    anew: dict[str, Judged] = {}
    for pair in pairs:
        with suppress(BrokenError):
            ratios = measure(*pair, findings.launches)
            judged = _judged({case: ratios[case] for case in brackets if brackets[case] == pair})
            anew |= {
                case: one._replace(p_value=one.p_value * len(pairs)) for case, one in judged.items()
            }
    for case, pair in brackets.items():
        ratio = findings.ends[case].ratio
        one = anew.get(case)
        confirmed = one and one.differs and (one.ratio.value > 1) == (ratio.value > 1)
        found = ratio if pair == ends else one.ratio if one and confirmed else None
        findings.culprits.append(Culprit(case, *pair, found))


def _judged(ratios: Ratios) -> dict[str, Judged]:
    cases = [case for case, values in ratios.items() if has_enough(values)]
    judged = compare_family([(ratios[case],) for case in cases], [None] * len(cases))
    return dict(zip(cases, judged, strict=True))


def _launches_of_a_step(ratio: Estimate, launches: int) -> int:
    """Return how many pairs of launches show on which side of the change a commit lies.

    They leave half the change three standard errors, by what the ends show of both.
    """
    if ratio.low is None or ratio.high is None or ratio.value == 1:
        return launches
    error = math.log(ratio.high / ratio.low) / (2 * NORMAL_QUANTILE)
    needed = launches * (6 * error / _log(ratio)) ** 2
    return max(LEAST_LAUNCHES, min(math.ceil(needed), 2 * launches))


def _log(ratio: Estimate) -> float:
    return math.log(ratio.value)
