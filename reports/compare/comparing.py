# SPDX-License-Identifier: MIT
"""Findings of two runs beside each other.

A finding has no better direction (a higher crossover is neither faster nor slower), so it is
`higher`, `lower`, `same` or `unresolved`, and never more than exploratory.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from frobench.reports.findings import findings
from frobench.reports.findings.finding import Finding
from frobench.suite import checks
from frobench.suite.compare.matching import CaseComparison, Names, RunComparison, kind
from frobench.suite.compare.multiple_testing import overlap
from frobench.suite.compare.verdicts import Between, compare_values, verdict
from frobench.suite.stored.types import Estimate, Run
from frobench.suite.terminal.comparison import FINDS, finds, grouped
from frobench.suite.terminal.output import Table
from frobench.suite.units import RATIO, format_estimate, format_point

Word = Literal["higher", "lower", "same", "unresolved", "incomparable"]


class FindingComparison(Struct, frozen=True, kw_only=True):
    """One finding of two runs.

    base, new : the estimates, in `unit`; ``None`` where a run has none
    ratio : new / base; ``None`` where the two are not of the same thing, or a launch's value is
        not positive
    word : ``None`` where no verdict was asked for
    smallest_change : as for `suite.compare.verdicts.Comparison`, up or down; ``None`` too where
        the values stand on a grid of sizes, which no small change moves
    overlap : whether the intervals of base and new overlap; ``None`` where one has none
    reason : why there is no ratio
    """

    exercise: str
    name: str
    label: str
    unit: str
    base: Estimate | None
    new: Estimate | None
    ratio: Estimate | None
    word: Word | None
    smallest_change: float | None
    overlap: bool | None
    reason: str | None


class _Side(NamedTuple):
    """A finding, the cases that it comes from, and all on its devices: it may have chosen."""

    finding: Finding
    cases: set[str]
    offered: set[str]


SIZE = "n"
"""The unit of findings that are sizes, such as where two curves cross."""
_ABSENT = _Side(Finding("", "", "not among its findings"), set(), set())
_WORDS: Mapping[str, Word] = {"slower": "higher", "faster": "lower", "same": "same"}


def compare_findings(
    base: Run, new: Run, judged: RunComparison | None = None
) -> list[FindingComparison]:
    """Hold the findings of two runs beside each other, in the order of the base run.

    judged : what was said of the cases: a finding gets a word, and is incomparable or disturbed
        where one of its cases is. Without it there are no words, and findings belong together if
        they are about devices of the same kind, as on two machines
    """
    names = kind if judged is None else str
    before, after = _sides(base, names), _sides(new, names)
    cases = {case.fullname: case for case in judged.cases} if judged else {}
    keys = dict.fromkeys([*before, *after])
    exercises = list(dict.fromkeys(exercise for exercise, _ in keys))
    pairs = {
        key: (before.get(key, _ABSENT), after.get(key, _ABSENT))
        for key in sorted(keys, key=lambda key: exercises.index(key[0]))
    }
    return [
        _compare(key, pair, cases, words=judged is not None)
        for key, pair in pairs.items()
        if any(side.finding.value for side in pair)
    ]


def _sides(judged: Run, names: Names) -> dict[tuple[str, str], _Side]:
    """Return the findings of a run by their exercise and their name."""
    run = checks.credible(judged)
    places = {
        case.fullname: (case.group, str(case.params.get("device"))) for case in run.benchmarks
    }
    answered = {}
    for exercise, answers in findings(run).items():
        for finding in answers:
            mine = {places[name] for name in finding.cases}
            offered = {names(name) for name, place in places.items() if place in mine}
            side = _Side(finding, {*map(names, finding.cases)}, offered)
            answered[exercise, names(finding.name)] = side
    return answered


def _compare(
    key: tuple[str, str],
    pair: tuple[_Side, _Side],
    cases: Mapping[str, CaseComparison],
    *,
    words: bool,
) -> FindingComparison:
    old, late = (side.finding for side in pair)
    mine = [cases[name] for name in old.cases if name in cases]
    disturbed = next((case.reason for case in mine if case.is_disturbed), None)
    reason = _obstacle(*pair, mine) or disturbed
    compared = (
        None if reason else compare_values(old.by_launch, late.by_launch, between=_between(mine))
    )
    unit = old.unit or late.unit
    word: Word | None = None
    if words and compared:
        word = _WORDS.get(verdict(compared), "unresolved")
    elif words:
        word = "unresolved" if reason == disturbed else "incomparable"
    return FindingComparison(
        exercise=key[0],
        name=key[1],
        label=old.label or late.label,
        unit=unit,
        base=old.value,
        new=late.value,
        ratio=compared.ratio if compared else None,
        word=word,
        smallest_change=compared.smallest_change if compared and unit != SIZE else None,
        overlap=overlap(old.value, late.value) if old.value and late.value else None,
        reason=reason,
    )


def _between(cases: Sequence[CaseComparison]) -> Between:
    """Return what a finding may differ by between runs: as a ratio of its two worst cases may."""
    allowed = sorted((math.log1p(case.allowance) for case in cases), reverse=True)
    return Between(known=math.hypot(*allowed[:2]))


def _obstacle(old: _Side, late: _Side, cases: Sequence[CaseComparison]) -> str | None:
    """Say why two findings have no ratio, or ``None``."""
    for side, finding in (("base", old.finding), ("new", late.finding)):
        if finding.value is None:
            return f"no number in {side}: {finding.answer}"
    for case in cases:
        if case.word == "incomparable":
            return case.reason
    if old.cases != late.cases and old.offered != late.offered:
        return "computed from other cases"
    if min(*old.finding.by_launch, *late.finding.by_launch) <= 0:
        return "not positive in every launch"
    return None


def table(
    compared: Sequence[FindingComparison], base: str, new: str, *, overlaps: bool = False
) -> Table:
    """Return a row for each finding that has a ratio, with its word or whether they overlap."""
    columns = {base: ">", new: ">", f"{new} / {base}": "<"}
    if overlaps:
        columns["intervals overlap"] = "<"
    elif any(finding.word for finding in compared):
        columns |= {"verdict": "<", FINDS: ">"}
    rows = []
    for one in compared:
        if one.ratio:
            numbers = [format_point(e, one.unit) for e in (one.base, one.new) if e]
            ratio = format_estimate(one.ratio, RATIO)
            judged = (f"({one.word})", finds(one.smallest_change)) if one.word else ()
            more = ({True: "yes", False: "no", None: "-"}[one.overlap],) if overlaps else judged
            rows.append((one.exercise, one.name, *numbers, ratio, *more))
    return Table(columns, rows)


def legend(compared: Sequence[FindingComparison]) -> list[str]:
    """Explain the words of findings, and name those without a ratio."""
    lines = []
    if any(finding.word for finding in compared):
        lines.append("findings: all exploratory; higher or lower is not always better or worse")
        lines.append(f"  ({FINDS}: the smallest change that would have been found in 90%)")
    if any(finding.word and finding.ratio and finding.unit == SIZE for finding in compared):
        lines.append("  (-: sizes lie on a grid, and what changes less may not move them)")
    reasons = grouped(
        (f"{finding.exercise} {finding.name}", finding.reason) for finding in compared
    )
    return [*lines, *(f"no ratio: {line}" for line in reasons)]
