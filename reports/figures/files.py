# SPDX-License-Identifier: MIT
"""The figures of runs as files: SVG, PDF and PNG in a folder beside each run's page."""

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path, PurePosixPath
from textwrap import wrap

from matplotlib.figure import Figure

from frobench.reports.charts import titles
from frobench.reports.charts.words import slug
from frobench.reports.figures import painted_curves, painted_rows
from frobench.reports.figures.style import EDGE, FORMATS, SMALL, TEXT, TITLE, WIDTH, styled
from frobench.reports.files.metadata import Publication
from frobench.reports.findings import sections
from frobench.reports.findings.finding import Plot
from frobench.reports.findings.roofline import rooflines
from frobench.reports.table.facts import machine_title
from frobench.reports.web.theme import LIGHT
from frobench.suite import checks
from frobench.suite.printable import printable
from frobench.suite.stored import store
from frobench.suite.stored.types import Run

FOLDER = "-figures"
"""Behind a page's name, in the name of the folder of its figures."""
_MARKS = re.compile("[_:/+]")
"""What names of exercises and devices have and those of files had better not."""
TITLE_LINE, TITLE_LETTERS = 0.18, 70
"""Height in inches of a line of the title, and its letters at most."""
WORDS_LINE, WORDS_LETTERS = 0.14, 96
"""Height in inches of a line below the title, and its letters at most."""
HEAD, SOURCE = 0.3, 0.24
"""Heights in inches: of the room around the words above the axes, and of the line at the foot."""


@dataclass
class Figures:
    """What a site lays beside its pages where figures are asked for.

    out : the folder of the site, where the stored files are beside their pages
    folders : of the figures, once they are made
    """

    out: Path
    folders: list[Path] = field(default_factory=list)

    def __call__(self, pages: Mapping[str, str], _publication: Publication) -> dict[str, bytes]:
        """Return the figures of all runs by their names below the site.

        pages : addresses of run pages by the digests of their files
        """
        made: dict[str, bytes] = {}
        for page in sorted(pages.values()):
            run = store.read((self.out / page).with_suffix(".json"))
            folder = PurePosixPath(page).with_suffix("").as_posix() + FOLDER
            made |= {f"{folder}/{name}": content for name, content in of_run(run)}
            self.folders.append(self.out / folder)
        return made


def of_run(run: Run) -> Iterator[tuple[str, bytes]]:
    """Yield each chart of a run in each format, as named files."""
    credible = checks.credible(checks.judged(run))
    source = (
        f"{machine_title(run)}, {run.datetime[:10]}; bands and whiskers: 95% intervals; Frobench"
    )
    for name, plot in _plots(credible):
        for suffix, content in drawn(plot, source).items():
            yield f"{name}.{suffix}", content


def drawn(plot: Plot, source: str) -> dict[str, bytes]:
    """Return a plot as a file of each format, by suffix; the same bytes at every call."""
    made = {}
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # what the font lacks is drawn as a box
        figure = paint(plot, source)
        for suffix, options in FORMATS.items():
            file = io.BytesIO()
            figure.savefig(file, format=suffix, **options)
            made[suffix] = file.getvalue()
    return made


def paint(plot: Plot, source: str) -> Figure:
    """Return a plot as a figure; `reports.charts` draws it for pages.

    source : what was measured, and when: the line at the foot
    """
    module = painted_curves if plot.kind in {"curve", "points"} else painted_rows
    room = module.room(plot)
    title = wrap(printable(titles.headline(plot)), TITLE_LETTERS)
    words = wrap(printable(titles.subtitle(plot)), WORDS_LETTERS)
    foot = room.below + SOURCE
    height = HEAD + TITLE_LINE * len(title) + WORDS_LINE * len(words) + room.height + foot
    figure = Figure(figsize=(WIDTH, height))
    inside = (room.left / WIDTH, foot / height, room.width / WIDTH, room.height / height)
    module.draw(figure.add_axes(inside), plot, room)
    top = 1 - 0.1 / height
    x, muted = EDGE / WIDTH, LIGHT["muted"]
    figure.text(x, top, "\n".join(title), size=TITLE, weight="bold", va="top")
    top -= (TITLE_LINE * len(title) + 0.03) / height
    figure.text(x, top, "\n".join(words), size=TEXT, color=muted, va="top")
    figure.text(x, 0.1 / height, printable(source), size=SMALL, color=muted, va="center")
    return figure


def _plots(run: Run) -> Iterator[tuple[str, Plot]]:
    """Yield the charts of a run with their names, those of answers before the rooflines."""
    taken: set[str] = set()
    named = [
        (f"{section.exercise}-{plot.name}", plot)
        for section in sections(run)
        for plot in section.plots
    ]
    named += [(roof.plot.name, roof.plot) for roof in rooflines(run)]
    for name, plot in named:
        plain = slug(_MARKS.sub("-", name))
        others = (f"{plain}-{number}" for number in count(2))
        plain = next(name for name in chain([plain], others) if name not in taken)
        taken.add(plain)
        yield plain, plot
