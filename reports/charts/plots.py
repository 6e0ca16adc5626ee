# SPDX-License-Identifier: MIT
"""Plots of findings: lines or points over sizes, and bars, dots or stacked parts in named rows.

Several series have a legend above the chart, which `legend` names.
"""

from textwrap import wrap

from markupsafe import Markup

from frobench.reports.charts import axes
from frobench.reports.charts.axes import Scale, describe, hover, row_titles, short_names, spell_x
from frobench.reports.charts.svg import Fluid
from frobench.reports.findings.finding import Plot, Series
from frobench.reports.web.theme import SHAPES, kind
from frobench.suite.units import format_point

Labelled = tuple[Scale, dict[float, str]]
"""An axis with the labels of its ticks."""
HEIGHT, TOP, BELOW = 264, 12, 40
"""Pixels: of a drawing over sizes, above its frame, and of the labels below."""
LETTERS = 42
"""Letters in a line of the name of a row, which has room on a telephone."""
NAME, BAR, THICK, GAP = 17, 18, 15, 10
"""Pixels: of a line of a name, of a bar with the room around it and without, and between rows."""
LONGEST = 60.0
"""Percent of the width, of the axis of rows; values stand behind."""
GLYPH, MOST = 3.2, 5
"""Percent of the width that a letter takes on a telephone, and labels of an axis of points."""


def draw(plot: Plot) -> Markup:
    """Return the plot as an inline SVG element."""
    painter = _curves if plot.kind in {"curve", "points"} else _rows
    return painter(plot).svg(describe(plot))


def legend(plot: Plot) -> list[tuple[str, str, str]]:
    """Return the class, the mark and the name of each of several series, and of the whole."""
    if len(plot.series) == 1 and not plot.whole:
        return []
    marks = [SHAPES[at % len(SHAPES)] for at in range(len(plot.series))]
    if plot.kind in {"dots", "stack"}:
        marks = [SHAPES[1]] * len(plot.series)
    names = zip(map(kind, range(len(marks))), marks, short_names(plot.series), strict=True)
    return [*names, *([("whole", SHAPES[0], plot.whole.label)] if plot.whole else [])]


def frame(drawing: Fluid, up: Labelled, across: Labelled, name: str) -> None:
    """Draw a line across at each tick of an upright axis, and write the labels of both axes."""
    (y, heights), (x, labels) = up, across
    for value, label in heights.items():
        drawing.line([(0, y(value)), (100, y(value))], "grid")
        drawing.text(0, y(value) + 4, label, anchor="end", dx=-7)
    for value, label in labels.items():
        drawing.text(x(value), drawing.height - BELOW + 17, label, anchor="middle")
    drawing.text(100, drawing.height - 4, name, anchor="end")


def _curves(plot: Plot) -> Fluid:
    """Draw a line for each series, its intervals as a band with whiskers; or its points alone."""
    drawing, bottom = Fluid(HEIGHT), HEIGHT - BELOW
    y = axes.values(plot, bottom, TOP)
    x = axes.sizes(plot, 0, 100) if plot.kind == "points" else axes.sizes(plot, 3, 97)
    sizes = axes.size_labels(plot, x, GLYPH, MOST)
    frame(drawing, (y, axes.value_labels(plot).labels), (x, sizes), plot.x.label)
    level = axes.level(plot)
    if level is not None:
        drawing.line([(0, y(level)), (100, y(level))], "level")
        at_end = axes.level_at_end(plot, y, level)
        place = (100, "end") if at_end else (0, "start")
        drawing.text(place[0], y(level) - 5, plot.reference_label, anchor=place[1])
    matched = len(plot.lines) == len(plot.series) > 1
    for at, line in enumerate(plot.lines):
        places = [(x(float(point.x)), y(point.y.value)) for point in line.points]
        drawing.path(places, f"level k{kind(at)}" if matched else "level")
        drawing.text(*places[-1][:1], places[-1][1] - 5, line.label, anchor="end")
    drawn = [
        [(x(float(p.x)), y(low), y(p.y.value), y(high)) for p, low, high in axes.ends(series)]
        for series in plot.series
    ]
    for at, ends in enumerate(drawn if plot.kind == "curve" else ()):
        edge = [(at_x, low) for at_x, low, _, _ in ends]
        edge += [(at_x, high) for at_x, _, _, high in ends[::-1]]
        drawing.area(edge, f"f{kind(at)} band")
    for at, (series, ends) in enumerate(zip(plot.series, drawn, strict=True)):
        for (at_x, low, value, high), title in zip(ends, hover(plot, series), strict=True):
            drawing.cased([(at_x, low), (at_x, high)], f"k{kind(at)} whisker")
            drawing.mark(at_x, value, at, f"f{kind(at)} dot", title)
        if plot.kind == "curve":
            drawing.cased([(at_x, value) for at_x, _, value, _ in ends], f"k{kind(at)}")
    return drawing


def _rows(plot: Plot) -> Fluid:
    """Draw a row for each category: sizes in order, others the best first."""
    titles = {name: wrap(title, LETTERS) or [title] for name, title in row_titles(plot).items()}
    stack = plot.kind == "stack"
    bars = (2 if plot.whole else 1) if stack else len(plot.series)
    bottom = sum(NAME * len(lines) + BAR * bars + GAP for lines in titles.values())
    drawing, x = Fluid(bottom + 20), axes.values(plot, 0, LONGEST)
    for value, label in axes.value_labels(plot, 4).labels.items():
        drawing.line([(x(value), 0), (x(value), bottom)], "grid")
        drawing.tick(x(value), bottom + 15, label)
    heights, top = {}, 0.0
    for name, lines in titles.items():
        for at, text in enumerate(lines):
            drawing.text(0, top + 13 + NAME * at, text, "name")
        heights[name] = top + NAME * len(lines) + BAR / 2
        top += NAME * len(lines) + BAR * bars + GAP
    level = axes.level(plot)
    if level is not None:
        drawing.line([(x(level), 0), (x(level), bottom)], "level")
    if stack:
        _parts(drawing, plot, x, heights)
        below = {name: height + BAR for name, height in heights.items()}
        _values(drawing, plot, plot.whole, x, below, "whole") if plot.whole else None
    for at, series in enumerate(() if stack else plot.series):
        own = {name: height + BAR * at for name, height in heights.items()}
        _values(drawing, plot, series, x, own, kind(at))
    return drawing


def _values(  # noqa: PLR0913, PLR0917 - a series, where it is drawn and how
    drawing: Fluid, plot: Plot, series: Series, x: Scale, heights: dict[str, float], shown: str
) -> None:
    """Draw a bar with its interval for each number of a series, and its value behind it.

    Where the axis does not begin at zero a bar would have no meaning, and a dot is drawn instead,
    as for the whole of a stack.
    """
    for (point, low, high), title in zip(axes.ends(series), hover(plot, series), strict=True):
        y, value = heights[spell_x(point.x)], x(point.y.value)
        span = [(x(low), y), (x(high), y)]
        if x.low == 0 and shown != "whole":
            begin, end = sorted((x(0), value))
            drawing.bar(begin, y, end - begin, THICK, f"f{shown} dot", title)
            drawing.line(span, "ci")
        else:
            drawing.line(span, f"k{shown}")
            drawing.mark(value, y, 0, f"f{shown} dot", title)
        text = format_point(point.y, plot.y.unit)
        drawing.text(max(value, x(high)), y + 4, text, "name", dx=9)


def _parts(drawing: Fluid, plot: Plot, x: Scale, heights: dict[str, float]) -> None:
    """Draw parts end to end; a part below zero has a number in the table but no length."""
    starts = dict.fromkeys(heights, 0.0)
    for at, series in enumerate(plot.series):
        for point, title in zip(series.points, hover(plot, series), strict=True):
            name, length = spell_x(point.x), max(0.0, point.y.value)
            begin, end = x(starts[name]), x(starts[name] + length)
            drawing.bar(begin, heights[name], end - begin, THICK, f"f{kind(at)} dot", title)
            starts[name] += length
