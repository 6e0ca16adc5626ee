# SPDX-License-Identifier: MIT
"""Axes as the charts want them: bare, with round ticks, and sized in pixels."""

import math
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reports.findings.model import Plot, Series
from reports.theme import LIGHT, Form
from reports.words import place, printable
from suite.units import format_value

DECADE = 10.0
MOST_TICKS = 6
PIXELS_PER_INCH = 72
INDENT = 24.0
"""Room for half of the first tick's label, in pixels."""
ROW, LINE = 44.0, 18.0
"""Height of a category's row, and of each further line in it, in pixels."""


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
    even = MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in even if low <= tick <= high]


def canvas(form: Form, height: float, margins: tuple[float, float, float, float]) -> Axes:
    """Return bare axes; `margins` are left, right, top and bottom in pixels."""
    left, right, top, bottom = margins
    size = (form.width / PIXELS_PER_INCH, height / PIXELS_PER_INCH)
    axes = Figure(figsize=size, dpi=PIXELS_PER_INCH, frameon=False).add_axes(
        (
            left / form.width,
            bottom / height,
            1 - (left + right) / form.width,
            1 - (top + bottom) / height,
        ),
        frameon=False,
    )
    axes.tick_params(length=0, labelsize=form.font, pad=6)
    axes.set_axisbelow(True)
    return axes


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


def value_axis(axes: Axes, which: Literal["x", "y"], plot: Plot, most: int = MOST_TICKS) -> None:
    """Scale and label the axis of values, with a grid line at each tick."""
    low, high = limits(plot)
    shown = ticks(low, high, most)
    axes.set(**{f"{which}scale": "log" if is_wide(low, high) else "linear"})
    axes.set(**{f"{which}lim": (low, high), f"{which}ticks": shown})
    axes.set(**{f"{which}ticklabels": [format_value(tick, plot.y.unit) for tick in shown]})
    axes.minorticks_off()
    axes.grid(axis=which, color=LIGHT["rule"], linewidth=1)


def size_axis(axes: Axes, plot: Plot, form: Form) -> None:
    """Scale the axis of sizes and label as many of them as there is room for."""
    drawn = (*plot.series, *plot.lines)
    sizes = sorted({float(point.x) for series in drawn for point in series.points})
    if is_wide(sizes[0], sizes[-1]):
        axes.set_xscale("log")
    shown = sizes[:: -math.ceil(len(sizes) / form.x_labels)]
    if plot.kind == "points":  # they lie anywhere, so that round numbers say more
        shown = ticks(sizes[0], sizes[-1], form.x_labels // 2)
        axes.set_xlim(sizes[0], sizes[-1])
    axes.set_xticks(shown, [place(size, plot.x.unit) for size in shown])
    axes.minorticks_off()
    axes.set_xlabel(printable(plot.x.label), fontsize=form.font, color=LIGHT["muted"], labelpad=8)


def category_axis(plot: Plot, form: Form, lines: int) -> tuple[Axes, dict[str, float]]:
    """Return axes with a named row for each category, and where the rows' first lines are."""
    names = list(dict.fromkeys(place(p.x) for s in plot.series for p in s.points))
    step = ROW + LINE * (lines - 1)
    drawn = [plot.whole] if plot.whole else plot.series
    values = [format_value(p.y.value, plot.y.unit) for s in drawn for p in s.points]
    margin = 12 + form.glyph * max(map(len, values))
    axes = canvas(form, step * len(names) + 46, (INDENT, margin, 4, 42))
    axes.set(ylim=(0, step * len(names)), yticks=[])
    label = 2 + max(len(format_value(end, plot.y.unit)) for end in limits(plot))
    value_axis(axes, "x", plot, max(2, int((form.width - margin) / form.glyph / label)))
    tops = {name: step * (len(names) - row) for row, name in enumerate(names)}
    for name, top in tops.items():
        write(axes, name, (0, top), form, (-INDENT, -form.font))
    axes.set_xlabel(plot.y.label, fontsize=form.font, color=LIGHT["muted"], labelpad=6)
    return axes, {name: top - form.font - 15 for name, top in tops.items()}


def write(
    axes: Axes, text: str, at: tuple[float, float], form: Form, offset: tuple[float, float]
) -> None:
    """Write a text some pixels from a point: a part of the axes' width, and a height."""
    axes.annotate(
        printable(text),
        at,
        xycoords=axes.get_yaxis_transform(),
        xytext=offset,
        textcoords="offset pixels",
        fontsize=form.font,
        annotation_clip=False,
    )


def note_line(axes: Axes, level: float, label: str, form: Form) -> None:
    """Draw a level across the axes with its name on it."""
    axes.axhline(level, color=LIGHT["muted"], linewidth=1.2, dashes=(4, 3), zorder=1)
    write(axes, label, (0, level), form, (2, 5))


def bound_line(axes: Axes, line: Series, colour: str, form: Form) -> None:
    """Draw what bounds other lines, with its name above its end."""
    x = [float(point.x) for point in line.points]
    y = [point.y.value for point in line.points]
    axes.plot(x, y, color=colour, linewidth=1.4, dashes=(4, 3), zorder=1)
    axes.annotate(
        printable(line.label),
        (x[-1], y[-1]),
        xytext=(0, 5),
        textcoords="offset pixels",
        horizontalalignment="right",
        fontsize=form.font,
        annotation_clip=False,
    )
