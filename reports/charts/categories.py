# SPDX-License-Identifier: MIT
"""Rows with names: bars or dots with their values, or parts that add up to a whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reports.charts import axes, labels, titles
from reports.charts.axes import DASHED, Frame, Scale
from reports.charts.svg import Drawing, joined, number
from reports.charts.words import hover, short_names, spell_x
from reports.findings.finding import Plot, Point, Series
from reports.web.theme import SERIES, SHAPES, Form
from suite.units import format_point

INDENT = 4.0
"""From the left edge to where bars begin, in pixels."""
NAME, LINE, KEY, GAP = 18.0, 18.0, 15.0, 10.0
"""Heights in pixels: of the name of a row, of a bar, of a line of names of parts, and between."""
BELOW = 24.0
"""Height of the labels below the frame, in pixels."""
BESIDE = 0.5
"""Part of the width that values beside bars may take."""
BOLD = 1.12
"""Width of a bold letter, relative to others."""
SWATCH = 13.0
"""Width of the square before the name of a part, in pixels."""


@dataclass(frozen=True)
class _Rows:
    """A drawing with a named row for each category.

    Parameters
    ----------
    heights
        Of the first bar in each row.
    keys
        Of each row the names of its parts, line by line, with where they begin.
    """

    drawing: Drawing
    frame: Frame
    x: Scale
    heights: dict[str, float]
    keys: dict[str, list[list[tuple[float, int, str]]]]


def draw(plot: Plot, form: Form) -> Drawing:
    """Draw the rows of a plot: sizes in order, others the best first."""
    return _stack(plot, form) if plot.kind == "stack" else _bars(plot, form)


def _rows(plot: Plot, form: Form, lines: int, beside: float) -> _Rows:
    """Draw the axis of values along the width, and name the categories."""
    names = titles.row_titles(plot)
    right = form.width - min(beside, BESIDE * form.width)
    keys = {name: _keys(plot, name, form) for name in names}
    letters = int(form.width / form.glyph / BOLD)
    broken = {name: labels.broken(title, letters) for name, title in names.items()}
    above = {name: NAME + KEY * (len(broken[name]) - 1) for name in names}
    steps = [above[name] + LINE * lines + KEY * len(keys[name]) + GAP for name in names]
    drawing = Drawing(form.width, 4 + sum(steps) + BELOW, form.font)
    frame = Frame(INDENT, right, 4, 4 + sum(steps))
    low, high = axes.limits(plot)
    x = Scale(low, high, frame.left, frame.right, axes.is_far(plot, low, high))
    widest = 2 + max(map(len, axes.tick_labels(axes.ticks(low, high), plot.y.unit).labels.values()))
    most = max(axes.LEAST_TICKS + 1, int((frame.right - frame.left) / form.glyph / widest))
    shown = axes.ticks(low, high, min(most, axes.MOST_TICKS))
    axes.values_across(drawing, frame, x, axes.tick_labels(shown, plot.y.unit).labels, upright=True)
    heights, top = {}, frame.top
    for name, step in zip(names, steps, strict=True):
        for at, text in enumerate(broken[name]):
            drawing.text(text, 0, top + form.font + KEY * at, colour="ink")
        heights[name] = top + above[name] + LINE / 2
        top += step
    level = axes.level(plot)
    if level is not None:
        path = f"M{number(x(level))} {number(frame.top)}V{number(frame.bottom)}"
        drawing.line(path, "muted", 1.2, dashes=DASHED)
    return _Rows(drawing, frame, x, heights, keys)


def _bars(plot: Plot, form: Form) -> Drawing:
    """Draw a bar with its interval for each number, its value and its series' name behind it.

    Where the axis does not begin at zero a bar would have no meaning, and a dot is drawn instead.
    """
    names = short_names(plot.series) if len(plot.series) > 1 else [""]
    texts = [
        [f"{format_point(point.y, plot.y.unit)} {name}".strip() for point in series.points]
        for series, name in zip(plot.series, names, strict=True)
    ]
    beside = 14 + form.glyph * max(len(text) for row in texts for text in row)
    rows = _rows(plot, form, len(plot.series), beside)
    for index, (series, row) in enumerate(zip(plot.series, texts, strict=True)):
        _values(rows, plot, series, index, row)
    return rows.drawing


def _values(rows: _Rows, plot: Plot, series: Series, index: int, texts: Sequence[str]) -> None:
    """Draw the numbers of a series."""
    colour, from_zero = SERIES[index % len(SERIES)], rows.x.low == 0
    ink = labels.colour_of(index) if len(plot.series) > 1 else "ink"
    dots, hovers = [], []
    for (point, low, high), text, title in zip(
        axes.ends(series), texts, hover(plot, series), strict=True
    ):
        y, value = rows.heights[spell_x(point.x)] + LINE * index, point.y.value
        span = joined([(rows.x(low), y), (rows.x(high), y)])
        if from_zero:
            begin, end = sorted((rows.x(0), rows.x(value)))
            rows.drawing.bar(begin, y, end - begin, colour, title)
            rows.drawing.line(span, "ink", 1.6)
        else:
            rows.drawing.line(span, colour, 2)
            dots.append((rows.x(value), y))
            hovers.append(title)
        _write(rows, text, max(rows.x(value), rows.x(high)), y, ink)
    rows.drawing.marks(SHAPES[index % len(SHAPES)], dots, colour, hovers)


def _write(rows: _Rows, text: str, end: float, y: float, colour: str) -> None:
    """Write behind a mark, as far as the drawing goes."""
    rows.drawing.text(text, end + 9, y + 0.36 * rows.drawing.font, colour=colour)


def _stack(plot: Plot, form: Form) -> Drawing:
    """Draw parts end to end, above the whole; a part below zero has a number but no length."""
    points = plot.whole.points if plot.whole else ()
    texts = [format_point(point.y, plot.y.unit) for point in points]
    beside = 14 + form.glyph * max(map(len, texts), default=0)
    rows = _rows(plot, form, 2 if plot.whole else 1, beside)
    starts = dict.fromkeys(rows.heights, 0.0)
    for index, series in enumerate(plot.series):
        for point, text in zip(series.points, hover(plot, series), strict=True):
            name, length = spell_x(point.x), max(0.0, point.y.value)
            begin, end = rows.x(starts[name]), rows.x(starts[name] + length)
            rows.drawing.bar(begin, rows.heights[name], end - begin, _colour(index), text)
            starts[name] += length
    if plot.whole:
        _whole(rows, plot, plot.whole, texts)
    for name, key in rows.keys.items():
        top = rows.heights[name] + LINE * (2 if plot.whole else 1)
        for line, parts in enumerate(key):
            for x, index, text in parts:
                y = top + KEY * line
                rows.drawing.square(x, y - 5, _colour(index))
                rows.drawing.text(text, x + SWATCH, y + 0.36 * rows.drawing.font - 1)
    return rows.drawing


def _whole(rows: _Rows, plot: Plot, whole: Series, texts: Sequence[str]) -> None:
    """Draw what the parts of each row take together, as it was measured by itself."""
    places = []
    for (point, low, high), text in zip(axes.ends(whole), texts, strict=True):
        y, value = rows.heights[spell_x(point.x)] + LINE, rows.x(point.y.value)
        rows.drawing.line(joined([(rows.x(0), y), (value, y)]), "ink", 1.2)
        rows.drawing.line(joined([(rows.x(low), y), (rows.x(high), y)]), "ink", 2)
        _write(rows, text, max(value, rows.x(high)), y, "ink")
        places.append((value, y))
    rows.drawing.marks(SHAPES[1], places, "ink", hover(plot, whole))


def _keys(plot: Plot, name: str, form: Form) -> list[list[tuple[float, int, str]]]:
    """Break the names and numbers of the parts of a row into lines."""
    lines: list[list[tuple[float, int, str]]] = []
    x = form.width
    for index, text in _parts(plot, name) if plot.kind == "stack" else ():
        width = SWATCH + 1.1 * form.glyph * len(text) + 10
        if x + width > form.width:
            lines.append([])
            x = INDENT
        lines[-1].append((x, index, text))
        x += width
    return lines


def _parts(plot: Plot, name: str) -> Iterator[tuple[int, str]]:
    for index, series in enumerate(plot.series):
        for point in _of(series, name):
            yield index, f"{series.label} {format_point(point.y, plot.y.unit)}"
    if plot.whole and _of(plot.whole, name):
        yield -1, plot.whole.label


def _of(series: Series, name: str) -> list[Point]:
    return [point for point in series.points if spell_x(point.x) == name]


def _colour(index: int) -> str:
    return "ink" if index < 0 else SERIES[index % len(SERIES)]
