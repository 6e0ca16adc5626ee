# SPDX-License-Identifier: MIT
"""Machines side by side on one page, for who chooses between them.

Everything is there without a script, as it is before anybody sets anything. The scripts in
`static/` draw the same parts anew when a reader does.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec
import pyarrow as pa
from markupsafe import Markup

from reports.charts.words import slug
from reports.files import downloads
from reports.files.metadata import ANYWHERE, Described, Head, Publication
from reports.findings.finding import exercise_title
from reports.making.broken import of_several
from reports.making.cache import mark
from reports.purchase import (
    purchase_front,
    purchase_signs,
    purchase_tables,
    purchase_words,
    purchase_worth,
)
from reports.purchase.comparison import Comparison
from reports.purchase.economics import single
from reports.purchase.machines import compare_measured
from reports.purchase.measured import Measured
from reports.purchase.prices import Price
from reports.purchase.purchase_view import USE, View, view
from reports.summary import views
from reports.web.elements import element, together
from reports.web.render import render
from suite import checks
from suite.stored import store
from suite.stored.run import Run
from suite.units import format_value

NAME = "purchase"
PAGE, IMAGE = f"{NAME}.html", f"{NAME}.png"
SCRIPTS = (
    "units.js",
    "drawing.js",
    "economics.js",
    "setting.js",
    "purchase_view.js",
    "purchase_tables.js",
    "purchase_worth.js",
    "purchase_front.js",
    "purchase_words.js",
    "purchase.js",
)
"""What a page needs that shows machines side by side, in this order."""
STYLE = "purchase.css"
_TWINS = ("one.html", "other.html")
"""Addresses of a run beside itself, as it is tried alone."""
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("run", "machine", "device", "exercise"), pa.string()),
        **dict.fromkeys(("log_ratio", "log_error", "ratio", "low", "high"), pa.float64()),
        **dict.fromkeys(("cases", "every"), pa.int64()),
    }
)


@dataclass(frozen=True)
class RunNote:
    """A run as the page tells of it.

    Parameters
    ----------
    exercises
        Their titles and where the run's page answers them.
    """

    name: str
    href: str
    when: str
    profile: str
    launches: int
    partial: bool
    doubts: list[views.Doubt]
    exercises: list[tuple[str, str]]


@dataclass
class Maker:
    """What a site lays beside its index where two files or more are to be compared.

    Parameters
    ----------
    paths
        Of the stored runs, in the order in which machines are shown.
    reference
        One of them; see `files`.
    made
        Whether there were two of them that are whole.
    """

    paths: Sequence[Path]
    reference: Path | None
    prices: Sequence[Price]
    made: bool = False

    def __call__(self, pages: Mapping[str, str], publication: Publication) -> dict[str, bytes]:
        """Return the page and its downloads by their names.

        Parameters
        ----------
        pages
            Addresses of run pages by the digests of their files, of which there may be copies.
        """
        contents = {path: data for path in self.paths if (data := _content(path)) is not None}
        digests = {path: sha256(data).hexdigest() for path, data in contents.items()}
        hrefs = {path: pages[name] for path, name in digests.items() if name in pages}
        runs = {href: checks.judged(store.decode(contents[path])) for path, href in hrefs.items()}
        self.made = len(runs) > 1
        if not self.made:
            return {}
        by_digest = {digests[path]: runs[href] for path, href in hrefs.items()}
        reference = hrefs.get(self.reference) if self.reference else None
        return of_several(
            lambda: files(runs, reference, self.prices, publication),
            [name for name in pages if name in by_digest],
            lambda name: files(dict.fromkeys(_TWINS, by_digest[name]), None, self.prices),
        )


def _content(path: Path) -> bytes | None:
    with suppress(store.InvalidResult):
        return store.content(path)
    return None


def files(
    runs: Mapping[str, Run],
    reference: str | None,
    prices: Sequence[Price],
    publication: Publication = ANYWHERE,
) -> dict[str, bytes]:
    """Return the page of machines side by side, its downloads and its picture, by their names.

    Parameters
    ----------
    runs
        By the addresses of their pages, seen from this one.
    reference
        The address of the run that the others are held against; by default the first with a case
        that can be compared, of an accelerator where any has one.
    prices
        Of devices.
    publication
        Where the page will lie, and under which licence.
    """
    measured = {href: Measured.of(run) for href, run in runs.items()}
    first = reference or _first(measured)
    others = [href for href in runs if href != first]
    comparisons = [compare_measured(measured, href, prices) for href in (first, *others)]
    shown, when = view(comparisons), purchase_signs.newest(runs)
    table = rows(comparisons[0])
    tables = {
        f"{NAME}.csv": downloads.as_csv(table),
        f"{NAME}.parquet": downloads.as_parquet(table),
    }
    about = Described(purchase_signs.title(shown), description(shown), PAGE, IMAGE, when)
    marks = {name: mark(content) for name, content in tables.items()}
    head = purchase_signs.head(about, marks, publication)
    text = page(shown, comparisons, runs, head)
    return {PAGE: text.encode(), IMAGE: purchase_signs.picture(shown, when), **tables}


def _first(measured: Mapping[str, Measured]) -> str:
    """Return the address of the first run that can be compared; a processor only among its like."""
    able = [href for href, one in measured.items() if one.cases]
    ahead = [href for href in able if measured[href].on_accelerator]
    return [*ahead, *able, *measured][0]


def description(shown: View) -> str:
    """Return what the page says in short."""
    return " ".join(purchase_words.sentences(shown)) or purchase_signs.title(shown)


def page(
    shown: View, comparisons: Sequence[Comparison], runs: Mapping[str, Run], head: Head
) -> str:
    """Return the page of machines beside the reference of the first comparison, or another's.

    Parameters
    ----------
    shown
        Of the comparisons.
    comparisons
        Of the same machines, beside each of them.
    runs
        See `files`.
    head
        What it tells programs.
    """
    return render(
        "purchase.html",
        scripts=(*SCRIPTS, "purchase_page.js"),
        styles=(STYLE,),
        title="Machines side by side",
        description=description(shown),
        home="index.html",
        head=head,
        filled=parts(shown),
        usual=usual(shown.currency),
        runs=[
            _note(row.name, row.machine.href, runs[row.machine.href])
            for row in sorted(shown.rows, key=lambda row: row.number)
        ],
        reference=shown.reference.name,
        downloads=[f"{NAME}.csv", f"{NAME}.parquet"],
        comparisons=msgspec.to_builtins(comparisons),
    )


def parts(shown: View) -> dict[str, Markup]:
    """Return what `purchase_parts.html` is filled with."""
    sentences = purchase_words.sentences(shown)
    exercises = sorted(shown.comparison.exercises, key=lambda one: -one.weight)
    return {
        "summary": together(*(element("p", {"class": "answer"}, text) for text in sentences)),
        "speed": purchase_tables.speed(shown),
        "worth": purchase_worth.worth(shown),
        "front": together(*purchase_front.draw(shown)),
        "exercises": together(*(purchase_tables.panel(shown, one) for one in exercises))
        or element("p", {"class": "absent"}, "No exercise can be compared."),
        "notes": together(*map(purchase_tables.notes, shown.rows)),
    }


def usual(currency: str) -> str:
    """Say what use is assumed."""
    price = format_value(USE.price_a_kwh, currency)
    share = format_value(USE.share, "1")
    return (
        f"{price} a kWh and {USE.hours_a_day:g} hours a day at {share} of that power "
        f"for {USE.years:g} years"
    )


def rows(comparison: Comparison) -> pa.Table:
    """Return the table beside the page: a row for each machine and exercise."""
    records = []
    for machine in comparison.machines:
        for exercise in comparison.exercises:
            speed = single(comparison, machine, exercise.name)
            ratio, low, high = speed.ratio if speed else (None, None, None)
            record = {
                "run": machine.run,
                "machine": machine.title,
                "device": machine.device,
                "exercise": exercise.name,
                "log_ratio": speed and speed.log,
                "log_error": speed and speed.error,
                "ratio": ratio,
                "low": low,
                "high": high,
                "cases": machine.counts[exercise.name],
                "every": exercise.total,
            }
            records.append(record)
    return pa.Table.from_pylist(records, schema=SCHEMA)


def _note(name: str, href: str, run: Run) -> RunNote:
    groups = dict.fromkeys(case.group for case in run.benchmarks)
    return RunNote(
        name=name,
        href=href,
        when=run.datetime,
        profile=run.frobench.profile,
        launches=len(run.frobench.launches),
        partial=not run.frobench.complete,
        doubts=views.doubts(run),
        exercises=[(exercise_title(one), f"{href}#exercise-{slug(one)}") for one in groups],
    )
