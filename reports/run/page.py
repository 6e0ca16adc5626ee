# SPDX-License-Identifier: MIT
"""The page of one run, and all that it shows, computed before it is laid out.

A page holds everything it shows, asks nothing of any server, and runs no script. The same
input gives the same bytes: no time enters but the run's own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from frobench.reports.charts import screen
from frobench.reports.charts.axes import subtitle
from frobench.reports.charts.plots import draw, legend
from frobench.reports.files.metadata import Head
from frobench.reports.findings import Section, roofline
from frobench.reports.findings.finding import Plot
from frobench.reports.run.first_screen import FirstScreen, beside_others, exercise_id
from frobench.reports.run.sensors import sensors, spent
from frobench.reports.run.sheets import measured, sheets
from frobench.reports.summary import models, short, views
from frobench.reports.summary.model import DeviceAxes, device_axes
from frobench.reports.table import facts
from frobench.reports.table.launches import modes_of, two_modes
from frobench.reports.web.render import moment, render
from frobench.suite.statistics import case_medians
from frobench.suite.stored.machine_identity import function_of
from frobench.suite.stored.types import Case, Run
from frobench.suite.terminal.answers import TOKENS
from frobench.suite.units import capital, counted, format_capacity, format_seconds, format_value


class Drawn:
    """A chart with its heading and its table.

    rows : whether it has named rows, and so no axis on the left
    """

    def __init__(self, plot: Plot, table: views.Table) -> None:
        self.title, self.subtitle = plot.result or plot.title, subtitle(plot)
        self.legend, self.drawing, self.table = legend(plot), draw(plot), table
        self.rows = plot.kind in {"dots", "stack"}


class AnswerRow:
    """The leading answer of an exercise, in a row.

    answer : one plain sentence, with the number and its interval
    marks : what makes it doubtful; empty where it is steady
    modes : where launches are in two modes: what they are; else empty
    """

    def __init__(self, run: Run, section: Section, marks: views.Marks) -> None:
        lead = section.findings[0]
        launches = _in_two_modes(views.own_cases(run, section.exercise, lead))
        self.question = short.question(run, lead.question, section.question)
        self.answer, self.rule = short.answer(run, lead), short.rule(lead)
        self.chart = screen.chart(lead, section.plots, launches, short.PRECISIONS)
        doubts = views.doubtful(lead.cases, marks)
        self.marks = short.doubts(lead, doubts, in_modes=bool(launches))
        found = {name: two_modes(values) for name, values in launches.items()}
        self.modes = "; ".join(f"{name} {one.text('s')}" for name, one in found.items() if one)


class Exercise:
    """A section as the page shows it.

    row : the leading answer in brief; none where it has no answer
    marks : what makes the leading answer doubtful
    more : the answers behind the leading one that have one, each with its marks
    rows : all cases
    """

    def __init__(self, run: Run, section: Section, marks: views.Marks) -> None:
        lead, *others = section.findings
        self.id, self.answers = exercise_id(section.exercise), section
        self.row = None if lead.absent else AnswerRow(run, section, marks)
        self.marks = views.doubtful(lead.cases, marks)
        self.more = [(one, views.doubtful(one.cases, marks)) for one in others if not one.absent]
        self.figures = [Drawn(plot, views.table(plot, marks)) for plot in section.plots]
        cases = (case for case in run.benchmarks if case.group == section.exercise)
        self.rows = [views.CaseRow(run, case, marks) for case in cases]


class Contents:
    """What a page shows of a run.

    progress : how far a partial run came; empty for a whole one
    beside : the axes that others measured too
    models : language models that fit, and how fast they are
    models_title, models_note : what that comes to, and how it was computed
    tables : those that lie beside the page
    """

    def __init__(
        self,
        run: Run,
        answered: Sequence[Section],
        numbers: Mapping[str, int] | None = None,
        axes: DeviceAxes | None = None,
        price: str = "",
    ) -> None:
        """Compute what the page shows.

        numbers : the number of each case; by default its place among those that the run holds. A
            case keeps its number where another one before it counts for nothing
        axes : those of its device, beside those of other runs; by default its own alone
        price : what the device costs, with its date; empty where that is not known
        """
        marks, roofs, own = views.marks(run), roofline.rooflines(run), axes or device_axes(run)
        self.run, self.machine = run, facts.machine_title(run)
        self.numbers = numbers or views.numbers(run)
        self.beside = beside_others(own, marks)
        self.first = FirstScreen(run, own, answered, roofs, self.beside, marks, price)
        self.progress = "" if run.frobench.complete else " ".join(_progress(run))
        self.sections = [Exercise(run, section, marks) for section in answered]
        self.absent = views.absent(one for section in answered for one in section.findings)
        self.roofs = [Drawn(roof.plot, _by_case(run, roof, marks)) for roof in roofs]
        self.models, self.models_title = _models(own, marks), _largest(own)
        self.models_note = models.note({"": own.serving})
        self.doubts = views.doubts(run)
        self.sensors, self.energy = sensors(run), spent(run, marks)
        cells = measured((case for one in self.sections for case in one.rows), self.energy)
        self.tables = sheets(run, answered, cells, roofs, self.numbers, own)

    @property
    def answered(self) -> str:
        """How many of the questions have an answer."""
        rows = [one.row for one in self.sections if one.row]
        questions, wide = len(self.sections), sum(short.TOO_WIDE in row.marks for row in rows)
        answered = f"{len(rows)} of {counted(questions, 'question')} answered"
        found = counted(questions, "answer") if len(rows) == questions else answered
        return f"{found}, {wide} not conclusive" if wide else found

    @property
    def unanswered(self) -> str:
        """Why most of the other questions have no answer; "" where all have one."""
        if not self.absent:
            return ""
        reason, most = max(self.absent.items(), key=lambda item: len(item[1]))
        others = sum(map(len, self.absent.values())) - len(most)
        more = f" Other reasons: {counted(others, 'answer')}." if others else ""
        return f"{capital(reason)}: {counted(len(most), 'answer')}.{more}"

    @property
    def description(self) -> str:
        """What the page says, for a reader who does not see the page."""
        asked = self.first.question or f"How fast PyTorch computes on {self.machine}."
        return f"{asked} {self.first.lead}".rstrip()


class Download(NamedTuple):
    """A file beside the page."""

    href: str
    text: str
    size: str


class Signs(NamedTuple):
    """What stands for the page elsewhere.

    head : what its head tells machines
    image, badge : files beside the page
    markdown : shows the badge and leads to the page
    """

    head: Head
    image: str
    badge: str
    markdown: str


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


def _models(own: DeviceAxes, marks: views.Marks) -> views.Table:
    """Return the language models that fit, with their tokens per second."""
    behind, small = own.serving.cases, own.serving.small
    rows: list[tuple[str, list[views.Cell | None]]] = []
    for one in own.models:
        if one.fits or one.small:
            rates = one.decode, one.prompt, *map(one.small.get, small)
            cells = [views.Cell(rate, TOKENS, behind, marks) if rate else None for rate in rates]
            rows.append((f"{one.name}, {format_capacity(one.bytes)}", cells))
    head = ["Model, weights in bf16", "Decoding", "Prompt"]
    head += [f"Decoding with {weights} weights" for weights in small]
    return views.Table("Tokens per second, computed", head, rows, "none")


def _largest(own: DeviceAxes) -> str:
    """Name the largest language model that fits, with its speed; none where memory is unknown."""
    fitting = [one for one in own.models if one.fits]
    if not fitting:
        return "No language model of this list fits in bf16" if own.models else ""
    largest = fitting[-1]
    speed = f": {largest.text}, computed" if largest.decode or largest.prompt else ""
    return f"{largest.name} is the largest model that fits{speed}"


def _by_case(run: Run, roof: roofline.Roofline, marks: views.Marks) -> views.Table:
    """Return the table of a roofline by case: the intensities of two products can be equal."""
    names = views.case_names(run)
    rows: list[tuple[str, list[views.Cell | None]]] = []
    for dot in roof.dots:
        name = f"{names[dot.case]}, {format_value(dot.intensity, roofline.INTENSITY.unit)}"
        both = (dot.rate, roofline.RATE.unit), (dot.part, "1")
        rows.append((name, [views.Cell(*number, (dot.case,), marks) for number in both]))
    return views.Table(roof.plot.title, ["Product", "Rate", "Part of its ceiling"], rows, "")


def _progress(run: Run) -> Iterator[str]:
    part = run.frobench
    launches = len(part.launches)
    done = sum(bool(count) for case in run.benchmarks for count in case.extra_info.launches)
    cases = counted(len(run.benchmarks), "case")
    yield (
        f"So far it has begun {counted(launches, 'launch')} of {cases}, "
        f"and measured {done:,} of {launches * len(run.benchmarks):,} times."
    )
    if part.settings.launches:
        yield f"{counted(part.settings.launches, 'launch')} were asked for."
    spent, budget = format_seconds(part.seconds), format_seconds(part.settings.budget)
    yield f"The run has taken {spent} of its budget of {budget}."


def run_page(contents: Contents, downloads: Sequence[Download], signs: Signs) -> str:
    """Return the page of one run.

    downloads : the stored file first, then what lies beside it
    """
    run, numbers = contents.run, contents.numbers

    def origins(cases: Iterable[str]) -> list[int]:
        return sorted({numbers[name] for name in cases if name in numbers})

    return render(
        "run.html",
        styles=["run.css"],
        title=f"{contents.machine}: Frobench, {moment(run.datetime)}",
        description=contents.description,
        home="../index.html",
        head=signs.head,
        signs=signs,
        shown=contents,
        run=run,
        origins=origins,
        places={name: numbers[case] for case, name in views.case_names(run).items()},
        machine_facts=facts.machine(run),
        method=facts.method(run),
        downloads=downloads,
        samples=next((one.href for one in downloads if one.href.endswith(".samples.csv")), ""),
    )
