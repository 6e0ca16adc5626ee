# SPDX-License-Identifier: MIT
"""Lines over sizes, or points alone: names are at their ends, intervals are bands."""

from collections.abc import Sequence

from frobench.reports.charts import axes
from frobench.reports.charts.axes import Scale
from frobench.reports.charts.svg import DASHED, Drawing, Frame, Place, joined
from frobench.reports.charts.words import broken, hover, short_names
from frobench.reports.findings.finding import Plot
from frobench.reports.web.theme import FONT, GLYPH, SHAPES, Form, colour, label_colour
from frobench.suite.units import format_point

LINE = 14.0
"""Height of a line of a name, in pixels."""
FAR = 9.0
"""Pixels from a name to the end of its line, above which a stroke joins them."""
SMALLER, LEAST_MARK = 0.18, 0.45
"""How much smaller the marks of each further series are, and the size of the smallest, relative to
those of the first."""
TOP, BELOW = 16.0, 40.0
"""Heights above the frame, and of the labels below it, in pixels."""


def draw(plot: Plot, form: Form) -> Drawing:
    """Draw a line for each series, its intervals as a band with whiskers; or its points alone."""
    bottom = form.height - BELOW
    y, shown = axes.values(plot, bottom, TOP), axes.value_labels(plot).labels
    left = 10 + GLYPH * max(map(len, shown.values()), default=0)
    names = [broken(name, form.letters) for name in line_names(plot)]
    right = form.width - (18 + GLYPH * max(len(line) for name in names for line in name))
    drawing = Drawing(form.width, form.height, Frame(left, right, TOP, bottom))
    inset = 0.0 if plot.kind == "points" else 0.045 * (right - left)
    x = axes.sizes(plot, left + inset, right - inset)
    drawing.heights(y, shown)
    drawing.along(x, axes.size_labels(plot, x, GLYPH, form.x_labels), plot.x.label)
    level = axes.level(plot)
    if level is not None:
        drawing.across(y(level), "muted", 1.2, DASHED)
        at, anchor = (right, "end") if axes.level_at_end(plot, y) else (left + 2, "start")
        drawing.text(plot.reference_label, at, y(level) - 5, anchor)
    matched = len(plot.lines) == len(plot.series) > 1
    for index, line in enumerate(plot.lines):
        places = [(x(float(point.x)), y(point.y.value)) for point in line.points]
        drawing.line(joined(places), colour(index) if matched else "muted", 1.4, dashes=DASHED)
        drawing.text(line.label, places[-1][0], places[-1][1] - 5, "end")
    _lines(drawing, plot, x, y)
    last = [line.points[-1] for line in plot.series]
    _write_names(drawing, names, [(x(float(point.x)), y(point.y.value)) for point in last])
    return drawing


def line_names(plot: Plot) -> list[str]:
    """Return the label at the end of each line: its name, or the value of a single line."""
    if len(plot.series) > 1:
        return short_names(plot.series)
    return [format_point(plot.series[0].points[-1].y, plot.y.unit)]


def _lines(drawing: Drawing, plot: Plot, x: Scale, y: Scale) -> None:
    """Draw the bands of all series, and above them whiskers, lines and marks.

    A line has a margin of the background's colour, so that it is visible on the bands of others.
    The marks of each series are smaller than those of the one before, so that all are visible.
    """
    ends = [
        [(x(float(p.x)), y(low), y(p.y.value), y(high)) for p, low, high in axes.ends(series)]
        for series in plot.series
    ]
    if plot.kind == "curve":
        for index, points in enumerate(ends):
            edge = [(at, low) for at, low, _, _ in points]
            edge += [(at, high) for at, _, _, high in points[::-1]]
            drawing.area(joined(edge), colour(index))
    for index, (series, points) in enumerate(zip(plot.series, ends, strict=True)):
        places = [(at, value) for at, _, value, _ in points]
        paths = [("".join(joined([(at, low), (at, high)]) for at, low, _, high in points), 1.5)]
        if plot.kind == "curve":
            paths.append((joined(places), 2.0))
        for paint, wider in (("paper", 2), (colour(index), 0)):
            for path, width in paths:
                drawing.line(path, paint, width + wider)
        shape = SHAPES[index % len(SHAPES)]
        drawing.marks(shape, places, colour(index), hover(plot, series), mark_size(index))


def mark_size(index: int) -> float:
    """Return the size of the marks of a series, relative to those of the first."""
    return max(LEAST_MARK, 1 - SMALLER * index)


def _write_names(drawing: Drawing, names: Sequence[Sequence[str]], places: Sequence[Place]) -> None:
    """Write the name of each line at its end, or beside it with a stroke between."""
    heights = [LINE * len(lines) + 2 for lines in names]
    middles = spread([y for _, y in places], heights, drawing.frame.bottom + LINE)
    begin = drawing.frame.right + 10
    for index, (lines, (x, y), middle) in enumerate(zip(names, places, middles, strict=True)):
        if abs(middle - y) > FAR or begin - x > 4 * FAR:
            path = joined([(x + 6, y), (begin - 3, middle)])
            drawing.line(path, colour(index), 1.0, dashes="1 2")
        for row, line in enumerate(lines):
            at = middle + LINE * (row - (len(lines) - 1) / 2) + 0.35 * FONT
            drawing.text(line, begin, at, colour=label_colour(index))


def spread(wanted: Sequence[float], heights: Sequence[float], bottom: float) -> list[float]:
    """Return the middles of labels so that none overlaps another, as near as can be.

    wanted : where their middles should be, downwards
    bottom : what none should pass
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    middles = [*wanted]
    end = float("-inf")
    for index in order:
        middles[index] = max(middles[index], end + heights[index] / 2)
        end = middles[index] + heights[index] / 2
    end = bottom
    for index in reversed(order):
        middles[index] = min(middles[index], end - heights[index] / 2)
        end = middles[index] - heights[index] / 2
    return middles
