# SPDX-License-Identifier: MIT
"""The answers of a stored run as plain data, and as lines for a terminal of any width."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct, structs

from frobench.suite.printable import as_cell, printable
from frobench.suite.project.git import describe
from frobench.suite.stored.machine_identity import name_of, short_name
from frobench.suite.stored.types import Estimate, Project, Status
from frobench.suite.terminal.output import GAP, indented, wrapped
from frobench.suite.units import counted, format_capacity, format_ends, format_estimate

NOT_CONCLUSIVE = "not conclusive"
"""The doubt about an axis whose interval is wide (see `Estimate.is_wide`)."""
NOISY, MOST_NOISY = "noisy", 0.5
"""The doubt about noisy cases, and the part of all numbers above which it is said once."""
ENDS = ("low", "high", "launches")
"""Columns of a number besides its value."""
TOKENS = "tokens/s"
NARROW = 60
"""Columns below which names stand on lines of their own."""


class Answer(Struct, frozen=True, kw_only=True):
    """An answer to a question of an exercise."""

    exercise: str
    name: str  # short and stable, so that runs can be compared by it
    question: str
    answer: str  # one sentence, with the number and its interval
    brief: str  # in few words, as the row of a page has it
    rule_of_thumb: str  # what to do; empty where the numbers support no advice
    label: str  # what the number is
    unit: str
    value: Estimate | None  # None where the answer is no number
    doubts: tuple[str, ...]  # words for what makes the number doubtful
    cases: tuple[str, ...]  # full names of those that it was computed from
    leads: bool  # whether it is the first answer of its exercise


class AxisResult(Struct, frozen=True, kw_only=True):
    """What the device of a run does, in one number."""

    name: str
    precision: str  # only of compute
    title: str
    value: Estimate  # of an overhead lower is better
    unit: str
    datasheet: float | None  # what the datasheet or the link allows
    part: Estimate | None  # which part of that it is
    remarks: tuple[str, ...]  # that part in words, and how the number was made
    doubts: tuple[str, ...]
    cases: tuple[str, ...]


class ModelSpeed(Struct, frozen=True, kw_only=True):
    """A language model on the device of a run: whether it fits, and its computed speed."""

    name: str
    bytes: float  # of its weights in bfloat16
    fits: bool
    decode: Estimate | None  # tokens a second; None where nothing tells
    prompt: Estimate | None  # tokens of a prompt a second
    small: dict[str, Estimate]  # decoding, by the type of small weights that were measured and fit

    @property
    def text(self) -> str:
        """The speed in words."""
        known = [(self.decode, "decoding"), (self.prompt, "prompt")]
        known += [
            (rate, f"decoding with {weights} weights") for weights, rate in self.small.items()
        ]
        shown = [f"{format_estimate(rate, TOKENS)} {what}" for rate, what in known if rate]
        if not self.fits:
            shown = [f"does not fit: {format_capacity(self.bytes)} of weights in bf16", *shown]
        return ", ".join(shown) or "fits"


class CaseResult(Struct, frozen=True, kw_only=True):
    """What became of a selected case."""

    exercise: str
    case: str
    status: Status
    seconds: Estimate | None  # of one call; without samples there is a reason instead
    rate: Estimate | None  # from the declared work, where one is declared
    rate_unit: str
    doubts: tuple[str, ...]
    reason: str | None


class RunAnswers(Struct, frozen=True, kw_only=True):
    """A stored run as answers."""

    run: str
    machine: str  # what it computes with, for people
    datetime: str
    profile: str
    complete: bool
    launches: int
    part_in_bodies: float  # of the run's time, that in bodies and what warms them up
    device: str  # the name of the device that the axes are of
    axes: tuple[AxisResult, ...]
    models: tuple[ModelSpeed, ...]
    models_note: str  # how their speeds were computed
    answers: tuple[Answer, ...]
    absent: dict[str, tuple[str, ...]]  # questions without an answer, by the reason
    cases: tuple[CaseResult, ...]
    project: Project | None = None  # whose code was measured, where that is stored


def heading(run: RunAnswers) -> str:
    """Say in a sentence what was measured where."""
    counts = Counter(case.status for case in run.cases)
    partial = "" if run.complete else ", not all of its launches ended"
    project = f"; code of {describe(run.project)}" if run.project else ""
    return printable(
        f"{run.machine}: {counted(counts['passed'], 'case')} measured in "
        f"{counted(run.launches, 'launch')} of the {run.profile} profile on {run.datetime[:10]}"
        f"{partial}; {counts['failed']} failed, {counts['skipped']} left out{project}"
    )


def lines(run: RunAnswers, width: int, *, every: bool = False) -> Iterator[str]:
    """Yield the axes, the leading answers or every one in full, and what was not measured.

    Without axes each answer stands below its question.
    """
    shown = [answer for answer in run.answers if every or answer.leads]
    marked = [*(axis.doubts for axis in run.axes), *(answer.doubts for answer in shown)]
    noisy = sum(NOISY in words for words in marked)
    once = NOISY if noisy > max(1, MOST_NOISY * len(marked)) else ""
    titles = [one.title for one in run.axes] + [one.name for one in run.models]
    titles += [answer.exercise for answer in shown]
    names = max(map(len, titles), default=0) + len(GAP)
    for axis in run.axes:
        yield from _beside(axis.title, axis_text(axis, once), names, width)
    for model in run.models:
        yield from _beside(model.name, model.text, names, width)
    yield from wrapped(run.models_note, width)
    if run.axes and shown:
        yield ""
    title = ""
    for answer in shown:
        rule = f" \N{RIGHTWARDS ARROW} {answer.rule_of_thumb}" if answer.rule_of_thumb else ""
        text = f"{answer.answer if every else answer.brief}{rule}{doubts(answer.doubts, once)}"
        new = answer.exercise if answer.exercise != title else ""
        title = answer.exercise
        if run.axes:
            yield from _beside(new, text, names, width)
        else:
            yield from wrapped(answer.question, width) if new or every else ()
            yield from indented(text, width)
    if any(answer.value is not None and answer.value.low is not None for answer in shown):
        interval = "[a, b]: 95% interval over the launches of this run on this machine"
        yield from wrapped(interval, width)
    if once:
        yield from wrapped(f"{noisy} of these {len(marked)} numbers are noisy", width)
    for reason, questions in run.absent.items():
        without = counted(len(questions), "question") if len(questions) > 1 else f'"{questions[0]}"'
        yield from wrapped(f"No answer to {without}: {reason}", width)


def _beside(name: str, text: str, names: int, width: int) -> list[str]:
    """Return a text beside its name, or below it on a narrow terminal."""
    if width >= NARROW:
        return wrapped(text, width, f"{printable(name):{names}}", " " * names)
    return [*(wrapped(name, width) if name else []), *indented(text, width)]


def case_lines(cases: Iterable[CaseResult], width: int) -> Iterator[str]:
    """Yield a line for each case, by exercise: its time, its rate and its doubts, or the reason."""
    for exercise, members in groupby(cases, key=lambda case: case.exercise):
        yield printable(exercise)
        for case in members:
            if case.seconds is None:
                result = f"{_STATUS[case.status]}: {case.reason or 'no reason was given'}"
            else:
                rate = f", {format_estimate(case.rate, case.rate_unit)}" if case.rate else ""
                result = f"{format_estimate(case.seconds, 's')}{rate}{doubts(case.doubts)}"
            yield from indented(f"{name_of(case.case)}: {result}", width)


def axis_text(axis: AxisResult, but: str = "") -> str:
    """Return an axis's number with its remarks and doubts; of a wide interval the ends alone.

    but : a doubt that is said elsewhere
    """
    spell = format_ends if axis.value.is_wide else format_estimate
    return f"{', '.join([spell(axis.value, axis.unit), *axis.remarks])}{doubts(axis.doubts, but)}"


def doubts(words: Sequence[str], but: str = "") -> str:
    """Return doubts as they stand behind a number, without one that is said elsewhere."""
    shown = [word for word in words if word != but]
    return f" ({', '.join(shown)})" if shown else ""


_STATUS: dict[Status, str] = {"passed": "measured", "failed": "failed", "skipped": "left out"}


def as_csv(entries: Iterable[Answer | CaseResult]) -> str:
    """Return a row for each entry, times in seconds and the others in the unit beside them."""
    rows = [*map(_columns, entries)]
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0] if rows else (), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


def _columns(entry: Answer | CaseResult) -> dict[str, object]:
    columns: dict[str, object] = {}
    for name, value in structs.asdict(entry).items():
        if name in {"value", "seconds", "rate"}:
            columns[name] = value and value.value
            columns |= {f"{name}_{end}": value and getattr(value, end) for end in ENDS}
        else:
            text = ", ".join(value) if isinstance(value, tuple) else value
            columns[name] = printable(as_cell(text)) if isinstance(text, str) else text
    return columns


def as_markdown(run: RunAnswers) -> str:
    """Return the axes and the leading answers as tables, for a pull request or a wiki."""
    axes = [(axis.title, axis_text(axis)) for axis in run.axes]
    axes += [(model.name, model.text) for model in run.models]
    rows = [
        (answer.question, f"{answer.brief}{doubts(answer.doubts)}", answer.rule_of_thumb)
        for answer in run.answers
        if answer.leads
    ]
    parts = [_cell(heading(run))]
    if axes:
        parts += [_markdown(("axis", run.device), axes), _cell(run.models_note)]
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


def _markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head, *cells = ([*map(_cell, row)] for row in (columns, *rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(columns), *cells))


def _cell(text: str) -> str:
    """Return a text in which nothing is markup."""
    plain = printable(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for mark in "|*_`[":
        plain = plain.replace(mark, f"\\{mark}")
    return plain
