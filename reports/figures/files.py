# SPDX-License-Identifier: MIT
"""The figures of runs as files: SVG, PDF and PNG in a folder beside each run's page."""

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path, PurePosixPath

from reports.charts.words import slug
from reports.figures.paint import paint
from reports.figures.style import FORMATS, styled
from reports.files.metadata import Publication
from reports.findings import sections
from reports.findings.finding import Plot
from reports.findings.roofline import rooflines
from reports.table.facts import machine_title
from suite import checks
from suite.stored import store
from suite.stored.run import Run

FOLDER = "-figures"
"""Behind a page's name, in the name of the folder of its figures."""
_MARKS = re.compile("[_:/+]")
"""What names of exercises and devices have and those of files had better not."""


@dataclass
class Figures:
    """What a site lays beside its pages where figures are asked for.

    Parameters
    ----------
    out
        The folder of the site, where the stored files are beside their pages.
    folders
        Of the figures, once they are made.
    """

    out: Path
    folders: list[Path] = field(default_factory=list)

    def __call__(self, pages: Mapping[str, str], _publication: Publication) -> dict[str, bytes]:
        """Return the figures of all runs by their names below the site.

        Parameters
        ----------
        pages
            Addresses of run pages by the digests of their files.
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


def _plots(run: Run) -> Iterator[tuple[str, Plot]]:
    """Yield the charts of a run with their names, those of answers before the rooflines."""
    taken: set[str] = set()
    of_answers = (
        (f"{one.exercise}-{plot.name}", plot) for one in sections(run) for plot in one.plots
    )
    for name, plot in chain(of_answers, ((roof.plot.name, roof.plot) for roof in rooflines(run))):
        plain = slug(_MARKS.sub("-", name))
        others = (f"{plain}-{number}" for number in count(2))
        plain = next(one for one in chain([plain], others) if one not in taken)
        taken.add(plain)
        yield plain, plot
