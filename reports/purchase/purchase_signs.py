# SPDX-License-Identifier: MIT
"""What stands elsewhere for the page of machines side by side: words for programs, a picture."""

from collections.abc import Iterator, Mapping

from reports.files import metadata
from reports.files.metadata import Described, Entity, Head, Publication
from reports.findings.finding import RATIO
from reports.making.cache import Marks
from reports.purchase.purchase_tables import spelled
from reports.purchase.purchase_view import View, listed
from reports.summary import card
from reports.summary.card import Row
from reports.web.render import moment
from suite.stored.run import Run
from suite.units import counted

TECHNIQUE = (
    "Geometric mean over the cases that both machines measured of the ratios of their times; "
    "a joint 95% interval by a bootstrap over the launches of both"
)
VARIABLES = {
    "log_ratio": "Natural logarithm of how many times as fast as the reference, by exercise",
    "log_error": "Standard error of that logarithm",
    "ratio": "How many times as fast as the reference",
    "low": "Lower end of the 95% interval of the ratio",
    "high": "Upper end of the 95% interval of the ratio",
}
"""Columns of the table beside the page that were measured: what they hold."""


def title(shown: View) -> str:
    """Name the machines, in the order in which they were given."""
    names = [row.name for row in sorted(shown.rows, key=lambda row: row.number)]
    return f"{listed(names)} side by side"


def head(about: Described, files: Marks, publication: Publication) -> Head:
    """Return what the head of the page tells programs; see `reports.files.metadata.head`."""
    told = metadata.head(about, files, publication)
    variables: list[Entity] = [
        {"@type": "PropertyValue", "name": name, "description": text, "unitText": "1"}
        for name, text in VARIABLES.items()
    ]
    own = {"measurementTechnique": TECHNIQUE, "variableMeasured": variables}
    return told._replace(dataset=told.dataset | own)


def newest(runs: Mapping[str, Run]) -> str:
    """Return when the last of some runs was measured, ISO 8601."""
    return max((one.datetime for one in runs.values()), key=metadata.date)


def picture(shown: View, when: str) -> bytes:
    """Draw the machines' ratios to the reference, fastest first, as PNG."""
    foot = f"{counted(len(shown.rows), 'machine')}, the newest run of {moment(when)}"
    return card.card("Machines side by side", _lines(shown), foot)


def _lines(shown: View) -> Iterator[Row]:
    """Yield the machines beside the reference, each with its ratio where it has one."""
    for row in shown.rows:
        if row.is_reference:
            continue
        if row.ratio is None:
            yield Row(row.name, f"has nothing that can be compared with {shown.reference.name}")
            continue
        value, ends = spelled(row.ratio, RATIO)
        over = f"over {row.overall.exercises} of {row.overall.of} exercises"
        yield Row(
            f"{value} {ends or '(no interval)'}",
            f"{row.name}: times as fast as {shown.reference.name}, {over}",
        )
