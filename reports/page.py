# SPDX-License-Identifier: MIT
"""Stored runs to a site of static pages: one a run, and an index of them.

A page holds everything it shows, asks nothing of any server, and runs no script. The same
input gives the same bytes: no time enters but the run's own.
"""

import hashlib
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from reports import charts, courses, energy, facts, normal, theme, views
from reports.findings import sections
from reports.findings.model import Finding, Plot, Section
from reports.frame import frame
from reports.render import moment, render
from suite import store
from suite.model import Run
from suite.units import format_value

_UNSAFE = re.compile(r"[^A-Za-z0-9.+-]+")
_LONGEST_NAME = 100


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
class Download:
    """A file beside the page."""

    href: str
    text: str
    size: str


@dataclass(frozen=True)
class Entry:
    """A run in the index."""

    href: str
    machine: str
    moment: str
    profile: str
    launches: int
    partial: bool
    failed: int
    answers: list[tuple[str, Finding, tuple[str, ...]]]


def build(paths: Iterable[Path], out: Path) -> list[Path]:
    """Write the pages of all stored runs among files and folders, and return them, index first.

    Beside each page lie the stored file, byte for byte, and its launch medians as CSV.

    Raises
    ------
    suite.store.InvalidResult
        A file is no stored run.
    OSError
        A file cannot be read or a page cannot be written.
    """
    stored = {data: store.read(path) for path in store.find(paths) for data in [path.read_bytes()]}
    newest = sorted(stored.items(), key=lambda item: (item[1].datetime, item[1].frobench.run))
    shelf = normal.Shelf(run for _, run in reversed(newest))
    entries: dict[str, Entry] = {}
    for data, run in reversed(newest):
        href = _address(run, data, entries)
        entries[href] = _write_run(run, data, out / href, shelf)
    index = out / "index.html"
    page = render(
        "index.html",
        title="Frobench results",
        description="Stored runs of Frobench, newest first",
        home="index.html",
        runs=list(entries.values()),
    )
    _write(index, page.encode())
    return [index, *(out / href for href in entries)]


def _address(run: Run, data: bytes, taken: Container[str]) -> str:
    """Return where a run's page lies below the index: a folder a machine."""
    folder, name = slug(run.frobench.environment.machine), slug(run.frobench.run)
    href = f"{folder}/{name}.html"
    return f"{folder}/{name}-{hashlib.sha256(data).hexdigest()[:8]}.html" if href in taken else href


def slug(name: str) -> str:
    """Return a name that is safe as a file name and in a link, equal only for equal names."""
    safe = _UNSAFE.sub("-", name).strip(".-")[:_LONGEST_NAME]
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return safe if safe and safe == name else f"{safe or 'unnamed'}-{digest}"


def _write_run(run: Run, data: bytes, target: Path, shelf: normal.Shelf) -> Entry:
    """Write a run's page and its downloads, and return its line in the index."""
    table = frame([run])
    files = {
        target.with_suffix(".json"): (data, "the stored run, every sample"),
        target.with_suffix(".csv"): (
            table.to_csv(index=False, lineterminator="\n").encode(),
            "the launch medians, a row for each case in each launch",
        ),
    }
    for path, (content, _) in files.items():
        _write(path, content)
    answered = sections(run, table)
    marks = views.marks(run)
    downloads = [
        Download(path.name, text, format_value(len(content), "B"))
        for path, (content, text) in files.items()
    ]
    beside = normal.rows(run, shelf.verdicts(run, table), marks)
    _write(target, run_page(run, answered, downloads, beside).encode())
    part = run.frobench
    return Entry(
        href=f"{target.parent.name}/{target.name}",
        machine=facts.machine_title(run),
        moment=moment(run.datetime),
        profile=part.profile,
        launches=len(part.launches),
        partial=not part.complete,
        failed=sum(outcome.status == "failed" for outcome in part.outcomes),
        answers=[
            (section.title, section.findings[0], views.doubtful(section.findings[0].cases, marks))
            for section in answered
        ],
    )


def run_page(
    run: Run,
    answered: Sequence[Section],
    downloads: Sequence[Download],
    beside: Sequence[normal.Row] = (),
) -> str:
    """Return the page of one run; `beside` are its figures beside those of others."""
    title = facts.machine_title(run)
    marks = views.marks(run)
    return render(
        "run.html",
        title=f"{title}: Frobench, {moment(run.datetime)}",
        description=" ".join(section.findings[0].answer for section in answered),
        home="../index.html",
        run=run,
        machine=title,
        sections=[_exercise(run, section, marks) for section in answered],
        beside=beside,
        machine_facts=facts.machine(run),
        method=facts.method(run),
        doubts=views.doubts(run),
        sensors=courses.sensors(run),
        energy=energy.spent(run, marks),
        downloads=downloads,
    )


def _exercise(run: Run, section: Section, marks: views.Marks) -> Exercise:
    name = f"exercise-{slug(section.exercise)}"
    marked = [(finding, views.doubtful(finding.cases, marks)) for finding in section.findings]
    figures = [
        Drawn(
            plot,
            Markup(charts.draw(plot, theme.WIDE, f"{name}-{place}")),  # noqa: S704 - our drawing
            Markup(charts.draw(plot, theme.NARROW, f"{name}-{place}")),  # noqa: S704 - likewise
            views.table(plot, marks),
        )
        for place, plot in enumerate(section.plots)
    ]
    rows = views.case_rows(run, section.exercise, marks)
    return Exercise(name, section, marked[0][1], marked[1:], figures, rows)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
