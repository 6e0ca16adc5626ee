# SPDX-License-Identifier: MIT
"""The search for the commit at which a case changed.

The first and the last commit are compared, then commits between them beside the first. These only
point at a commit. It is measured anew beside the commit before it, and only that is claimed. So two
tests can err, however long the search is: that of the ends and that of the commits found. Each
takes half of 5%, over all cases together.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from suite.compare.verdicts.family import Judged, compare, compare_family
from suite.statistics import ALARMS, LEAST_LAUNCHES, NORMAL_QUANTILE, has_enough
from suite.stored.run import Estimate

ALARMS_OF_A_TEST = ALARMS / 2
"""Chance of a false alarm of the ends, and of the commits found, over all cases."""
TRIES_AT_AN_END = 3
"""Commits at either end of the range, one after another, that may turn out to be broken."""

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

    first: int  # positions of the ends that could be measured
    last: int
    launches: int  # pairs of them that the ends were given
    ends: dict[str, Judged] = {}  # the last beside the first, by case
    beside_first: dict[int, dict[str, Estimate]] = {}  # ratios of each commit measured so, by case
    broken: dict[int, str] = {}  # why commits cannot be measured
    culprits: list[Culprit] = []

    @property
    def changed(self) -> list[str]:
        """The cases that differ between the ends, the largest change first."""
        change = {
            case: abs(_log(judged.comparison.ratio))
            for case, judged in self.ends.items()
            if judged.differs and judged.p_value <= ALARMS_OF_A_TEST
        }
        return sorted(change, key=lambda case: -change[case])


def search(commits: int, measure: Measure, launches: int) -> Findings:
    """Search a range of commits, of which the first is the one before the range.

    launches : pairs of launches of the ends and of each commit found

    Findings without `ends` say that nothing could be compared.
    """
    findings = Findings(first=0, last=commits - 1, launches=launches)
    _compare_ends(findings, measure)
    brackets = {case: _bracket(case, findings, measure) for case in findings.changed}
    _confirm(findings, brackets, measure)
    return findings


def _compare_ends(findings: Findings, measure: Measure) -> None:
    """Compare the ends; where one is broken, the next commit inward is the end."""
    begin, end = findings.first, findings.last
    while not findings.beside_first and findings.first < findings.last:
        try:
            findings.ends = _judged(measure(findings.first, findings.last, findings.launches))
            findings.beside_first[findings.last] = {
                case: judged.comparison.ratio for case, judged in findings.ends.items()
            }
        except BrokenError as error:
            findings.broken[error.position] = str(error)
            if error.position == findings.first:
                findings.first += 1
            else:
                findings.last -= 1
            if max(findings.first - begin, end - findings.last) == TRIES_AT_AN_END:
                return


def _bracket(case: str, findings: Findings, measure: Measure) -> tuple[int, int]:
    launches = _launches_of_a_step(findings.ends[case].comparison.ratio, findings.launches)
    known = {position: ratios[case] for position, ratios in findings.beside_first.items()}
    before, after = findings.first, findings.last
    for position in known:  # measured in the search for another case
        if before < position < after:
            before, after = _halved(before, position, after, known)
    lacking: set[int] = set()
    while between := sorted({*range(before + 1, after)} - findings.broken.keys() - lacking):
        position = between[len(between) // 2]
        try:
            ratios = measure(findings.first, position, launches)
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
    ends = (findings.first, findings.last)
    pairs = dict.fromkeys(pair for pair in brackets.values() if pair != ends)
    anew: dict[str, Judged] = {}
    for pair in pairs:
        with suppress(BrokenError):
            ratios = measure(*pair, findings.launches)
            anew |= _judged({case: ratios[case] for case in brackets if brackets[case] == pair})
    for case, pair in brackets.items():
        known = findings.ends[case]
        confirmed = _confirmed(anew.get(case), known, tests=len(pairs))
        ratio = known.comparison.ratio if pair == ends else confirmed
        findings.culprits.append(Culprit(case, *pair, ratio))


def _confirmed(anew: Judged | None, ends: Judged, tests: int) -> Estimate | None:
    if anew is None or not anew.differs or anew.p_value > ALARMS_OF_A_TEST / tests:
        return None
    ratio = anew.comparison.ratio
    return ratio if (ratio.value > 1) == (ends.comparison.ratio.value > 1) else None


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
