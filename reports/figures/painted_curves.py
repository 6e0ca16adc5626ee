# SPDX-License-Identifier: MIT
"""Lines over sizes as figures: names are at their ends, intervals are bands."""

from matplotlib.axes import Axes

from frobench.reports.charts import axes as scales
from frobench.reports.charts.axes import Scale
from frobench.reports.charts.curves import line_names, mark_size, spread
from frobench.reports.charts.words import broken
from frobench.reports.figures import style
from frobench.reports.figures.style import Room, marks, write
from frobench.reports.findings.finding import Plot, Series
from frobench.reports.web.theme import LIGHT, label_colour
from frobench.suite.printable import printable

HEIGHT, BELOW = 2.4, 0.42
"""Heights in inches: of the axes, and of the sizes below them."""
LETTERS, LETTER_HEIGHT = 18, 0.13
"""Letters in a line of a name, and the height of a line in inches."""
MARGIN = 0.045
"""Room on both sides of the sizes, as a part of the width."""


def room(plot: Plot) -> Room:
    """Return the room that a plot needs."""
    numbers = scales.value_labels(plot).labels.values()
    left = style.EDGE + style.GLYPH * (1 + max(map(len, numbers), default=0))
    beside = 0.14 + style.GLYPH * max(len(line) for name in _names(plot) for line in name)
    return Room(left, style.WIDTH - left - beside - style.EDGE, HEIGHT, BELOW)


def _names(plot: Plot) -> list[list[str]]:
    alone = len(plot.series) == 1  # a value, which is not broken
    return [[name] if alone else broken(name, LETTERS) for name in line_names(plot)]


def draw(axes: Axes, plot: Plot, given: Room) -> None:
    """Draw a line for each series with its intervals as a band, or its points alone."""
    y, shown = scales.values(plot, HEIGHT, 0.0), scales.value_labels(plot).labels
    axes.set_yscale("log" if y.log else "linear")
    axes.set_ylim(y.low, y.high)
    axes.set_yticks(list(shown), list(shown.values()))
    axes.grid(visible=True, axis="y")
    _sizes(axes, plot, given.width)
    for index, series in enumerate(plot.series):
        _line(axes, series, index, joined=plot.kind == "curve")
    matched = len(plot.lines) == len(plot.series) > 1
    for index, line in enumerate(plot.lines):
        _bound(axes, line, style.colour(index) if matched else LIGHT["muted"])
    level = scales.level(plot)
    if level is not None:
        axes.axhline(level, color=LIGHT["muted"], linewidth=style.RULE, dashes=(4, 2))
        at, shift, side = (1.0, -3, "right") if scales.level_at_end(plot, y) else (0.0, 3, "left")
        across = axes.get_yaxis_transform()
        name, place = printable(plot.reference_label), (at, level)
        write(axes, name, place, (shift, 3), LIGHT["muted"], xycoords=across, ha=side)
    _write_names(axes, plot, y)


def _sizes(axes: Axes, plot: Plot, width: float) -> None:
    """Scale the axis of sizes, and label as many of them as have room."""
    scale = scales.sizes(plot, 0.0, width * (1 - 2 * MARGIN))
    axes.set_xscale("log" if scale.log else "linear")
    axes.margins(x=MARGIN)
    labels = scales.size_labels(plot, scale, style.GLYPH, scales.MOST_TICKS)
    axes.set_xticks(list(labels), list(labels.values()))
    axes.minorticks_off()
    axes.set_xlabel(printable(plot.x.label), loc="right")


def _line(axes: Axes, series: Series, index: int, *, joined: bool) -> None:
    x, y = _coordinates(series)
    _, low, high = zip(*scales.ends(series), strict=True)
    if joined:
        axes.fill_between(x, low, high, color=style.colour(index), alpha=0.18, linewidth=0)
        axes.plot(x, y, color=style.colour(index), linewidth=style.LINE)
    axes.vlines(x, low, high, color=style.colour(index), linewidth=style.WHISKER)
    marks(axes, (x, y), index, style.colour(index), mark_size(index) * style.MARK)


def _bound(axes: Axes, line: Series, paint: str) -> None:
    """Draw what bounds other lines, with its name above its end."""
    x, y = _coordinates(line)
    axes.plot(x, y, color=paint, linewidth=style.WHISKER, dashes=(4, 2))
    write(axes, printable(line.label), (x[-1], y[-1]), (0, 3), paint, ha="right")


def _write_names(axes: Axes, plot: Plot, y: Scale) -> None:
    names = _names(plot)
    wanted = [y(series.points[-1].y.value) for series in plot.series]
    heights = [LETTER_HEIGHT * len(lines) + 0.02 for lines in names]
    middles = spread(wanted, heights, HEIGHT + LETTER_HEIGHT)
    beside = {"xycoords": "axes fraction", "va": "center", "weight": "bold"}
    for index, (lines, middle) in enumerate(zip(names, middles, strict=True)):
        text, place, paint = (
            "\n".join(lines),
            (1.0, 1 - middle / HEIGHT),
            LIGHT[label_colour(index)],
        )
        write(axes, text, place, (6, 0), paint, annotation_clip=False, **beside)


def _coordinates(series: Series) -> tuple[list[float], list[float]]:
    return [float(point.x) for point in series.points], [point.y.value for point in series.points]
