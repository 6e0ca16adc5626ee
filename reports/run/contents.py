# SPDX-License-Identifier: MIT
"""All that a run's page shows, computed from the run and its answers before it is laid out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.charts import courses, draw
from reports.charts.words import slug
from reports.findings import roofline
from reports.findings.finding import Finding, Plot, Section
from reports.run import energy
from reports.run.normal import Row
from reports.run.sheets import Sheet, measured, sheets
from reports.summary import paragraph, views
from reports.table import facts
from reports.web import theme
from suite.stored.run import Run
from suite.units import counted, format_seconds, format_value


@dataclass(frozen=True)
class Drawn:
    """A plot with its chart in both forms and its table."""

    plot: Plot
    wide: Markup
    narrow: Markup
    table: views.Table


@dataclass(frozen=True)
class Exercise:
    """A section as the page shows it.

    Parameters
    ----------
    marks
        What makes the leading answer doubtful.
    more
        The answers behind the leading one, each with its marks.
    rows
        All cases.
    """

    id: str
    answers: Section
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
    summary
        The answers in one paragraph.
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
    summary: str
    progress: str
    sections: list[Exercise]
    roofs: list[Roof]
    beside: Sequence[Row]
    doubts: list[views.Doubt]
    sensors: courses.Sensors | None
    energy: energy.Spent | None
    tables: list[Sheet]
    numbers: Mapping[str, int]

    @property
    def description(self) -> str:
        """What the page says, for a reader who does not see the page."""
        return f"How fast PyTorch computes on {self.machine}. {self.summary}".rstrip()


def contents(
    run: Run,
    answered: Sequence[Section],
    beside: Sequence[Row] = (),
    numbers: Mapping[str, int] | None = None,
) -> Contents:
    """Compute what the page of a run shows.

    Parameters
    ----------
    beside
        Its headline figures beside those of others.
    numbers
        The number of each case; by default its place among those that the run holds. A case keeps
        its number where another one before it counts for nothing.
    """
    numbers = numbers or views.numbers(run)
    marks, title = views.marks(run), facts.machine_title(run)
    exercises = [_exercise(run, section, marks) for section in answered]
    roofs = roofline.rooflines(run)
    spent = energy.spent(run, marks)
    rows = [row for one in exercises for row in one.rows]
    return Contents(
        run=run,
        machine=title,
        summary=paragraph.paragraph(run, answered, marks),
        progress="" if run.frobench.complete else " ".join(_progress(run)),
        sections=exercises,
        roofs=[_roof(run, one, marks) for one in roofs],
        beside=beside,
        doubts=views.doubts(run),
        sensors=courses.sensors(run),
        energy=spent,
        tables=sheets(run, answered, measured(rows, spent), roofs, beside, numbers),
        numbers=numbers,
    )


def _exercise(run: Run, section: Section, marks: views.Marks) -> Exercise:
    name = f"exercise-{slug(section.exercise)}"
    marked = [(finding, views.doubtful(finding.cases, marks)) for finding in section.findings]
    figures = [_drawn(plot, views.table(plot, marks)) for plot in section.plots]
    rows = views.case_rows(run, section.exercise, marks)
    return Exercise(name, section, marked[0][1], marked[1:], figures, rows)


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
        plot,
        Markup(draw.draw(plot, theme.WIDE)),  # noqa: S704 - our own drawing
        Markup(draw.draw(plot, theme.NARROW)),  # noqa: S704 - likewise
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
