# SPDX-License-Identifier: MIT
"""The answers of a stored run for programs and documents: CSV and Markdown."""

import csv
import io
from collections.abc import Iterable, Sequence
from operator import attrgetter

from frobench.suite.printable import as_cell, printable
from frobench.suite.stored.names import short_name
from frobench.suite.stored.run import Estimate
from frobench.suite.terminal.answers import CaseResult, RunAnswers, axis_text, doubts, heading
from frobench.suite.terminal.comparison_tables import UNLIMITED
from frobench.suite.units import format_estimate


def as_csv(run: RunAnswers) -> str:
    """Return a row for each answer."""
    texts = ("exercise", "name", "question", "answer", "brief", "rule_of_thumb", "label", "unit")
    rows = (
        (*attrgetter(*texts)(answer), *_numbers(answer.value), ", ".join(answer.doubts))
        for answer in run.answers
    )
    return _csv((*texts, "value", "low", "high", "launches", "doubts"), rows)


def cases_as_csv(cases: Iterable[CaseResult]) -> str:
    """Return a row for each case, its time in seconds and its rate in the unit beside it."""
    texts = ("exercise", "case", "status")
    time = ("seconds", "seconds_low", "seconds_high", "launches")
    rate = ("rate", "rate_low", "rate_high", "rate_unit")
    rows = []
    for case in cases:
        measured = *_numbers(case.seconds), *_numbers(case.rate)[:3], case.rate_unit
        rows.append((*attrgetter(*texts)(case), *measured, ", ".join(case.doubts), case.reason))
    return _csv((*texts, *time, *rate, "doubts", "reason"), rows)


def as_markdown(run: RunAnswers) -> str:
    """Return the axes and the leading answers as tables, for a pull request or a wiki."""
    axes = [(axis.title, axis_text(axis)) for axis in run.axes]
    rows = [
        (answer.question, f"{answer.brief}{doubts(answer.doubts)}", answer.rule_of_thumb)
        for answer in run.answers
        if answer.leads
    ]
    parts = [_cell(" ".join(heading(run, UNLIMITED)))]
    if axes:
        parts.append(_markdown(("axis", run.device), axes))
    parts.append(_markdown(("question", "answer", "rule of thumb"), rows))
    for reason, questions in run.absent.items():
        parts.append(_cell(f"Not measured: {'; '.join(questions)} ({reason})"))
    return "\n\n".join(parts)


def cases_as_markdown(cases: Iterable[CaseResult]) -> str:
    """Return the cases as a table."""
    rows = [
        (
            short_name(case.case),
            format_estimate(case.seconds, "s") if case.seconds else case.status,
            format_estimate(case.rate, case.rate_unit) if case.rate else "",
            case.reason or ", ".join(case.doubts),
        )
        for case in cases
    ]
    return _markdown(("case", "time of a call", "rate", "doubts"), rows)


def _numbers(value: Estimate | None) -> tuple[float | int | None, ...]:
    if value is None:
        return (None,) * 4
    return value.value, value.low, value.high, value.launches


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(printable(as_cell(v)) if isinstance(v, str) else v for v in row)
    return out.getvalue().rstrip("\n")


def _markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head, *cells = ([*map(_cell, row)] for row in (columns, *rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(columns), *cells))


def _cell(text: str) -> str:
    """Return a text in which nothing is markup."""
    plain = printable(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for mark in "|*_`[":
        plain = plain.replace(mark, f"\\{mark}")
    return plain
