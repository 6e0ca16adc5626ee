# SPDX-License-Identifier: MIT
"""Two stored runs to a verdict for each case.

A regression verdict needs the same benchmark on the same machine in the same state. What
differs in the environment is listed: what moves numbers makes every case incomparable,
the rest is named apart. Whether the intervals of a case overlap is counted in any case.
"""

from collections import Counter
from typing import Literal

from msgspec import Struct

from suite.comparability import Difference, compare_environments
from suite.model import Case, CaseInfo, Estimate, Run, VerdictWord
from suite.statistics import (
    CONFIDENCE,
    Comparison,
    compare_values,
    estimate,
    holm,
    launch_medians,
    verdict,
)
from suite.units import format_estimate, format_value

Side = Literal["base", "new"]
Pair = tuple[Case, Case]

COLUMNS = ("case", "base", "new", "new / base", "verdict", "note")
"""Headings of `rows`."""

_SLOWER = 4
_ORDER: tuple[VerdictWord, ...] = ("slower", "faster", "unresolved", "same", "incomparable")


class CaseComparison(Struct, frozen=True, kw_only=True):
    """One case in two runs.

    base, new : seconds
    ratio : new / base with its interval; below 1 is faster
    p_value : corrected by Holm's method, over the headline cases for a headline case and
        over all cases for an exploratory one; ``None`` where nothing was tested
    smallest_change : see `suite.statistics.Comparison`
    overlap : whether the intervals of base and new overlap; ``None`` where one has none
    reason : why the case is incomparable
    """

    fullname: str
    group: str
    headline: bool
    word: VerdictWord
    base: Estimate
    new: Estimate
    ratio: Estimate
    p_value: float | None
    smallest_change: float | None
    overlap: bool | None
    reason: str | None


class Unmatched(Struct, frozen=True):
    """A case that only one of the runs measured, and what the other says of it."""

    fullname: str
    measured_in: Side
    reason: str


class RunComparison(Struct, frozen=True, kw_only=True):
    """Two runs, case by case in the order of the base run.

    base, new : names of the runs
    differences : facts that matter and differ; any makes every case incomparable
    harmless : facts that differ and are not held against a verdict
    counts : number of cases by verdict
    overlapping, with_intervals : cases whose two intervals overlap, and cases with both
    """

    base: str
    new: str
    cases: list[CaseComparison]
    unmatched: list[Unmatched]
    differences: list[Difference]
    harmless: list[Difference]
    counts: dict[VerdictWord, int]
    overlapping: int
    with_intervals: int


def compare_runs(base: Run, new: Run) -> RunComparison:
    """Compare two runs case by case.

    Headline cases share 5% of false alarms by Holm's method. All others are exploratory:
    each has 5% of its own.
    """
    found = compare_environments(base.frobench.environment, new.frobench.environment)
    differences = [each for each in found if each.matters]
    machine = "the environments differ in what matters" if differences else None
    after = {case.fullname: case for case in new.benchmarks}
    pairs = [(case, after[case.fullname]) for case in base.benchmarks if case.fullname in after]
    failures = _failures(new, "new") | _failures(base, "base")
    reasons = [
        machine or failures.get(old.fullname) or _other_thing(old.extra_info, late.extra_info)
        for old, late in pairs
    ]
    cases = _judge(pairs, reasons)
    overlaps = [case.overlap for case in cases if case.overlap is not None]
    return RunComparison(
        base=base.frobench.run,
        new=new.frobench.run,
        cases=cases,
        unmatched=_unmatched(base, new, "base") + _unmatched(new, base, "new"),
        differences=differences,
        harmless=[each for each in found if not each.matters],
        counts=dict(Counter(case.word for case in cases)),
        overlapping=sum(overlaps),
        with_intervals=len(overlaps),
    )


def exit_code(comparison: RunComparison) -> int:
    """Return 4 where a case is slower, else 0.

    An exploratory case counts only if it is slower after Holm's correction too: of forty
    that did not change, one is called slower by its own 5%.
    """
    slower = any(
        case.word == "slower" and case.p_value is not None and case.p_value <= 1 - CONFIDENCE
        for case in comparison.cases
    )
    return _SLOWER if slower else 0


def summary(comparison: RunComparison) -> list[str]:
    """Return what the comparison says as a whole, a line each."""
    counts = comparison.counts
    words = ", ".join(f"{counts[word]} {word}" for word in _ORDER if word in counts)
    lines = [f"{len(comparison.cases)} cases in both runs" + (f": {words}" if words else "")]
    overlapping, every = comparison.overlapping, comparison.with_intervals
    if every:
        share = format_value(overlapping / every, "1")
        lines.append(f"intervals overlap in {overlapping} of {every} cases ({share})")
    lines += [f"differs in what matters: {_arrow(each)}" for each in comparison.differences]
    lines += [f"differs harmlessly: {_arrow(each)}" for each in comparison.harmless]
    lines += [
        f"only in {each.measured_in}: {each.fullname}: {each.reason}"
        for each in comparison.unmatched
    ]
    return lines


def rows(comparison: RunComparison) -> list[tuple[str, ...]]:
    """Return the cells of a table under `COLUMNS`, what is slower first.

    The note says why a case is incomparable, or else the smallest slow-down that would
    have been found in 90%.
    """
    return [
        (
            f"{case.group}: {case.fullname.rpartition('::')[2]}",
            format_estimate(case.base, "s"),
            format_estimate(case.new, "s"),
            format_estimate(case.ratio, "\N{MULTIPLICATION SIGN}"),
            case.word if case.headline else f"{case.word} (exploratory)",
            case.reason or _would_find(case.smallest_change),
        )
        for case in sorted(comparison.cases, key=lambda case: _ORDER.index(case.word))
    ]


def _judge(pairs: list[Pair], reasons: list[str | None]) -> list[CaseComparison]:
    """Give each pair its word; a reason makes a pair incomparable."""
    headline = [base.extra_info.headline for base, _ in pairs]
    family = sum(leads and not reason for leads, reason in zip(headline, reasons, strict=True))
    compared = [
        compare_values(_values(base), _values(new), max(family, 1) if leads else 1)
        for (base, new), leads in zip(pairs, headline, strict=True)
    ]
    tests = {
        index: comparison.p_value
        for index, comparison in enumerate(compared)
        if comparison.p_value is not None and reasons[index] is None
    }
    corrected = _holm(tests) | _holm({index: p for index, p in tests.items() if headline[index]})
    return [
        _case(pair, comparison, corrected.get(index), reasons[index])
        for index, (pair, comparison) in enumerate(zip(pairs, compared, strict=True))
    ]


def _holm(tests: dict[int, float]) -> dict[int, float]:
    return dict(zip(tests, holm(list(tests.values())), strict=True))


def _case(
    pair: Pair, comparison: Comparison, p_value: float | None, reason: str | None
) -> CaseComparison:
    """Put together what is known of a pair; the p-value is the corrected one."""
    case = pair[0]
    base, new = (estimate(_values(each)) for each in pair)
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
        overlap=_overlap(base, new),
        reason=reason,
    )


def _values(case: Case) -> list[float | None]:
    return launch_medians(case.stats.data, case.extra_info.launches)


def _overlap(base: Estimate, new: Estimate) -> bool | None:
    if base.low is None or base.high is None or new.low is None or new.high is None:
        return None
    return base.low <= new.high and new.low <= base.high


def _other_thing(old: CaseInfo, late: CaseInfo) -> str | None:
    """Say why two measurements of a case are not of the same thing, or ``None``."""
    if old.version != late.version:
        return f"another version of the benchmark: {old.version} -> {late.version}"
    if old.devices != late.devices:
        return f"other devices: {', '.join(old.devices)} -> {', '.join(late.devices)}"
    if old.check and late.check and old.check.precision != late.check.precision:
        return f"other precision: {old.check.precision} -> {late.check.precision}"
    return None


def _failures(run: Run, side: Side) -> dict[str, str]:
    """Return why the samples of a case count for nothing, by the case's full name."""
    failures = {
        outcome.fullname: f"failed in {side}: {outcome.reason}"
        for outcome in run.frobench.outcomes
        if outcome.status == "failed"
    }
    for case in run.benchmarks:
        check = case.extra_info.check
        if check is not None and not check.passed:
            failures[case.fullname] = f"wrong result in {side}: {check.compared}"
    return failures


def _unmatched(run: Run, other: Run, side: Side) -> list[Unmatched]:
    measured = {case.fullname for case in other.benchmarks}
    said = {
        outcome.fullname: f"{outcome.status} there: {outcome.reason}"
        for outcome in other.frobench.outcomes
    }
    return [
        Unmatched(case.fullname, side, said.get(case.fullname, "not selected there"))
        for case in run.benchmarks
        if case.fullname not in measured
    ]


def _would_find(change: float | None) -> str:
    if change is None:
        return "too few launches to find any change"
    return f"would find +{format_value(change, '1', digits=2)}"


def _arrow(difference: Difference) -> str:
    return f"{difference.fact}: {difference.base} -> {difference.new}"
