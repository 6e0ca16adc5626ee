# SPDX-License-Identifier: MIT
"""All that a run's page shows, computed from the run and its answers before it is laid out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.charts import courses, draw, titles
from reports.findings import roofline
from reports.findings.finding import Finding, Plot, Section
from reports.run import energy
from reports.run.first_screen import FirstScreen, first_screen
from reports.run.normal import Row
from reports.run.rows import Absent, AnswerRow, absent, exercise_id, row
from reports.run.sheets import Sheet, measured, sheets
from reports.summary import views
from reports.summary.device_axes import DeviceAxes, device_axes
from reports.table import facts
from reports.web import theme
from suite.stored.run import Run
from suite.units import counted, format_seconds, format_value

NUMBERS = (
    *("No", "One", "Two", "Three", "Four", "Five", "Six"),
    *("Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"),
)


@dataclass(frozen=True)
class Drawn:
    """A chart in both forms, with what stands above it, and its table."""

    headline: str
    subtitle: str
    wide: Markup
    narrow: Markup
    table: views.Table


@dataclass(frozen=True)
class Exercise:
    """A section as the page shows it.

    Parameters
    ----------
    row
        The leading answer in brief; none where it has no answer.
    marks
        What makes the leading answer doubtful.
    more
        The answers behind the leading one that have one, each with its marks.
    rows
        All cases.
    """

    id: str
    answers: Section
    row: AnswerRow | None
    marks: tuple[str, ...]
    more: list[tuple[Finding, tuple[str, ...]]]
    figures: list[Drawn]
    rows: list[views.CaseRow]


@dataclass(frozen=True)
class Roof:
    """A roofline as the page shows it."""

    drawn: Drawn
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Contents:
    """What a page shows of a run.

    Parameters
    ----------
    first
        What a reader sees before anything else.
    progress
        How far a partial run came; empty for a whole one.
    beside
        Headline figures beside those of others.
    tables
        The tables that lie beside the page.
    numbers
        The number of each case.
    """

    run: Run
    machine: str
    first: FirstScreen
    progress: str
    sections: list[Exercise]
    absent: list[Absent]
    roofs: list[Roof]
    beside: Sequence[Row]
    doubts: list[views.Doubt]
    sensors: courses.Sensors | None
    energy: energy.Spent | None
    tables: list[Sheet]
    numbers: Mapping[str, int]

    @property
    def answered(self) -> str:
        """How many of the questions have an answer."""
        answers = sum(one.row is not None for one in self.sections)
        known = NUMBERS[answers] if answers < len(NUMBERS) else f"{answers}"
        if answers == len(self.sections):
            return f"{known} answer{'s' if answers != 1 else ''}"
        return f"{known} of {counted(len(self.sections), 'question')} answered"

    @property
    def description(self) -> str:
        """What the page says, for a reader who does not see the page."""
        return f"How fast PyTorch computes on {self.machine}. {self.first.lead}".rstrip()


def contents(  # noqa: PLR0913, PLR0917 - one for each thing that is shown
    run: Run,
    answered: Sequence[Section],
    beside: Sequence[Row] = (),
    numbers: Mapping[str, int] | None = None,
    axes: DeviceAxes | None = None,
    price: str = "",
) -> Contents:
    """Compute what the page of a run shows.

    Parameters
    ----------
    beside
        Its headline figures beside those of others.
    numbers
        The number of each case; by default its place among those that the run holds. A case keeps
        its number where another one before it counts for nothing.
    axes
        Those of its device, beside those of other runs; by default its own alone.
    price
        What the device costs, with its date; empty where that is not known.
    """
    numbers = numbers or views.numbers(run)
    marks, title = views.marks(run), facts.machine_title(run)
    exercises = [_exercise(run, section, marks) for section in answered]
    roofs = roofline.rooflines(run)
    spent = energy.spent(run, marks)
    own = axes or device_axes(run)
    rows = [case for one in exercises for case in one.rows]
    return Contents(
        run=run,
        machine=title,
        first=first_screen(run, own, roofs, beside, marks, price),
        progress="" if run.frobench.complete else " ".join(_progress(run)),
        sections=exercises,
        absent=absent(answered),
        roofs=[_roof(run, one, marks) for one in roofs],
        beside=beside,
        doubts=views.doubts(run),
        sensors=courses.sensors(run),
        energy=spent,
        tables=sheets(run, answered, measured(rows, spent), roofs, beside, numbers, own.axes),
        numbers=numbers,
    )


def _exercise(run: Run, section: Section, marks: views.Marks) -> Exercise:
    name = exercise_id(section.exercise)
    lead = section.findings[0]
    more = [
        (finding, views.doubtful(finding.cases, marks))
        for finding in section.findings[1:]
        if not finding.absent
    ]
    figures = [_drawn(plot, views.table(plot, marks)) for plot in section.plots]
    rows = views.case_rows(run, section.exercise, marks)
    shown = None if lead.absent else row(run, section, marks)
    doubts = views.doubtful(lead.cases, marks)
    return Exercise(name, section, shown, doubts, more, figures, rows)


def _roof(run: Run, one: roofline.Roofline, marks: views.Marks) -> Roof:
    """Draw a roofline, its table by case: the intensities of two products can be equal."""
    names = views.case_names(run)
    rows: list[tuple[str, list[views.Cell | None]]] = [
        (
            f"{names[dot.case]}, {format_value(dot.intensity, roofline.INTENSITY.unit)}",
            [
                views.Cell(value, unit, views.doubtful((dot.case,), marks), (dot.case,))
                for value, unit in ((dot.rate, roofline.RATE.unit), (dot.part, "1"))
            ],
        )
        for dot in one.dots
    ]
    table = views.Table(one.plot.title, ["Product", "Rate", "Part of its ceiling"], rows, "")
    return Roof(_drawn(one.plot, table), one.sentences)


def _drawn(plot: Plot, table: views.Table) -> Drawn:
    return Drawn(
        titles.headline(plot),
        titles.subtitle(plot),
        draw(plot, theme.WIDE),
        draw(plot, theme.NARROW),
        table,
    )


def _progress(run: Run) -> Iterator[str]:
    """Say how far a partial run came."""
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
