# SPDX-License-Identifier: MIT
"""Plots drawn as SVG that follows the page's theme.

Each plot is drawn in two forms, one for a desk and one for a telephone, because text that is
scaled down with its chart cannot be read. The page shows the one that fits.
"""

from dataclasses import dataclass

from reports.charts.axes import (
    DASHED,
    INDENT,
    LINE,
    ROW,
    Frame,
    Scale,
    along,
    bound,
    grid,
    is_wide,
    limits,
    name_axis,
    sizes,
    ticks,
    value_labels,
)
from reports.charts.svg import Drawing, joined, number
from reports.charts.words import describe, hover, place
from reports.findings.finding import Plot, Series
from reports.web.theme import SERIES, SHAPES, Form
from suite.units import format_value


def draw(plot: Plot, form: Form) -> str:
    """Return the plot as an inline SVG element."""
    painters = {"curve": _curve, "points": _curve, "dots": _dots, "stack": _stack}
    return painters[plot.kind](plot, form).svg(describe(plot))


def _curve(plot: Plot, form: Form) -> Drawing:
    """Draw a line for each series, its intervals as a band with whiskers; or its points alone."""
    drawing = Drawing(form.width, form.height, form.font)
    low, high = limits(plot)
    labels = value_labels(ticks(low, high), plot.y.unit)
    left = 10 + form.glyph * max(map(len, labels.values()), default=0)
    frame = Frame(left, form.width - 16, 32, form.height - 46)
    y = Scale(low, high, frame.bottom, frame.top, is_wide(low, high))
    first, last, places = sizes(plot, form)
    inset = 0.0 if plot.kind == "points" else 0.045 * (frame.right - left)
    x = Scale(first, last, left + inset, frame.right - inset, is_wide(first, last))
    grid(drawing, frame, y, labels, upright=False)
    along(drawing, frame, x, places)
    name_axis(drawing, frame, plot.x.label)
    drawing.text(plot.y.label, 0, frame.top - 16)
    if plot.reference is not None:
        at = y(plot.reference)
        path = f"M{number(left)} {number(at)}H{number(frame.right)}"
        drawing.line(path, "muted", 1.2, dashes=DASHED)
        drawing.text(plot.reference_label, left + 2, at - 5)
    matched = len(plot.lines) == len(plot.series) > 1
    for index, line in enumerate(plot.lines):
        bound(drawing, line, x, y, _colour(index) if matched else "muted")
    _lines(drawing, plot, x, y)
    return drawing


def _lines(drawing: Drawing, plot: Plot, x: Scale, y: Scale) -> None:
    """Draw the bands of all series, and above them whiskers, lines and marks.

    Paper parts a line from the bands of others, which it would not stand out from.
    """
    ends = [
        [(x(float(at)), y(low), y(value), y(high)) for at, low, value, high in _ends(series)]
        for series in plot.series
    ]
    if plot.kind == "curve":
        for index, points in enumerate(ends):
            edge = [(at, low) for at, low, _, _ in points]
            edge += [(at, high) for at, _, _, high in points[::-1]]
            drawing.area(joined(edge), _colour(index), 0.2)
    for index, (series, points) in enumerate(zip(plot.series, ends, strict=True)):
        places = [(at, value) for at, _, value, _ in points]
        paths = [("".join(joined([(at, low), (at, high)]) for at, low, _, high in points), 1.5)]
        if plot.kind == "curve":
            paths.append((joined(places), 2.0))
        for colour, wider in (("paper", 2), (_colour(index), 0)):
            for path, width in paths:
                drawing.line(path, colour, width + wider)
        drawing.marks(_shape(index), places, _colour(index), hover(plot, series))


@dataclass(frozen=True)
class _Rows:
    """A drawing with a named row for each category, and the heights of the rows' first lines."""

    drawing: Drawing
    frame: Frame
    x: Scale
    heights: dict[str, float]


def _rows(plot: Plot, form: Form, lines: int) -> _Rows:
    """Draw the axis of values along the width, and name the categories."""
    names = list(dict.fromkeys(place(p.x) for s in plot.series for p in s.points))
    step = ROW + LINE * (lines - 1)
    drawn = [plot.whole] if plot.whole else plot.series
    values = [format_value(p.y.value, plot.y.unit) for s in drawn for p in s.points]
    margin = 12 + form.glyph * max(map(len, values))
    drawing = Drawing(form.width, step * len(names) + 46, form.font)
    frame = Frame(INDENT, form.width - margin, 4, drawing.height - 42)
    low, high = limits(plot)
    x = Scale(low, high, frame.left, frame.right, is_wide(low, high))
    label = 2 + max(len(format_value(end, plot.y.unit)) for end in (low, high))
    most = max(2, int((form.width - margin) / form.glyph / label))
    grid(drawing, frame, x, value_labels(ticks(low, high, most), plot.y.unit), upright=True)
    name_axis(drawing, frame, plot.y.label)
    heights = {}
    for row, name in enumerate(names):
        base = frame.top + row * step + form.font
        drawing.text(name, 0, base)
        heights[name] = base + 15
    return _Rows(drawing, frame, x, heights)


def _dots(plot: Plot, form: Form) -> Drawing:
    """Draw a dot with a whisker for each number, its value beside it."""
    rows = _rows(plot, form, len(plot.series))
    for index, series in enumerate(plot.series):
        _dot_line(rows, plot, series, LINE * index, (_shape(index), _colour(index)))
    if plot.reference is not None:
        at = number(rows.x(plot.reference))
        path = f"M{at} {number(rows.frame.top)}V{number(rows.frame.bottom)}"
        rows.drawing.line(path, "muted", 1.2, dashes=DASHED)
    return rows.drawing


def _stack(plot: Plot, form: Form) -> Drawing:
    """Lay parts end to end, above the whole; a part below zero has a number but no length."""
    rows = _rows(plot, form, 2 if plot.whole else 1)
    starts = dict.fromkeys(rows.heights, 0.0)
    for index, series in enumerate(plot.series):
        for point, text in zip(series.points, hover(plot, series), strict=True):
            name, length = place(point.x), max(0.0, point.y.value)
            begin, end = rows.x(starts[name]), rows.x(starts[name] + length)
            rows.drawing.bar(begin, rows.heights[name], end - begin, _colour(index), text)
            starts[name] += length
    if plot.whole:
        for point in plot.whole.points:
            y = rows.heights[place(point.x)] + LINE
            path = joined([(rows.x(0), y), (rows.x(point.y.value), y)])
            rows.drawing.line(path, "ink", 1.2)
        _dot_line(rows, plot, plot.whole, LINE, (_shape(1), "ink"))
    return rows.drawing


def _dot_line(rows: _Rows, plot: Plot, series: Series, below: float, mark: tuple[str, str]) -> None:
    """Draw the dots of a series, so many pixels below the first line of their rows."""
    shape, colour = mark
    places = []
    for point, (_, low, value, high) in zip(series.points, _ends(series), strict=True):
        y = rows.heights[place(point.x)] + below
        rule = joined([(rows.frame.left, y), (rows.frame.right, y)])
        rows.drawing.line(rule, "rule", 0.8)
        rows.drawing.line(joined([(rows.x(low), y), (rows.x(high), y)]), colour, 2)
        value_text = format_value(value, plot.y.unit)
        rows.drawing.text(value_text, rows.frame.right + 10, y + 0.36 * rows.drawing.font)
        places.append((rows.x(value), y))
    rows.drawing.marks(shape, places, colour, hover(plot, series))


def _ends(series: Series) -> list[tuple[float | str, float, float, float]]:
    """Return places, low ends, values and high ends; what has no interval has no length."""
    return [
        (
            point.x,
            point.y.value if point.y.low is None else point.y.low,
            point.y.value,
            point.y.value if point.y.high is None else point.y.high,
        )
        for point in series.points
    ]


def _colour(index: int) -> str:
    return SERIES[index % len(SERIES)]


def _shape(index: int) -> str:
    return SHAPES[index % len(SHAPES)]
