# SPDX-License-Identifier: MIT
"""Plots drawn as figures; see `reports.charts.draw`, which draws them for pages."""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reports.charts.axes import MOST_TICKS, Scale, is_wide, limits, ticks, value_labels
from reports.charts.words import place
from reports.figures.style import LINE, MARK, MARKERS, RULE, SMALL, TEXT, TITLE, WHISKER, WIDTH
from reports.findings.finding import Plot, Point, Series
from reports.web.theme import LIGHT, SERIES
from suite.printable import printable
from suite.units import format_value

CURVE_HEIGHT, ROW_HEIGHT, LINE_HEIGHT = 2.4, 0.24, 0.16
"""Heights in inches: of the axes of a curve, of a category, of each further series in one."""
HEAD, FOOT, SIZES, LEGEND = 0.44, 0.5, 0.2, 0.18
"""Heights in inches: above the axes beside the title, below them, of the name of an axis of sizes
there, and of a row of the legend."""
TITLE_LINE, TITLE_LETTERS = 0.18, 74
"""Height in inches of a line of the title, and its letters at most."""
EDGE = 0.12
"""Width of the margins in inches."""
GLYPH, FIGURE = 0.066, 0.062
"""Widths of a letter of a category's name and of a number, in inches."""
MARGINS = 1.1
"""Width of a curve's axes, in widths of what is drawn between them."""
NAME_LETTERS = 40
"""Letters in a line of a category's name, at most."""
ENTRIES, ENTRY_LETTERS = 2, 40
"""Series side by side in a legend, and the letters of a name beyond which each has its own row."""


def paint(plot: Plot, source: str) -> Figure:
    """Return a plot as a figure.

    Parameters
    ----------
    source
        What was measured, and when: the line at the foot.
    """
    is_curve = plot.kind in {"curve", "points"}
    names = list(dict.fromkeys(place(p.x) for one in plot.series for p in one.points))
    entries = len(plot.series) + bool(plot.whole)
    rows = math.ceil(entries / _columns(plot)) if entries > 1 else 0
    inner = CURVE_HEIGHT if is_curve else _rows_height(plot, len(names))
    foot = FOOT + LEGEND * rows + SIZES * is_curve
    title = wrap(printable(plot.title), TITLE_LETTERS)
    height = HEAD + TITLE_LINE * len(title) + inner + foot
    figure = Figure(figsize=(WIDTH, height))
    left = EDGE + (
        _tick_width(plot) if is_curve else GLYPH * min(NAME_LETTERS, max(map(len, names)))
    )
    right = EDGE if is_curve else 2 * EDGE + FIGURE * _longest_value(plot)
    inside = (left / WIDTH, foot / height, 1 - (left + right) / WIDTH, inner / height)
    axes = figure.add_axes(inside)
    if is_curve:
        _curve(axes, plot)
    else:
        _rows(axes, plot, names)
    _words(figure, plot, title, source)
    if rows:
        _legend(figure, axes, plot)
    return figure


def _rows_height(plot: Plot, rows: int) -> float:
    lines = 2 if plot.kind == "stack" and plot.whole else 1
    lines = lines if plot.kind == "stack" else len(plot.series)
    return rows * (ROW_HEIGHT + LINE_HEIGHT * (lines - 1))


def _columns(plot: Plot) -> int:
    """Return how many series have room side by side in the legend."""
    return 1 if any(len(one.label) > ENTRY_LETTERS for one in plot.series) else ENTRIES


def _tick_width(plot: Plot) -> float:
    """Return the width of the numbers along the axis of values, in inches."""
    labels = value_labels(ticks(*limits(plot)), plot.y.unit).values()
    return FIGURE * (1 + max(map(len, labels), default=0))


def _longest_value(plot: Plot) -> int:
    """Return the letters of the longest value beside the rows; none stand beside parts alone."""
    whole = [plot.whole] if plot.whole else []
    shown = whole if plot.kind == "stack" else plot.series
    values = (format_value(p.y.value, plot.y.unit) for one in shown for p in one.points)
    return max(map(len, values), default=0)


def _words(figure: Figure, plot: Plot, title: Sequence[str], source: str) -> None:
    """Write the title above the axes, below it what the values are, and the source at the foot."""
    height, x = figure.get_figheight(), EDGE / WIDTH
    top = 0.1
    figure.text(x, 1 - top / height, "\n".join(title), size=TITLE, weight="bold", va="top")
    top += TITLE_LINE * len(title)
    values, muted = printable(plot.y.label), LIGHT["muted"]
    figure.text(x, 1 - (top + 0.06) / height, values, size=TEXT, color=muted, va="top")
    figure.text(x, 0.1 / height, printable(source), size=SMALL, color=muted, va="center")


def _legend(figure: Figure, axes: Axes, plot: Plot) -> None:
    """Name the series in rows below the axes."""
    marks: list[Line2D | Patch] = []
    for index, series in enumerate(plot.series):
        label = printable(series.label)
        if plot.kind == "stack":
            marks.append(Patch(color=_colour(index), label=label))
        else:
            style: Literal["-", ""] = "-" if plot.kind == "curve" else ""
            marker, colour = _marker(index), _colour(index)
            marks.append(
                Line2D([], [], linestyle=style, marker=marker, color=colour, ms=MARK, label=label)
            )
    if plot.whole:
        label = printable(plot.whole.label)
        ink = LIGHT["ink"]
        marks.append(
            Line2D([], [], linestyle="", marker=MARKERS[1], color=ink, ms=MARK, label=label)
        )
    height = figure.get_figheight()
    figure.legend(
        handles=marks,
        loc="lower left",
        bbox_to_anchor=(EDGE / WIDTH, 0.24 / height),
        ncols=_columns(plot),
        borderpad=0.0,
        borderaxespad=0.0,
        columnspacing=2.0,
        handlelength=1.4,
        labelspacing=0.35,
    )
    axes.set_zorder(1)


def _curve(axes: Axes, plot: Plot) -> None:
    """Draw a line for each series with its intervals as a band, or its points alone."""
    low, high = limits(plot)
    _value_axis(axes, plot, low, high, upright=False)
    drawn = (*plot.series, *plot.lines)
    sizes = sorted({float(point.x) for series in drawn for point in series.points})
    if is_wide(sizes[0], sizes[-1]):
        axes.set_xscale("log")
    labels = {size: place(size, plot.x.unit) for size in sizes}
    if plot.kind == "points":  # they lie anywhere, so that round numbers say more
        shown = ticks(sizes[0], sizes[-1], MOST_TICKS - 1)
        labels = {size: place(size, plot.x.unit) for size in shown}
    labels = _apart(axes, labels, sizes[0], sizes[-1])
    axes.set_xticks(list(labels), list(labels.values()))
    axes.minorticks_off()
    axes.set_xlabel(printable(plot.x.label))
    for index, series in enumerate(plot.series):
        _line(axes, series, index, joined=plot.kind == "curve")
    matched = len(plot.lines) == len(plot.series) > 1
    for index, line in enumerate(plot.lines):
        colour = _colour(index) if matched else LIGHT["muted"]
        axes.plot(*_places(line.points), color=colour, linewidth=WHISKER, dashes=(4, 2))
        x, y = float(line.points[-1].x), line.points[-1].y.value
        text = printable(line.label)
        axes.annotate(
            text, (x, y), (0, 3), textcoords="offset points", ha="right", size=SMALL, color=colour
        )
    if plot.reference is not None:
        axes.axhline(plot.reference, color=LIGHT["muted"], linewidth=RULE, dashes=(4, 2))
        at = (0.0, plot.reference)
        axes.annotate(
            printable(plot.reference_label),
            at,
            (3, 3),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            size=SMALL,
            color=LIGHT["muted"],
        )


def _apart(axes: Axes, labels: dict[float, str], low: float, high: float) -> dict[float, str]:
    """Return the sizes whose labels have room, from the largest on downwards."""
    room = axes.get_position().width * WIDTH / FIGURE / MARGINS
    scale = Scale(low, high, 0.0, room, is_wide(low, high))
    shown: dict[float, str] = {}
    end = math.inf
    for size in sorted(labels, reverse=True):
        half = len(labels[size]) / 2 + 1
        if scale(size) + half <= end:
            shown[size] = labels[size]
            end = scale(size) - half
    return shown


def _line(axes: Axes, series: Series, index: int, *, joined: bool) -> None:
    colour, (x, y) = _colour(index), _places(series.points)
    ends = [_ends(point) for point in series.points]
    low, high = [end[0] for end in ends], [end[1] for end in ends]
    if joined:
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(x, y, color=colour, linewidth=LINE)
    axes.vlines(x, low, high, color=colour, linewidth=WHISKER)
    axes.plot(x, y, color=colour, marker=_marker(index), markersize=MARK, linestyle="")


def _rows(axes: Axes, plot: Plot, names: Sequence[str]) -> None:
    """Draw a row for each category: dots with whiskers, or parts that add up to a whole."""
    low, high = limits(plot)
    _value_axis(axes, plot, low, high, upright=True)
    axes.set_yticks(range(len(names)), ["\n".join(wrap(name, NAME_LETTERS)) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    axes.spines["left"].set_visible(False)
    at = {name: float(row) for row, name in enumerate(names)}
    if plot.kind == "stack":
        _stack(axes, plot, at)
        return
    lines = len(plot.series)
    for index, series in enumerate(plot.series):
        below = (index - (lines - 1) / 2) * LINE_HEIGHT / (_rows_height(plot, 1))
        _dots(axes, plot, series, [at[place(p.x)] + below for p in series.points], index)
    if plot.reference is not None:
        axes.axvline(plot.reference, color=LIGHT["muted"], linewidth=RULE, dashes=(4, 2))


def _dots(axes: Axes, plot: Plot, series: Series, rows: Sequence[float], index: int | None) -> None:
    """Draw a dot with a whisker for each number, its value at the right; without index in ink."""
    colour = LIGHT["ink"] if index is None else _colour(index)
    ends = [_ends(point) for point in series.points]
    axes.hlines(rows, [e[0] for e in ends], [e[1] for e in ends], color=colour, linewidth=WHISKER)
    values = [point.y.value for point in series.points]
    marker = _marker(1 if index is None else index)
    axes.plot(values, rows, color=colour, marker=marker, markersize=MARK, linestyle="")
    for value, row in zip(values, rows, strict=True):
        text = format_value(value, plot.y.unit)
        axes.annotate(
            text,
            (1.0, row),
            (5, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            size=SMALL,
            annotation_clip=False,
        )


def _stack(axes: Axes, plot: Plot, at: dict[str, float]) -> None:
    starts = dict.fromkeys(at, 0.0)
    half = 0.25 if plot.whole else 0.0
    for index, series in enumerate(plot.series):
        for point in series.points:
            name, length = place(point.x), max(0.0, point.y.value)
            axes.barh(at[name] - half, length, 0.4, starts[name], color=_colour(index))
            starts[name] += length
    if plot.whole:
        rows = [at[place(point.x)] + half for point in plot.whole.points]
        _dots(axes, plot, plot.whole, rows, None)


def _value_axis(axes: Axes, plot: Plot, low: float, high: float, *, upright: bool) -> None:
    """Scale the axis of values, and label round numbers on it, as many as have room."""
    longest = max(len(format_value(end, plot.y.unit)) for end in (low, high))
    room = axes.get_position().width * WIDTH / FIGURE / (3 + longest)
    shown = ticks(low, high, min(MOST_TICKS, max(2, int(room)))) if upright else ticks(low, high)
    labels = value_labels(shown, plot.y.unit)
    scale = "log" if is_wide(low, high) else "linear"
    if upright:
        axes.set_xscale(scale)
        axes.set_xlim(low, high)
        axes.set_xticks(list(labels), list(labels.values()))
        axes.grid(visible=True, axis="x")
    else:
        axes.set_yscale(scale)
        axes.set_ylim(low, high)
        axes.set_yticks(list(labels), list(labels.values()))
        axes.grid(visible=True, axis="y")
    axes.minorticks_off()


def _places(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [float(point.x) for point in points], [point.y.value for point in points]


def _ends(point: Point) -> tuple[float, float]:
    """Return the ends of an interval; what has none has no length."""
    y = point.y
    return (y.value if y.low is None else y.low), (y.value if y.high is None else y.high)


def _colour(index: int) -> str:
    return LIGHT[SERIES[index % len(SERIES)]]


def _marker(index: int) -> str:
    return MARKERS[index % len(MARKERS)]
