# SPDX-License-Identifier: MIT
"""The answers of a stored run as plain data, and as lines for a terminal of any width."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from textwrap import wrap

from msgspec import Struct

from suite.printable import printable
from suite.project.in_words import describe
from suite.stored.run import Estimate, Project, Status
from suite.units import counted, format_estimate

NARROW = 60
"""Columns below which names stand on lines of their own."""
LEAST = 20
"""Columns of the narrowest text; a narrower terminal breaks the lines itself."""
GAP = 2
"""Columns between a name and its text, and of an indentation."""
THEN = "\N{RIGHTWARDS ARROW}"
"""Stands before a rule of thumb."""


class Answer(Struct, frozen=True, kw_only=True):
    """An answer to a question of an exercise.

    exercise : its name, as people read it
    name : of the answer; short and stable, so that runs can be compared by it
    answer : one sentence, with the number and its interval
    rule_of_thumb : what to do; empty where the numbers support no advice
    label, unit, value : what the number is, its unit, and its estimate, ``None`` where the answer
        is no number
    doubts : words for what makes the number doubtful
    cases : full names of the cases that it was computed from
    leads : whether it is the first answer of its exercise
    """

    exercise: str
    name: str
    question: str
    answer: str
    rule_of_thumb: str
    label: str
    unit: str
    value: Estimate | None
    doubts: tuple[str, ...]
    cases: tuple[str, ...]
    leads: bool


class CaseResult(Struct, frozen=True, kw_only=True):
    """What became of a selected case.

    seconds : of one call, ``None`` where the case has no samples
    rate, rate_unit : from the declared work; ``None`` where none is declared
    reason : why there are no samples, ``None`` where there are
    """

    exercise: str
    case: str
    status: Status
    seconds: Estimate | None
    rate: Estimate | None
    rate_unit: str
    doubts: tuple[str, ...]
    reason: str | None


class RunAnswers(Struct, frozen=True, kw_only=True):
    """A stored run as answers.

    machine : what it computes with, for people
    datetime : ISO 8601, as stored
    absent : questions without an answer, by the reason
    project : whose code was measured, where that is stored
    """

    run: str
    machine: str
    datetime: str
    profile: str
    complete: bool
    launches: int
    answers: tuple[Answer, ...]
    absent: dict[str, tuple[str, ...]]
    cases: tuple[CaseResult, ...]
    project: Project | None = None


def heading(run: RunAnswers, width: int) -> list[str]:
    """Say in a sentence what was measured where."""
    counts = {status: sum(case.status == status for case in run.cases) for status in _STATUS}
    failed, left_out = counts["failed"], counts["skipped"]
    partial = "" if run.complete else ", not all of its launches ended"
    project = f"; code of {describe(run.project)}" if run.project else ""
    return _wrapped(
        f"{run.machine}: {counted(counts['passed'], 'case')} measured in "
        f"{counted(run.launches, 'launch')} of the {run.profile} profile on "
        f"{run.datetime[:10]}{partial}; {failed} failed, {left_out} left out{project}",
        width,
    )


def lines(run: RunAnswers, width: int, *, every: bool = False) -> Iterator[str]:
    """Yield the leading answer of each exercise, or every answer, and what was not measured."""
    shown = [answer for answer in run.answers if every or answer.leads]
    names = max((len(answer.exercise) for answer in shown), default=0) + GAP
    for exercise, answers in groupby(shown, key=lambda answer: answer.exercise):
        yield from _block(exercise, [sentence(answer) for answer in answers], names, width)
    if any(answer.value is not None and answer.value.low is not None for answer in shown):
        yield from _wrapped(
            "[a, b]: 95% interval over the launches of this run on this machine", width
        )
    for reason, questions in run.absent.items():
        without = counted(len(questions), "question")
        yield from _wrapped(f"No answer to {without}: {reason}", width)


def case_lines(cases: Iterable[CaseResult], width: int) -> Iterator[str]:
    """Yield a line for each case, by exercise: its time, its rate and its doubts, or the reason."""
    for exercise, members in groupby(cases, key=lambda case: case.exercise):
        yield printable(exercise)
        for case in members:
            name = case.case.rpartition("::")[2].removeprefix("bench_")
            yield from _wrapped(f"{name}: {_result(case)}", width, indent=GAP)


def sentence(answer: Answer) -> str:
    """Return an answer with its rule of thumb and its doubts."""
    rule = f" {THEN} {answer.rule_of_thumb}" if answer.rule_of_thumb else ""
    return f"{answer.answer}{rule}{doubts(answer.doubts)}"


def doubts(words: Sequence[str]) -> str:
    """Return doubts as they stand behind a number."""
    return f" ({', '.join(words)})" if words else ""


_FIXED = "\N{NO-BREAK SPACE}"
_ESTIMATE = re.compile(r"(?:[\d.,]+ )?\S+ \[[^][]*\]")
"""A number, its unit and its interval."""
_STATUS: dict[Status, str] = {"passed": "measured", "failed": "failed", "skipped": "left out"}


def _result(case: CaseResult) -> str:
    if case.seconds is None:
        return f"{_STATUS[case.status]}: {case.reason or 'no reason was given'}"
    rate = f", {format_estimate(case.rate, case.rate_unit)}" if case.rate else ""
    return f"{format_estimate(case.seconds, 's')}{rate}{doubts(case.doubts)}"


def _block(name: str, sentences: Sequence[str], names: int, width: int) -> Iterator[str]:
    """Yield an exercise: its name at the left of its sentences, or above them."""
    if width < NARROW:
        yield from _wrapped(name, width)
        for text in sentences:
            yield from _wrapped(text, width, indent=GAP)
        return
    for number, text in enumerate(sentences):
        first, *rest = _wrapped(text, width - names)
        yield f"{printable(name) if number == 0 else '':{names}}{first}"
        yield from (f"{'':{names}}{line}" for line in rest)


def _wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """Break a text into lines, no estimate in two; further lines are indented more."""
    room = max(width, LEAST)
    folded = wrap(
        _ESTIMATE.sub(lambda match: match[0].replace(" ", _FIXED), printable(text)),
        room,
        initial_indent=" " * indent,
        subsequent_indent=" " * (2 * indent),
        break_on_hyphens=False,
    )
    return [line.replace(_FIXED, " ") for line in folded] or [""]
