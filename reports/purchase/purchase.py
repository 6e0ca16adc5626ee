# SPDX-License-Identifier: MIT
"""Machines side by side on one page, for readers who choose between them.

The scripts of the page write its parts here, as they are before a reader sets anything, so that
the page is complete without scripts. The same scripts draw the parts anew in the reader's browser.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup
from msgspec import Struct

from frobench.reports.charts.words import slug
from frobench.reports.files import downloads, metadata
from frobench.reports.files.metadata import ANYWHERE, Described, Publication
from frobench.reports.findings.finding import exercise_title
from frobench.reports.making.broken import of_several
from frobench.reports.making.cache import mark
from frobench.reports.purchase import purchase_files, script
from frobench.reports.purchase.baseline import standing
from frobench.reports.purchase.comparison import Comparison
from frobench.reports.purchase.machines import compare_measured
from frobench.reports.purchase.measured import Measured
from frobench.reports.purchase.prices import Price
from frobench.reports.purchase.purchase_files import Line
from frobench.reports.summary import views
from frobench.reports.summary.model import first_device
from frobench.reports.table.times import exercise
from frobench.reports.web.render import render
from frobench.suite import checks
from frobench.suite.compare.pairs import faults
from frobench.suite.printable import printable
from frobench.suite.stored import store
from frobench.suite.stored.types import Run

NAME = "purchase"
PAGE, IMAGE = f"{NAME}.html", f"{NAME}.png"
STYLE = "purchase.css"
_TWINS = ("one.html", "other.html")
"""Addresses of a run beside itself, as it is tried alone."""


class Shown(Struct, frozen=True):
    """What the scripts show of a comparison before a reader sets anything.

    parts : by the name of each part of the page, its markup
    sentences : what the page says in short
    names : of the machines, in the order in which they were given
    reference : the name of the machine that the others are compared with
    under : the workload, such as "under training"
    ranked : the machines, fastest first
    table : the rows of the download, without the names of machines
    """

    parts: dict[str, str]
    sentences: list[str]
    names: list[str]
    reference: str
    under: str
    ranked: list[Line]
    table: list[dict[str, Any]]


@dataclass
class Maker:
    """What a site lays beside its index where two files or more are to be compared.

    paths : of the stored runs, in the order in which machines are shown
    reference : one of them; see `files`
    made : whether there were two of them that are whole, and the page was written
    refused : why the page was not written although there were two; else empty
    """

    paths: Sequence[Path]
    reference: Path | None
    prices: Sequence[Price]
    made: bool = False
    refused: str = ""

    def __call__(self, pages: Mapping[str, str], publication: Publication) -> dict[str, bytes]:
        """Return the page and its downloads by their names.

        pages : addresses of run pages by the digests of their files, of which there may be copies
        """
        contents: dict[Path, bytes] = {}
        for path in self.paths:
            with suppress(store.InvalidResult):
                contents[path] = store.content(path)
        digests = {path: sha256(data).hexdigest() for path, data in contents.items()}
        hrefs = {path: pages[name] for path, name in digests.items() if name in pages}
        runs = {href: checks.judged(store.decode(contents[path])) for path, href in hrefs.items()}
        if len(runs) > 1:
            self.refused = script.missing()
        self.made = len(runs) > 1 and not self.refused
        if not self.made:
            return {}
        left_out = [printable(path.name) for path in self.paths if path not in hrefs]
        by_digest = {digests[path]: runs[href] for path, href in hrefs.items()}
        reference = hrefs.get(self.reference) if self.reference else None
        return of_several(
            lambda: files(runs, reference, self.prices, publication, left_out),
            [name for name in pages if name in by_digest],
            lambda name: files(dict.fromkeys(_TWINS, by_digest[name]), None, self.prices),
        )


def files(
    runs: Mapping[str, Run],
    reference: str | None,
    prices: Sequence[Price],
    publication: Publication = ANYWHERE,
    left_out: Sequence[str] = (),
) -> dict[str, bytes]:
    """Return the page of machines side by side, its downloads and its picture, by their names.

    runs : by the addresses of their pages, seen from this one
    reference : the address of the run that the others are compared with; see
        `reports.purchase.baseline`
    left_out : names of files that were to be compared and have no page
    """
    measured = {href: Measured.of(run) for href, run in runs.items()}
    first = reference or _usual(measured)
    others = [href for href in runs if href != first]
    comparisons = [compare_measured(measured, href, prices) for href in (first, *others)]
    shown = show(comparisons)
    table = purchase_files.table(comparisons[0], shown.table)
    tables = {
        f"{NAME}.csv": downloads.as_csv(table),
        f"{NAME}.parquet": downloads.as_parquet(table),
    }
    when = max((run.datetime for run in runs.values()), key=metadata.date)
    title = purchase_files.title(shown.names)
    description = " ".join(shown.sentences) or title
    about = Described(title, description, PAGE, IMAGE, when)
    marks = {name: mark(content) for name, content in tables.items()}
    hrefs = [machine.href for machine in comparisons[0].machines]
    page = render(
        f"{NAME}.html",
        scripts=(*script.PAGE, "purchase_page.js"),
        styles=(STYLE,),
        title="Machines side by side",
        description=description,
        home="index.html",
        head=metadata.head(
            about, marks, publication, purchase_files.TECHNIQUE, purchase_files.VARIABLES
        ),
        filled={name: Markup(part) for name, part in shown.parts.items()},  # noqa: S704 - escaped
        runs=[_note(name, href, runs[href]) for name, href in zip(shown.names, hrefs, strict=True)],
        left_out=left_out,
        reference=shown.reference,
        downloads=[*tables],
        comparisons=msgspec.to_builtins(comparisons),
    )
    image = purchase_files.picture(shown.reference, shown.under, shown.ranked, when)
    return {PAGE: page.encode(), IMAGE: image, **tables}


def show(comparisons: Sequence[Comparison]) -> Shown:
    """Return what is shown of machines beside the reference of the first comparison.

    comparisons : of the same machines, beside each of them

    Raises `reports.purchase.script.MissingEngineError` if there is no engine for the scripts.
    """
    return msgspec.convert(script.call("purchaseBuilt.page", comparisons), Shown)


def _usual(measured: Mapping[str, Measured]) -> str:
    """Return the address of the run that others are compared with unless one is named."""
    devices = {href: first_device(one.run) for href, one in measured.items()}
    counts = Counter(devices.values())
    standings = {
        href: standing(
            (exercise(case) for case, _ in one.cases.values()),
            counts[devices[href]],
            one.run.datetime,
            href,
            is_whole=one.run.frobench.complete and not faults(one.run, ""),
        )
        for href, one in measured.items()
    }
    return max(standings, key=standings.__getitem__)


def _note(name: str, href: str, run: Run) -> dict[str, Any]:
    """Return what the page tells of a run; nothing of the answers of an invalid one."""
    groups = {} if faults(run, "") else dict.fromkeys(case.group for case in run.benchmarks)
    return {
        "name": name,
        "href": href,
        "when": run.datetime,
        "profile": run.frobench.profile,
        "launches": len(run.frobench.launches),
        "partial": not run.frobench.complete,
        "doubts": views.doubts(run),
        "exercises": [(exercise_title(one), f"{href}#exercise-{slug(one)}") for one in groups],
    }
