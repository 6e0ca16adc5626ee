# SPDX-License-Identifier: MIT
"""Axes as the charts want them: bare, with round ticks, and sized in pixels."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.charts.svg import Drawing, joined, number
from reports.charts.words import spell_x
from reports.findings.finding import RATIO, Plot, Point, Series
from suite.units import format_value, prefixed

DECADE, FAR = 10.0, 30.0
"""Ranges that want a logarithmic scale: of sizes and lines, and of rows, whose bars begin at 0."""
LEAST_TICKS, MOST_TICKS = 3, 6
LADDERS = ((1, 2, 5), (1, 3))
"""First digits of ticks on a logarithmic scale, where powers of ten alone are too few."""
RATIOS = {RATIO, "1"}
NEAR = 2.0
"""Ratios that all lie within this factor of the level that they are compared with get a range of
their own, which need not begin at 0."""
LEAST_ROOM = 0.05
"""What such a range shows on both sides of that level, at least."""
FINEST_TICK = 1e-3
"""Ticks of this size and more have one unit, which the chart's subtitle names; others have their
own."""
FASTER = {"s", "J", RATIO}
"""Units of which less is better: their rows ascend, all others descend."""
DASHED = "5 4"


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


@dataclass(frozen=True)
class Frame:
    """The part of a drawing that holds the marks, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Ticks:
    """The labels of an axis.

    Parameters
    ----------
    unit
        What all of them are in; empty where each bears its own, or there is none.
    """

    labels: dict[float, str]
    unit: str


def is_wide(low: float, high: float) -> bool:
    """Tell whether a range is positive and a decade or more, so that it wants a log scale."""
    return low > 0 and high / low >= DECADE


def is_far(plot: Plot, low: float, high: float) -> bool:
    """Tell whether the values of a plot want a log scale; a bar is better seen from zero on."""
    return low > 0 and high / low >= (FAR if plot.kind == "dots" else DECADE)


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


def even_ticks(low: float, high: float, most: int) -> list[float]:
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
    if is_far(plot, low, high):
        return low / 1.35, high * 1.35
    if base is not None and plot.y.unit in RATIOS and base / NEAR < low and high < base * NEAR:
        room = max(0.12 * (high - low), 0.2 * LEAST_ROOM)
        return min(low - room, base - LEAST_ROOM), max(high + room, base + LEAST_ROOM)
    return min(0.0, 1.1 * low), 1.08 * max(0.0, high) or 1.0


def _tallest(plot: Plot) -> float:
    """Return the length of the longest bar of a stack, or of the whole beside it."""
    ends = [p.y.high or p.y.value for p in plot.whole.points] if plot.whole else []
    bars: dict[float | str, float] = {}
    for point in (point for series in plot.series for point in series.points):
        bars[point.x] = bars.get(point.x, 0.0) + max(0.0, point.y.value)
    return max(*ends, *bars.values(), 0.0) or 1.0


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


def values_across(
    drawing: Drawing, frame: Frame, scale: Scale, labels: dict[float, str], *, upright: bool
) -> None:
    """Draw a line across the frame at each tick of the values, with its label.

    Parameters
    ----------
    upright
        Whether values run along the width, so that the grid lines are vertical.
    """
    for value, label in labels.items():
        at = scale(value)
        if upright:
            drawing.line(f"M{number(at)} {number(frame.top)}V{number(frame.bottom)}", "rule", 1)
        else:
            drawing.line(f"M{number(frame.left)} {number(at)}H{number(frame.right)}", "rule", 1)
            drawing.text(label, frame.left - 6, at + 0.35 * drawing.font, "end")
    if upright:
        along(drawing, frame, scale, labels)


def along(drawing: Drawing, frame: Frame, scale: Scale, labels: dict[float, str]) -> None:
    """Label places along the width, below the frame."""
    for value, label in labels.items():
        drawing.text(label, scale(value), frame.bottom + 6 + drawing.font, "middle")


def name_axis(drawing: Drawing, frame: Frame, text: str) -> None:
    """Name the axis along the width, below its end."""
    drawing.text(text, frame.right, frame.bottom + 12 + 2 * drawing.font, "end")


def sizes(plot: Plot) -> list[float]:
    """Return the sizes of the points of a plot, ascending."""
    drawn = (*plot.series, *plot.lines)
    return sorted({float(point.x) for series in drawn for point in series.points})


def size_labels(plot: Plot, scale: Scale, glyph: float, most: int) -> dict[float, str]:
    """Return as many labels of sizes as have room, those of the largest first.

    Parameters
    ----------
    glyph
        Width of a letter, in the unit of the scale.
    most
        How many round numbers to label where points are not on round numbers.
    """
    measured = sizes(plot)
    shown = ticks(measured[0], measured[-1], most) if plot.kind == "points" else measured
    labels: dict[float, str] = {}
    end = math.inf
    unit = "" if plot.kind == "points" else plot.x.unit  # of round numbers the axis names it
    for size in reversed(shown):
        label = spell_x(size, unit)
        half = glyph * (len(label) / 2 + 0.5)
        if scale(size) + half <= end:
            labels[size] = label
            end = scale(size) - half
    return labels


def bound(drawing: Drawing, line: Series, x: Scale, y: Scale, colour: str) -> None:
    """Draw what bounds other lines, with its name above its end."""
    places = [(x(float(point.x)), y(point.y.value)) for point in line.points]
    drawing.line(joined(places), colour, 1.4, dashes=DASHED)
    drawing.text(line.label, places[-1][0], places[-1][1] - 5, "end")


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
