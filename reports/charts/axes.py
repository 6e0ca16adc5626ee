# SPDX-License-Identifier: MIT
"""Axes of charts: their ranges, and round ticks with labels."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from frobench.reports.findings.finding import RATIO, Plot, Point, Series
from frobench.suite.printable import printable
from frobench.suite.units import format_value, prefixed

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
    exponent = math.floor(math.log10((high - low) / max(most, 1))) - 1
    ticks = []
    for step in (m * 10.0**e for e in range(exponent, exponent + 4) for m in (1, 2, 4, 5)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        ticks.append([float(f"{index * step:.12g}") for index in range(first, last + 1)])
        if len(ticks[-1]) <= most:
            break
    return _enough(ticks, most)


def _enough(ladders: Sequence[list[float]], most: int) -> list[float]:
    """Return the first ladder of three to `most` ticks, or else the shortest of three and more."""
    fitting = (ladder for ladder in ladders if LEAST_TICKS <= len(ladder) <= most)
    longer = sorted((ladder for ladder in ladders if len(ladder) >= LEAST_TICKS), key=len)
    return next(fitting, longer[0] if longer else max(ladders, key=len))


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
    """Return the level worth a line of its own: of ratios 1, where a plot names no other."""
    return 1.0 if plot.reference is None and plot.y.unit == RATIO else plot.reference


def level_at_end(plot: Plot, y: Scale) -> bool:
    """Tell whether the name of a level has more room at the end of the lines than before them."""
    base = y(level(plot) or 0.0)
    first, last = (
        min(abs(y(series.points[side].y.value) - base) for series in plot.series)
        for side in (0, -1)
    )
    return last > first


def limits(plot: Plot) -> tuple[float, float]:
    """Return the range of the value axis, with room around what it must show."""
    if plot.kind == "stack":
        return 0.0, 1.08 * _tallest(plot)
    points = [point for series in (*plot.series, *plot.lines) for point in series.points]
    shown = [end for p in points for end in (p.y.value, p.y.low, p.y.high) if end is not None]
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
    ends = [p.y.high or p.y.value for p in plot.whole.points] if plot.whole else []
    bars: dict[float | str, float] = {}
    for point in (point for series in plot.series for point in series.points):
        bars[point.x] = bars.get(point.x, 0.0) + max(0.0, point.y.value)
    return max(*ends, *bars.values(), 0.0) or 1.0


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


def ends(series: Series) -> list[tuple[Point, float, float]]:
    """Return points with the ends of their intervals; what has none has no length."""
    return [
        (
            point,
            point.y.value if point.y.low is None else point.y.low,
            point.y.value if point.y.high is None else point.y.high,
        )
        for point in series.points
    ]
