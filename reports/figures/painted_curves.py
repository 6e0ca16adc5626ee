# SPDX-License-Identifier: MIT
"""Lines over sizes as figures: names are at their ends, intervals are bands."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from reports.charts import axes as scales
from reports.charts import labels
from reports.charts.axes import Scale
from reports.charts.curves import mark_size
from reports.charts.words import short_names
from reports.figures.style import (
    EDGE,
    GLYPH,
    LINE,
    MARK,
    RULE,
    SMALL,
    WHISKER,
    WIDTH,
    Room,
    colour,
    marker,
)
from reports.findings.finding import Plot, Point, Series
from reports.web.theme import LIGHT
from suite.printable import printable
from suite.units import format_point

HEIGHT, BELOW = 2.4, 0.42
"""Heights in inches: of the axes, and of the sizes below them."""
LETTERS, LETTER_HEIGHT = 18, 0.13
"""Letters in a line of a name, and the height of a line in inches."""
MARGIN = 0.045
"""Room on both sides of the sizes, as a part of the width."""


def room(plot: Plot) -> Room:
    """Return the room that a plot needs."""
    low, high = scales.limits(plot)
    numbers = scales.tick_labels(scales.ticks(low, high), plot.y.unit).labels.values()
    left = EDGE + GLYPH * (1 + max(map(len, numbers), default=0))
    beside = 0.14 + GLYPH * max(len(line) for name in _names(plot) for line in name)
    return Room(left, WIDTH - left - beside - EDGE, HEIGHT, BELOW)


def _names(plot: Plot) -> list[list[str]]:
    """Return the label at the end of each line: its name, or the value of a single line."""
    if len(plot.series) > 1:
        return [labels.broken(name, LETTERS) for name in short_names(plot.series)]
    return [[format_point(plot.series[0].points[-1].y, plot.y.unit)]]


def draw(axes: Axes, plot: Plot, given: Room) -> None:
    """Draw a line for each series with its intervals as a band, or its points alone."""
    low, high = scales.limits(plot)
    shown = scales.tick_labels(scales.ticks(low, high), plot.y.unit).labels
    axes.set_yscale("log" if scales.is_far(plot, low, high) else "linear")
    axes.set_ylim(low, high)
    axes.set_yticks(list(shown), list(shown.values()))
    axes.grid(visible=True, axis="y")
    _sizes(axes, plot, given.width)
    for index, series in enumerate(plot.series):
        _line(axes, series, index, joined=plot.kind == "curve")
    matched = len(plot.lines) == len(plot.series) > 1
    for index, line in enumerate(plot.lines):
        _bound(axes, line, colour(index) if matched else LIGHT["muted"])
    y = Scale(low, high, HEIGHT, 0.0, scales.is_far(plot, low, high))
    _level(axes, plot, y)
    _write_names(axes, plot, y)


def _level(axes: Axes, plot: Plot, y: Scale) -> None:
    """Draw the level that values are compared with."""
    level = scales.level(plot)
    if level is None:
        return
    axes.axhline(level, color=LIGHT["muted"], linewidth=RULE, dashes=(4, 2))
    at_end = scales.level_at_end(plot, y)
    axes.annotate(
        printable(plot.reference_label),
        (float(at_end), level),
        (-3 if at_end else 3, 3),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        ha="right" if at_end else "left",
        size=SMALL,
        color=LIGHT["muted"],
    )


def _sizes(axes: Axes, plot: Plot, width: float) -> None:
    """Scale the axis of sizes, and label as many of them as have room."""
    sizes = scales.sizes(plot)
    log = scales.is_wide(sizes[0], sizes[-1])
    axes.set_xscale("log" if log else "linear")
    axes.margins(x=MARGIN)
    scale = Scale(sizes[0], sizes[-1], 0.0, width * (1 - 2 * MARGIN), log)
    labels = scales.size_labels(plot, scale, GLYPH, scales.MOST_TICKS)
    axes.set_xticks(list(labels), list(labels.values()))
    axes.minorticks_off()
    axes.set_xlabel(printable(plot.x.label), loc="right")


def _line(axes: Axes, series: Series, index: int, *, joined: bool) -> None:
    x, y = _coordinates(series.points)
    ends = scales.ends(series)
    low, high = [low for _, low, _ in ends], [high for _, _, high in ends]
    if joined:
        axes.fill_between(x, low, high, color=colour(index), alpha=0.18, linewidth=0)
        axes.plot(x, y, color=colour(index), linewidth=LINE)
    axes.vlines(x, low, high, color=colour(index), linewidth=WHISKER)
    size = mark_size(index) * MARK
    axes.plot(x, y, color=colour(index), marker=marker(index), markersize=size, linestyle="")


def _bound(axes: Axes, line: Series, paint: str) -> None:
    """Draw what bounds other lines, with its name above its end."""
    axes.plot(*_coordinates(line.points), color=paint, linewidth=WHISKER, dashes=(4, 2))
    x, y = float(line.points[-1].x), line.points[-1].y.value
    axes.annotate(
        printable(line.label),
        (x, y),
        (0, 3),
        textcoords="offset points",
        ha="right",
        size=SMALL,
        color=paint,
    )


def _write_names(axes: Axes, plot: Plot, y: Scale) -> None:
    """Write the name of each line beside its end."""
    names = _names(plot)
    wanted = [y(one.points[-1].y.value) for one in plot.series]
    heights = [LETTER_HEIGHT * len(lines) + 0.02 for lines in names]
    middles = labels.spread(wanted, heights, HEIGHT + LETTER_HEIGHT)
    for index, (lines, middle) in enumerate(zip(names, middles, strict=True)):
        axes.annotate(
            "\n".join(lines),
            (1.0, 1 - middle / HEIGHT),
            (6, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            size=SMALL,
            weight="bold",
            color=LIGHT[labels.colour_of(index)],
            annotation_clip=False,
        )


def _coordinates(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [float(point.x) for point in points], [point.y.value for point in points]
