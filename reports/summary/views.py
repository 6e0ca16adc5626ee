# SPDX-License-Identifier: MIT
"""Tables of a page: the numbers behind the charts, all cases, and what there is to doubt."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from frobench.reports.charts.axes import spell_x
from frobench.reports.charts.strips import Strip
from frobench.reports.findings.finding import Finding, Plot, Point
from frobench.reports.findings.select import device_title
from frobench.reports.table.launches import rate, two_modes
from frobench.suite import checks
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored.machine_identity import function_of
from frobench.suite.stored.types import Case, Estimate, Outcome, Run, Scalar
from frobench.suite.units import counted

Marks = Mapping[str, tuple[str, ...]]
"""Words that belong beside a case's number, by the case's full name."""


class Cell:
    """A number with its interval, its unit, what makes it doubtful, and the cases behind it."""

    def __init__(self, value: Estimate, unit: str, cases: Iterable[str], marks: "Marks") -> None:
        self.value, self.unit, self.cases = value, unit, tuple(dict.fromkeys(cases))
        self.marks = doubtful(self.cases, marks)


@dataclass(frozen=True)
class Table:
    """The table behind a chart: a row for each size or category.

    absent : what stands where there is no number
    """

    caption: str
    head: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    absent: str


class CaseRow:
    """A case that has samples in the list of all cases.

    name : in full, as the downloads name it
    samples : how many in how many launches
    modes : both times of launches that are in two modes; empty where there is one
    """

    def __init__(self, run: Run, case: Case, marks: "Marks") -> None:
        info, names = case.extra_info, (case.fullname,)
        medians = [s for s in case_medians(case) if s is not None]
        time, by_time = estimate(medians), rate(info.work.flops, info.work.bytes, medians)
        self.name, self.function = case.fullname, function_of(case.fullname)
        self.parameters = label(run, case.params)
        self.time = Cell(time, "s", names, marks)
        self.rate = Cell(*by_time, names, marks) if by_time else None
        check = info.check
        self.check = f"{check.error:.1e} of {check.bound:.1e}" if check else "not checked"
        launches = counted(len(medians), "launch")
        self.samples = f"{counted(case.stats.rounds, 'sample')} in {launches}"
        self.strip, found = Strip(case, time), two_modes(medians)
        self.modes = found.text("s") if found else ""


@dataclass(frozen=True)
class Doubt:
    """Something to know before believing the numbers.

    cases : names of the cases by what is said of them; none where it is said of the run
    """

    word: str
    advice: str
    cases: dict[str, list[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many cases it is said of."""
        return sum(map(len, self.cases.values()))


def numbers(run: Run) -> dict[str, int]:
    """Return the number that a page gives each case, by its full name: its place in the file."""
    return {case.fullname: number for number, case in enumerate(run.benchmarks, start=1)}


def marks(run: Run) -> Marks:
    """Return the words that belong beside a case's number, by the case's full name."""
    found: dict[str, dict[str, None]] = {}
    for conclusion in run.frobench.conclusions:
        if conclusion.case and conclusion.severity != "info":
            found.setdefault(conclusion.case, {})[word(conclusion.code)] = None
    for outcome in run.frobench.outcomes:
        if outcome.status == "failed":
            found.setdefault(outcome.fullname, {})["failed"] = None
    return {case: tuple(words) for case, words in found.items()}


def doubtful(cases: Iterable[str], marks: Marks) -> tuple[str, ...]:
    """Return the marks that a number computed from these cases bears."""
    return tuple(dict.fromkeys(word for case in cases for word in marks.get(case, ())))


def absent(findings: Iterable[Finding]) -> dict[str, list[str]]:
    """Return the questions that have no answer, by the reason."""
    reasons: dict[str, list[str]] = {}
    for finding in findings:
        if finding.absent:
            reasons.setdefault(finding.absent, []).append(finding.question)
    return reasons


def own_cases(run: Run, exercise: str, finding: Finding) -> list[Case]:
    """Return the cases behind an answer that its exercise measured.

    Others, such as a product of the attainable peak, are ceilings that the answer is compared with.
    """
    behind = {*finding.cases}
    known = {one.fullname: one for one in run.benchmarks if one.fullname in behind}
    cases = (known[name] for name in dict.fromkeys(finding.cases) if name in known)
    return [case for case in cases if case.group == exercise]


def doubt_counts(run: Run, marks: Marks) -> list[str]:
    """Say how many cases failed and how many are noisy or otherwise doubtful; nothing of none."""
    failed = sum(outcome.status == "failed" for outcome in run.frobench.outcomes)
    each = ({*marks.get(case.fullname, ())} - {"failed"} for case in run.benchmarks)
    cases = [words for words in each if words]
    counts = [f"{counted(failed, 'case')} failed"] if failed else []
    if cases:
        what = "noisy" if all("noisy" in words for words in cases) else "doubtful"
        counts.append(f"{len(cases)} of {counted(len(run.benchmarks), 'case')} {what}")
    return counts


WORDS = {"near-peak": "unusually fast"}
"""Marks of rules whose code says less: a peak may be that of other devices, without a datasheet."""


def word(code: str) -> str:
    """Spell a rule's code as a mark: ``noisy-case`` is noisy."""
    return WORDS.get(code) or code.removesuffix("-case").replace("-", " ")


def table(plot: Plot, marks: Marks) -> Table:
    """Return the numbers of a plot, marked where a case behind them is doubtful."""

    def cell(point: Point | None) -> Cell | None:
        return Cell(point.y, plot.y.unit, point.cases, marks) if point else None

    series = [*plot.series, *([plot.whole] if plot.whole else [])]
    places = dict.fromkeys(point.x for one in series for point in one.points)
    numeric = all(isinstance(x, int | float) for x in places)
    points = [{point.x: point for point in one.points} for one in series]
    rows = [
        (spell_x(x, plot.x.unit), [cell(column.get(x)) for column in points])
        for x in (sorted(places, key=float) if numeric else places)
    ]
    absent = "none" if plot.kind == "stack" else "not measured"
    return Table(plot.title, [plot.x.label, *(one.label for one in series)], rows, absent)


def label(run: Run, params: Mapping[str, Scalar]) -> str:
    """Spell a case's parameters, its device by its name."""
    device = str(params.get("device", ""))
    named = [device_title(run, device)] if device not in {"", "none"} else []
    given = [
        f"{name} = {spell_x(value) if type(value) is int else value}"
        for name, value in params.items()
        if name != "device"
    ]
    return ", ".join([*named, *given])


def name(run: Run, case: Case | Outcome) -> str:
    """Name a case as people do: its function and its parameters."""
    return f"{function_of(case.fullname)} ({label(run, case.params)})"


def case_names(run: Run) -> dict[str, str]:
    """Name each case that has samples as people do, by its full name."""
    return {case.fullname: name(run, case) for case in run.benchmarks}


def _natural(text: str) -> list[int | str]:
    """Return a key that sorts 64 before 1024."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d{1,18})", text)]


def doubts(run: Run) -> list[Doubt]:
    """Gather what failed, what the doctor and the rules say, and what was left out, by cause."""
    names = {outcome.fullname: name(run, outcome) for outcome in run.frobench.outcomes}
    failed = Doubt("failed", "No answer uses them.")
    skipped = Doubt("skipped", "")
    conclusions = [one for one in run.frobench.conclusions if one.code not in checks.REPORTED]
    reasons = {checks.reason(one) for one in conclusions}  # of cases that an error withdraws
    concluded: dict[str, Doubt] = {}
    for outcome in sorted(run.frobench.outcomes, key=lambda one: _natural(one.fullname)):
        if outcome.status != "passed" and outcome.reason not in reasons:
            cases = (failed if outcome.status == "failed" else skipped).cases
            reason = outcome.reason or "no reason was given"
            cases.setdefault(reason, []).append(names[outcome.fullname])
    troubles = [one for one in run.frobench.troubles or [] if one.severity != "info"]
    for one in [*troubles, *conclusions]:
        doubt = concluded.setdefault(one.code, Doubt(word(one.code), one.advice))
        named = doubt.cases.setdefault(one.message, [])
        if one.case:
            named.append(names.get(one.case, one.case))
    return [doubt for doubt in (failed, *concluded.values(), skipped) if doubt.cases]
