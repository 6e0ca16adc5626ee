# SPDX-License-Identifier: MIT
"""What a plot says before it is drawn: ranges, round ticks with labels, titles and hover texts."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from frobench.reports.findings.finding import RATIO, Plot, Point, Series
from frobench.suite.printable import printable
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate, format_value, prefixed

DECADE, FAR = 10.0, 30.0
"""Ranges that want a logarithmic scale: of sizes and lines, and of rows, whose bars begin at 0."""
LEAST_TICKS, MOST_TICKS = 3, 6
LADDERS = ((1, 2, 5), (1, 3))
"""First digits of ticks on a logarithmic scale, where powers of ten alone are too few."""
NEAR = 2.0
"""Ratios that all lie within this factor of the level that they are compared with get a range of
their own, which need not begin at 0."""
LEAST_ROOM = 0.05
"""What such a range shows on both sides of that level, at least."""
FINEST_TICK = 1e-3
"""Ticks of this size and more have one unit, which the chart's subtitle names; others have their
own."""

PLAIN = {"Time", "Rate"}
"""Names of values that their unit says."""
FASTER = {"s", "J", RATIO}
"""Units in which less is better. Rows in these units ascend; all others descend."""
_BEGINNING = re.compile("[,:] ")
"""Ends what several names may begin with."""


def spell_x(x: float | str, unit: str = "") -> str:
    """Spell a size, in a unit if it has one, or a category as axes and tables show it."""
    return printable(x) if isinstance(x, str) else format_value(x, unit or "n")


@dataclass(frozen=True)
class Scale:
    """From values to pixels, evenly or by their logarithm."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        part = (value - low) / (high - low) if high > low else 0.5
        return self.begin + part * (self.end - self.begin)


class Ticks(NamedTuple):
    """The labels of an axis, and the unit of all of them; it is empty where each bears its own."""

    labels: dict[float, str]
    unit: str


def is_wide(low: float, high: float) -> bool:
    """Tell whether a range is positive and a decade or more, so that it wants a log scale."""
    return low > 0 and high / low >= DECADE


def ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return three to `most` round numbers inside a range, evenly spaced or nearly.

    On a log scale they are powers of ten, with others between where there is room.
    """
    if not is_wide(low, high):
        return even_ticks(low, high, most)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ladders = [[m * 10.0**e for e in exponents for m in digits] for digits in LADDERS]
    strides = range(1, len(exponents) + 1)
    ladders += [[10.0**e for e in exponents if e % stride == 0] for stride in strides]
    return _enough([[tick for tick in ladder if low <= tick <= high] for ladder in ladders], most)


def even_ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return three to `most` round numbers inside a range, evenly spaced."""
    if not high > low:
        return [low]
    exponent = math.floor(math.log10((high - low) / most))
    ladders = []
    for step in (m * 10.0**e for e in range(exponent, exponent + 2) for m in (1, 2, 4, 5)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        ladders.append([float(f"{index * step:.12g}") for index in range(first, last + 1)])
    return _enough(ladders, most)


def _enough(ladders: Iterable[list[float]], most: int) -> list[float]:
    """Return the first ladder of three to `most` ticks, or else the shortest of three and more."""
    enough = (ladder for ladder in ladders if len(ladder) >= LEAST_TICKS)
    return min(enough, key=lambda ladder: max(len(ladder), most))


def tick_labels(shown: Iterable[float], unit: str) -> Ticks:
    """Spell the ticks of an axis of values, in one unit where that is possible."""
    values = [*shown]
    sizes = [abs(value) for value in values if value]
    factor, name = prefixed(max(sizes, default=1.0), unit)
    if name in {"%", RATIO}:
        return Ticks({value: format_value(value, unit, 4) for value in values}, "")
    if all(size / factor >= FINEST_TICK for size in sizes):
        return Ticks({value: f"{value / factor:,.6g}" for value in values}, name)
    return Ticks({value: format_value(value, unit) for value in values}, "")


def level(plot: Plot) -> float | None:
    """Return the level worth a line of its own: one with a name, or that of ratios."""
    return plot.reference if plot.reference_label or plot.y.unit == RATIO else None


def level_at_end(plot: Plot, y: Scale, base: float) -> bool:
    """Tell whether the name of a level has more room at the end of the lines than before them."""
    first, last = (
        min(abs(y(series.points[side].y.value) - y(base)) for series in plot.series)
        for side in (0, -1)
    )
    return last > first


def limits(plot: Plot) -> tuple[float, float]:
    """Return the range of the value axis, with room around what it must show."""
    if plot.kind == "stack":
        return 0.0, 1.08 * _tallest(plot)
    drawn = [end for series in (*plot.series, *plot.lines) for end in ends(series)]
    shown = [value for point, *both in drawn for value in (point.y.value, *both)]
    base = level(plot)
    if base is not None:
        shown.append(base)
    low, high = min(shown), max(shown)
    if _is_far(plot, low, high):
        return low / 1.35, high * 1.35
    ratio = plot.y.unit in {RATIO, "1"}
    if base is not None and ratio and base / NEAR < low and high < base * NEAR:
        room = max(0.12 * (high - low), 0.2 * LEAST_ROOM)
        return min(low - room, base - LEAST_ROOM), max(high + room, base + LEAST_ROOM)
    return min(0.0, 1.1 * low), 1.08 * max(0.0, high) or 1.0


def _is_far(plot: Plot, low: float, high: float) -> bool:
    """Tell whether the values of a plot want a log scale; a bar is better seen from zero on."""
    return low > 0 and high / low >= (FAR if plot.kind == "dots" else DECADE)


def _tallest(plot: Plot) -> float:
    """Return the length of the longest bar of a stack, or of the whole beside it."""
    whole = [high for _, _, high in ends(plot.whole)] if plot.whole else []
    bars: dict[float | str, float] = {}
    for point in (point for series in plot.series for point in series.points):
        bars[point.x] = bars.get(point.x, 0.0) + max(0.0, point.y.value)
    return max([*whole, *bars.values()], default=0.0) or 1.0


def values(plot: Plot, begin: float, end: float) -> Scale:
    """Return the scale of the values of a plot between two pixels."""
    low, high = limits(plot)
    return Scale(low, high, begin, end, _is_far(plot, low, high))


def value_labels(plot: Plot, most: int = MOST_TICKS) -> Ticks:
    """Return the labels of the values of a plot."""
    return tick_labels(ticks(*limits(plot), most), plot.y.unit)


def sizes(plot: Plot, begin: float, end: float) -> Scale:
    """Return the scale of the sizes of a plot between two pixels."""
    measured = _sizes(plot)
    low, high = measured[0], measured[-1]
    return Scale(low, high, begin, end, is_wide(low, high))


def _sizes(plot: Plot) -> list[float]:
    drawn = (*plot.series, *plot.lines)
    return sorted({float(point.x) for series in drawn for point in series.points})


def size_labels(plot: Plot, scale: Scale, glyph: float, most: int) -> dict[float, str]:
    """Return as many labels of sizes as have room, those of the largest first.

    glyph : width of a letter, in the unit of the scale
    most : how many round numbers to label where points are not on round numbers
    """
    alone = plot.kind == "points"
    shown = ticks(scale.low, scale.high, most) if alone else _sizes(plot)
    unit = "" if alone else plot.x.unit  # of round numbers the axis names it
    labels: dict[float, str] = {}
    end = math.inf
    for size in reversed(shown):
        label = spell_x(size, unit)
        half = glyph * (len(label) / 2 + 0.5)
        if scale(size) + half <= end:
            labels[size] = label
            end = scale(size) - half
    return labels


def interval(value: Estimate) -> tuple[float, float]:
    """Return the ends of an interval; what has none has no length."""
    low, high = (value.value if end is None else end for end in (value.low, value.high))
    return low, high


def ends(series: Series) -> list[tuple[Point, float, float]]:
    """Return points with the ends of their intervals."""
    return [(point, *interval(point.y)) for point in series.points]


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

    def key(x: float | str) -> float:
        if not isinstance(x, str):
            return float(x)
        return first[x] if plot.y.unit in FASTER else -first[x]

    return list(dict.fromkeys(spell_x(x) for x in sorted(first, key=key)))


def row_titles(plot: Plot) -> dict[str, str]:
    """Return the titles of the rows of a plot by their names, the best row first."""
    names = ordered(plot)
    if all(isinstance(point.x, str) for series in plot.series for point in series.points):
        return dict(zip(names, shortened(names), strict=True))
    places = {spell_x(p.x): p.x for series in plot.series for p in series.points}
    return {name: at(plot, places.get(name, name)) for name in names}
