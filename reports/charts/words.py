# SPDX-License-Identifier: MIT
"""Plots and stray strings in words: text alternatives, hover texts, names short and safe."""

import hashlib
import re
from collections.abc import Sequence

from frobench.reports.charts.axes import spell_x, value_labels
from frobench.reports.findings.finding import RATIO, Plot, Series
from frobench.suite.printable import printable
from frobench.suite.units import format_estimate

PLAIN = {"Time", "Rate"}
"""Names of values that their unit says."""
FASTER = {"s", "J", RATIO}
"""Units in which less is better. Rows in these units ascend; all others descend."""
_UNSAFE = re.compile(r"[^A-Za-z0-9.+-]+")
_BEGINNING = re.compile("[,:] ")
"""Ends what several names may begin with."""


def describe(plot: Plot) -> str:
    """Say what a plot shows: its text alternative, before the table."""
    shown = (*plot.series, *plot.lines)
    series = "; ".join(f"{printable(line.label)}: {_outline(plot, line)}" for line in shown)
    return f"{printable(plot.title)}. {plot.y.label} by {plot.x.label}. {series}."


def _outline(plot: Plot, series: Series) -> str:
    ends = dict.fromkeys((series.points[0], series.points[-1]))
    spelled = ((format_estimate(p.y, plot.y.unit), spell_x(p.x, plot.x.unit)) for p in ends)
    return ", ".join(f"{value} at {where}" for value, where in spelled)


def hover(plot: Plot, series: Series) -> list[str]:
    """Spell each point of a series."""
    return [
        f"{printable(series.label)}, {plot.x.label} {spell_x(point.x, plot.x.unit)}: "
        f"{format_estimate(point.y, plot.y.unit)}"
        for point in series.points
    ]


def short_names(series: Sequence[Series]) -> list[str]:
    """Name series by what tells them apart: without the words that all begin with."""
    return shortened([printable(line.label) for line in series])


def shortened(names: list[str]) -> list[str]:
    """Leave out the words that all names begin with, up to a comma or a colon."""
    if len(names) <= 1:
        return names
    beginnings = [match.end() for match in _BEGINNING.finditer(names[0])]
    common = (end for end in beginnings[::-1] if len({name[:end] for name in names}) == 1)
    begin = next(common, 0)
    return [name[begin:] for name in names]


def subtitle(plot: Plot) -> str:
    """Return what the values are, and their unit where all ticks have the same."""
    implied = plot.y.label in PLAIN or plot.y.label.casefold() in plot.title.casefold()
    return ", ".join(filter(None, ("" if implied else plot.y.label, value_labels(plot).unit)))


def at(plot: Plot, x: float | str) -> str:
    """Spell the place of a point on its axis, such as "n = 64", "256 MiB" or "1,000 steps"."""
    spelled = spell_x(x, plot.x.unit)
    name = plot.x.label
    if isinstance(x, str) or plot.x.unit:
        return spelled
    if name == "n" or name.endswith(" n"):
        return f"n = {spelled}"
    noun, _, rest = name.partition(" ")
    if not noun.endswith("s"):
        return f"{name} {spelled}"
    return f"{spelled} {noun.removesuffix('s') if x == 1 else noun} {rest}".rstrip()


def ordered(plot: Plot) -> list[str]:
    """Return the names of the rows of a plot: sizes in order, others the best first."""
    drawn = [plot.whole] if plot.whole else plot.series
    first: dict[float | str, float] = {}
    for point in (point for series in (*drawn, *plot.series) for point in series.points):
        first.setdefault(point.x, point.y.value)
    sign = 1 if plot.y.unit in FASTER else -1

    def key(x: float | str) -> float:
        return sign * first[x] if isinstance(x, str) else float(x)

    return list(dict.fromkeys(spell_x(x) for x in sorted(first, key=key)))


def row_titles(plot: Plot) -> dict[str, str]:
    """Return the titles of the rows of a plot by their names, the best row first."""
    names = ordered(plot)
    if all(isinstance(point.x, str) for series in plot.series for point in series.points):
        return dict(zip(names, shortened(names), strict=True))
    places = {spell_x(p.x): p.x for series in plot.series for p in series.points}
    return {name: at(plot, places.get(name, name)) for name in names}


def slug(name: str) -> str:
    """Return a name that is safe as a file name and in a link, equal only for equal names."""
    safe = _UNSAFE.sub("-", name).strip(".-")[:100]
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return safe if safe and safe == name else f"{safe or 'unnamed'}-{digest}"
