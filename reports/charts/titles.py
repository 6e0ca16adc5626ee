# SPDX-License-Identifier: MIT
"""Titles of charts: the result as a headline, and below it what is drawn in which unit.

Every number is one that the chart shows, to the digits that its interval supports.
"""

from collections.abc import Sequence

from frobench.reports.charts.axes import value_labels
from frobench.reports.charts.words import short_names, shortened, spell_x
from frobench.reports.findings.finding import RATIO, Plot, Point
from frobench.suite.units import format_point

MOST_NAMED = 3
"""Lines or rows whose numbers a headline names; of more it names the ends."""
PLAIN = {"Time", "Rate"}
"""Names of values that their unit says."""
FASTER = {"s", "J", RATIO}
"""Units of which less is better: their rows ascend, all others descend."""


def headline(plot: Plot) -> str:
    """Return what a chart shows: its most important numbers."""
    if plot.result:
        return plot.result
    headlines = {"curve": _of_curve, "points": _of_curve, "dots": _of_rows, "stack": _of_parts}
    return headlines[plot.kind](plot)


def subtitle(plot: Plot) -> str:
    """Return what is drawn and its unit; ticks bear units of their own where those differ."""
    values = plot.y.label
    implied = values in PLAIN or values.casefold() in plot.title.casefold()
    named = "" if implied else f"{values[:1].lower()}{values[1:]}"
    return ", ".join(filter(None, (plot.title, named, value_labels(plot).unit)))


def at(plot: Plot, x: float | str) -> str:
    """Say where along its axis a point lies, such as "n = 64", "256 MiB" or "1,000 steps"."""
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


def _value(plot: Plot, point: Point) -> str:
    return format_point(point.y, plot.y.unit)


def _of_curve(plot: Plot) -> str:
    """Name the ends of a line, or those of several lines at the largest size that all have."""
    lines, names = [series.points for series in plot.series], short_names(plot.series)
    if len(lines) == 1:
        both = dict.fromkeys((lines[0][0], lines[0][-1]))
        return ", ".join(f"{_value(plot, point)} at {at(plot, point.x)}" for point in both)
    common = set.intersection(*({float(point.x) for point in points} for points in lines))
    if not common:
        ends = zip(names, (points[-1] for points in lines), strict=True)
        return _listed(plot, [(f"{name}, {at(plot, end.x)}", end) for name, end in ends])
    size = max(common)
    points = [next(point for point in points if point.x == size) for points in lines]
    best = sorted(zip(names, points, strict=True), key=lambda pair: -pair[1].y.value)
    return f"At {at(plot, size)}: {_listed(plot, best)}"


def _of_rows(plot: Plot) -> str:
    """Name the rows with their numbers, of many the first and the last."""
    names, first = short_names(plot.series), plot.series[0]
    if len({point.x for series in plot.series for point in series.points}) == 1 < len(plot.series):
        firsts = [series.points[0] for series in plot.series]
        return _listed(plot, [*zip(names, firsts, strict=True)])
    points = {spell_x(p.x): p for series in reversed(plot.series) for p in series.points}
    shown = [points[name] for name in ordered(plot) if points[name] in first.points]
    of = f"{names[0]}: " if len(plot.series) > 1 else ""
    return of + _listed(plot, [(at(plot, point.x), point) for point in shown])


def _of_parts(plot: Plot) -> str:
    """Name the longest part of the longest bar, and the whole of that bar."""
    parts = [(series.label, point) for series in plot.series for point in series.points]
    name, longest = max(parts, key=lambda pair: pair[1].y.value)
    whole = next((p for p in plot.whole.points if p.x == longest.x), None) if plot.whole else None
    of = f" of {_value(plot, whole)}" if whole else ""
    row = row_titles(plot)[spell_x(longest.x)]
    return f"{name[:1].upper()}{name[1:]}: {_value(plot, longest)}{of}, {row}"


def _listed(plot: Plot, named: Sequence[tuple[str, Point]]) -> str:
    """List numbers with what they are of; of many the first and the last."""
    few = named if len(named) <= MOST_NAMED else [named[0], named[-1]]
    return "; ".join(f"{_value(plot, point)} {name}".rstrip() for name, point in few)
