# SPDX-License-Identifier: MIT
"""The answers as rows: question, answer, rule of thumb, small chart, trust."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.charts import small
from reports.charts.words import slug
from reports.findings.finding import Finding, Section
from reports.summary import short
from reports.summary.views import Marks, doubtful
from reports.table.frame import function_of
from reports.table.modes import WORDS, modes_of
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
    """

    question: str
    answer: str
    rule: str
    chart: Markup
    marks: tuple[str, ...]


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
    if lead.value and short.is_wide(lead.value):
        doubts.append(short.TOO_WIDE)
    return AnswerRow(
        short.question(run, lead.question, section.question),
        short.answer(run, lead),
        short.rule(lead),
        small.chart(lead, section.plots, launches, short.PRECISIONS),
        tuple(dict.fromkeys(doubts)),
    )


def _in_two_modes(run: Run, lead: Finding) -> Mapping[str, Sequence[float]]:
    """Return the launch medians of the cases behind an answer, if any of them is in two modes."""
    by_name: dict[str, Case] = {case.fullname: case for case in run.benchmarks}
    cases = [by_name[name] for name in lead.cases if name in by_name]
    if not any(modes_of(case) for case in cases):
        return {}
    return {
        function_of(case.fullname).removeprefix("bench_").replace("_", " "): [
            one
            for one in launch_medians(case.stats.data, case.extra_info.launches)
            if one is not None
        ]
        for case in cases
    }


def absent(answered: Sequence[Section]) -> list[Absent]:
    """Return what was not measured, by its reason."""
    reasons: dict[str, list[str]] = {}
    for finding in (one for section in answered for one in section.findings if one.absent):
        reasons.setdefault(finding.absent, []).append(finding.question)
    return [Absent(reason, questions) for reason, questions in reasons.items()]
