# SPDX-License-Identifier: MIT
"""The answers as rows: question, answer, rule of thumb, small chart, trust."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from frobench.reports.charts import screen
from frobench.reports.charts.words import slug
from frobench.reports.findings.finding import Section
from frobench.reports.summary import short
from frobench.reports.summary.views import Marks, doubtful, own_cases
from frobench.reports.table.modes import WORDS, modes_of, two_modes
from frobench.suite.statistics import case_medians
from frobench.suite.stored.differences import function_of
from frobench.suite.stored.types import Case, Run


class AnswerRow(NamedTuple):
    """The leading answer of an exercise, in a row.

    answer : one plain sentence, with the number and its interval
    marks : what makes it doubtful; empty where it is steady
    modes : where launches are in two modes: what they are; else empty
    """

    question: str
    answer: str
    rule: str
    chart: Markup
    marks: tuple[str, ...]
    modes: str


def exercise_id(exercise: str) -> str:
    """Return the place of an exercise on the page."""
    return f"exercise-{slug(exercise)}"


def row(run: Run, section: Section, marks: Marks) -> AnswerRow:
    """Return the row of an exercise whose leading finding has an answer."""
    lead = section.findings[0]
    launches = _in_two_modes(own_cases(run, section.exercise, lead))
    doubts = [*([WORDS] if launches else []), *doubtful(lead.cases, marks)]
    if lead.value and lead.value.is_wide:
        doubts.append(short.TOO_WIDE)
    return AnswerRow(
        short.question(run, lead.question, section.question),
        short.answer(run, lead),
        short.rule(lead),
        screen.chart(lead, section.plots, launches, short.PRECISIONS),
        tuple(dict.fromkeys(doubts)),
        "; ".join(
            f"{name} {modes.text('s')}"
            for name, values in launches.items()
            if (modes := two_modes(values))
        ),
    )


def _in_two_modes(behind: Sequence[Case]) -> Mapping[str, Sequence[float]]:
    """Return the launch medians of those cases behind an answer whose launches are in two modes.

    A case is named by its function, and by its parameters where others have that too.
    """
    functions = [function_of(case.fullname) for case in behind]
    launches = {}
    for case, function in zip(behind, functions, strict=True):
        if modes_of(case):
            name = function.removeprefix("bench_").replace("_", " ")
            given = [f"{key} = {value}" for key, value in case.params.items() if key != "device"]
            launches[name if functions.count(function) == 1 else f"{name}, {', '.join(given)}"] = [
                median for median in case_medians(case) if median is not None
            ]
    return launches


def absent(answered: Sequence[Section]) -> dict[str, list[str]]:
    """Return the questions that have no answer, by the reason."""
    reasons: dict[str, list[str]] = {}
    for finding in (one for section in answered for one in section.findings if one.absent):
        reasons.setdefault(finding.absent, []).append(finding.question)
    return reasons
