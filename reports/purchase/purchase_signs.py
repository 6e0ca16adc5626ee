# SPDX-License-Identifier: MIT
"""What stands elsewhere for the page of machines side by side: words for programs, a picture."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from reports.files import metadata
from reports.files.metadata import Described, Entity, Head, Publication
from reports.making.cache import Marks
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


class Line(Struct, frozen=True):
    """A machine in the picture.

    value, interval : how many times as fast as the reference, in words; ``None`` without a ratio,
        and empty without an interval
    cases, every : how many cases the ratio is made of, and how many the reference measured
    """

    name: str
    is_reference: bool
    value: str | None
    interval: str
    cases: int
    every: int


def title(names: Sequence[str]) -> str:
    """Name the machines, in the order in which they were given."""
    *first, last = names
    return f"{', '.join(first)} and {last} side by side" if first else f"{last} side by side"


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


def picture(reference: str, under: str, ranked: Sequence[Line], when: str) -> bytes:
    """Draw the machines' speeds, fastest first, as PNG; `under` names the workload."""
    foot = f"{counted(len(ranked), 'machine')}, the newest run of {moment(when)}"
    return card.card("Machines side by side", _lines(reference, under, ranked), foot)


def _lines(reference: str, under: str, ranked: Sequence[Line]) -> Iterator[Row]:
    """Yield the machines beside the reference, each with its ratio where it has one."""
    for line in ranked:
        if line.is_reference:
            continue
        if line.value is None:
            yield Row(line.name, f"has nothing that can be compared with {reference}")
            continue
        interval = line.interval or "(no interval)"
        speed = f"{line.name}: times as fast as {reference}, {under}"
        yield Row(f"{line.value} {interval}", speed)
