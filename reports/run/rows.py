# SPDX-License-Identifier: MIT
"""The answers as rows: question, answer, rule of thumb, small chart, trust."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.charts import small
from reports.charts.words import slug
from reports.findings.finding import Finding, Section
from reports.summary import short
from reports.summary.views import Marks, doubtful
from reports.table.frame import function_of
from reports.table.modes import WORDS, modes_of, two_modes
from suite.statistics import launch_medians
from suite.stored.run import Case, Run


@dataclass(frozen=True)
class AnswerRow:
    """The leading answer of an exercise, in a row.

    Parameters
    ----------
    answer
        One plain sentence, with the number and its interval.
    marks
        What makes it doubtful; empty where it is steady.
    modes, launches
        Where launches are in two modes: what they are, and every launch of the cases behind the
        answer; else empty.
    """

    question: str
    answer: str
    rule: str
    chart: Markup
    marks: tuple[str, ...]
    modes: str
    launches: Markup


@dataclass(frozen=True)
class Absent:
    """Questions that have no answer for one reason."""

    reason: str
    questions: list[str]


def exercise_id(exercise: str) -> str:
    """Return the place of an exercise on the page."""
    return f"exercise-{slug(exercise)}"


def row(run: Run, section: Section, marks: Marks) -> AnswerRow:
    """Return the row of an exercise whose leading finding has an answer."""
    lead = section.findings[0]
    launches = _in_two_modes(run, lead)
    doubts = [*([WORDS] if launches else []), *doubtful(lead.cases, marks)]
    if lead.value and lead.value.is_wide:
        doubts.append(short.TOO_WIDE)
    return AnswerRow(
        short.question(run, lead.question, section.question),
        short.answer(run, lead),
        short.rule(lead),
        small.chart(lead, section.plots, launches, short.PRECISIONS),
        tuple(dict.fromkeys(doubts)),
        "; ".join(_spelled(launches)),
        small.launches_by_case(launches) if launches else Markup(),
    )


def _spelled(launches: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Spell the modes of each case that has two."""
    for name, values in launches.items():
        if found := two_modes(values):
            yield f"{name} {found.text('s')}"


def _in_two_modes(run: Run, lead: Finding) -> Mapping[str, Sequence[float]]:
    """Return the launch medians of those cases behind an answer whose launches are in two modes."""
    by_name: dict[str, Case] = {case.fullname: case for case in run.benchmarks}
    behind = [by_name[name] for name in lead.cases if name in by_name]
    cases = [case for case in behind if modes_of(case)]
    functions = [function_of(case.fullname) for case in behind]
    return {
        _name(case, alone=functions.count(function_of(case.fullname)) == 1): [
            one
            for one in launch_medians(case.stats.data, case.extra_info.launches)
            if one is not None
        ]
        for case in cases
    }


def _name(case: Case, *, alone: bool) -> str:
    """Name a case by its function, and by its parameters where others have that too."""
    name = function_of(case.fullname).removeprefix("bench_").replace("_", " ")
    given = [f"{key} = {value}" for key, value in case.params.items() if key != "device"]
    return name if alone else f"{name}, {', '.join(given)}"


def absent(answered: Sequence[Section]) -> list[Absent]:
    """Return what was not measured, by its reason."""
    reasons: dict[str, list[str]] = {}
    for finding in (one for section in answered for one in section.findings if one.absent):
        reasons.setdefault(finding.absent, []).append(finding.question)
    return [Absent(reason, questions) for reason, questions in reasons.items()]
