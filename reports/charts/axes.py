# SPDX-License-Identifier: MIT
"""Axes as the charts want them: bare, with round ticks, and sized in pixels."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from reports.charts.svg import Drawing, joined, number
from reports.charts.words import place
from reports.findings.finding import Plot, Series
from reports.web.theme import Form
from suite.units import format_value

DECADE = 10.0
MOST_TICKS = 6
INDENT = 24.0
"""Room for half of the first tick's label, in pixels."""
ROW, LINE = 44.0, 18.0
"""Height of a category's row, and of each further line in it, in pixels."""
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
    """The part of a drawing in which the marks lie, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


def is_wide(low: float, high: float) -> bool:
    """Tell whether a range is positive and a decade or more, so that it wants a log scale."""
    return low > 0 and high / low >= DECADE


def ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return at most `most` round numbers inside a range, evenly spaced or nearly.

    On a log scale they are powers of ten, with 2 and 5 between where there is room.
    """
    if not is_wide(low, high):
        return even_ticks(low, high, most)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ladders = [[m * 10.0**e for e in exponents for m in (1, 2, 5)]]
    strides = range(1, len(exponents) + 1)
    ladders += [[10.0**e for e in exponents if e % stride == 0] for stride in strides]
    inside = ([tick for tick in ladder if low <= tick <= high] for ladder in ladders)
    return next(found for found in inside if len(found) <= most)


def even_ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round numbers inside a range, evenly spaced."""
    if not high > low:
        return [low]
    exponent = math.floor(math.log10((high - low) / max(most, 1)))
    steps = (m * 10.0**e for e in range(exponent, exponent + 3) for m in (1, 2, 4, 5))
    for step in steps:
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [float(f"{index * step:.12g}") for index in range(first, last + 1)]
    return [low]


def limits(plot: Plot) -> tuple[float, float]:
    """Return the range of the value axis, with room around what it must show."""
    if plot.kind == "stack":
        return 0.0, 1.08 * _tallest(plot)
    points = [point for series in (*plot.series, *plot.lines) for point in series.points]
    shown = [end for p in points for end in (p.y.value, p.y.low, p.y.high) if end is not None]
    if plot.reference is not None:
        shown.append(plot.reference)
    low, high = min(shown), max(shown)
    if is_wide(low, high):
        return low / 1.35, high * 1.35
    return min(0.0, 1.1 * low), 1.08 * max(0.0, high) or 1.0


def _tallest(plot: Plot) -> float:
    """Return the length of the longest bar of a stack, or of the whole beside it."""
    ends = [p.y.high or p.y.value for p in plot.whole.points] if plot.whole else []
    bars: dict[float | str, float] = {}
    for point in (point for series in plot.series for point in series.points):
        bars[point.x] = bars.get(point.x, 0.0) + max(0.0, point.y.value)
    return max(*ends, *bars.values(), 0.0) or 1.0


def grid(
    drawing: Drawing, frame: Frame, scale: Scale, labels: dict[float, str], *, upright: bool
) -> None:
    """Draw a line across the frame at each tick of the values, with its label.

    Parameters
    ----------
    upright
        Whether values lie along the width, so that the lines stand.
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
    """Name the axis along the width."""
    middle = (frame.left + frame.right) / 2
    drawing.text(text, middle, frame.bottom + 14 + 2 * drawing.font, "middle")


def sizes(plot: Plot, form: Form) -> tuple[float, float, dict[float, str]]:
    """Return the ends of the axis of sizes, and as many labels as there is room for."""
    drawn = (*plot.series, *plot.lines)
    found = sorted({float(point.x) for series in drawn for point in series.points})
    shown = found[:: -math.ceil(len(found) / form.x_labels)]
    if plot.kind == "points":  # they lie anywhere, so that round numbers say more
        shown = ticks(found[0], found[-1], form.x_labels // 2)
    return found[0], found[-1], {size: place(size, plot.x.unit) for size in shown}


def value_labels(shown: Iterable[float], unit: str) -> dict[float, str]:
    """Spell the ticks of an axis of values."""
    return {tick: format_value(tick, unit) for tick in shown}


def bound(drawing: Drawing, line: Series, x: Scale, y: Scale, colour: str) -> None:
    """Draw what bounds other lines, with its name above its end."""
    places = [(x(float(point.x)), y(point.y.value)) for point in line.points]
    drawing.line(joined(places), colour, 1.4, dashes=DASHED)
    drawing.text(line.label, places[-1][0], places[-1][1] - 5, "end")
