# SPDX-License-Identifier: MIT
"""Rows with names: bars or dots with their values, or parts that add up to a whole."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from frobench.reports.charts import axes, titles
from frobench.reports.charts.axes import Scale
from frobench.reports.charts.svg import DASHED, Drawing, Frame, joined
from frobench.reports.charts.words import broken, hover, short_names, spell_x
from frobench.reports.findings.finding import Plot, Series
from frobench.reports.web.theme import FONT, GLYPH, SHAPES, Form, colour, label_colour
from frobench.suite.units import format_point

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
Key = list[tuple[float, int, str]]
"""A line of the names of parts: where each begins, the index of its series, and the name."""


def bars_of_row(plot: Plot) -> int:
    """Return how many bars a row has, one below the other."""
    if plot.kind == "stack":
        return 2 if plot.whole else 1
    return len(plot.series)


def texts(plot: Plot) -> list[list[str]]:
    """Return the text behind the bars of each series, or behind the wholes of a stack."""
    drawn = ([plot.whole] if plot.whole else []) if plot.kind == "stack" else [*plot.series]
    names = short_names(drawn) if len(drawn) > 1 else [""] * len(drawn)
    return [
        [f"{format_point(point.y, plot.y.unit)} {name}".strip() for point in series.points]
        for series, name in zip(drawn, names, strict=True)
    ]


def keys(
    plot: Plot, name: str, begin: float, end: float, taken: Callable[[int], float]
) -> list[Key]:
    """Break the names and numbers of the parts of a row into lines.

    begin, end : of a line
    taken : the width of a text with so many letters
    """
    lines: list[Key] = []
    x = end
    for index, text in _parts(plot, name) if plot.kind == "stack" else ():
        width = taken(len(text))
        if x + width > end:
            lines.append([])
            x = begin
        lines[-1].append((x, index, text))
        x += width
    return lines


def _parts(plot: Plot, name: str) -> Iterator[tuple[int, str]]:
    for index, series in enumerate(plot.series):
        for point in series.points:
            if spell_x(point.x) == name:
                yield index, f"{series.label} {format_point(point.y, plot.y.unit)}"
    if plot.whole and any(spell_x(point.x) == name for point in plot.whole.points):
        yield -1, plot.whole.label


@dataclass(frozen=True)
class _Rows:
    """A drawing with a named row for each category, and the height of the first bar in each."""

    drawing: Drawing
    x: Scale
    heights: dict[str, float]

    def write(self, text: str, end: float, y: float, colour: str) -> None:
        """Write behind a mark, as far as the drawing goes."""
        self.drawing.text(text, end + 9, y + 0.36 * FONT, colour=colour)


def draw(plot: Plot, form: Form) -> Drawing:
    """Draw the rows of a plot: sizes in order, others the best first."""
    names, written = titles.row_titles(plot), texts(plot)
    beside = 14 + GLYPH * max((len(text) for row in written for text in row), default=0)
    right = form.width - min(beside, BESIDE * form.width)
    named = {
        name: keys(plot, name, INDENT, form.width, lambda count: SWATCH + 1.1 * GLYPH * count + 10)
        for name in names
    }
    letters = int(form.width / GLYPH / BOLD)
    lines = {name: broken(title, letters) for name, title in names.items()}
    above = {name: NAME + KEY * (len(lines[name]) - 1) for name in names}
    bars = LINE * bars_of_row(plot)
    steps = [above[name] + bars + KEY * len(named[name]) + GAP for name in names]
    bottom = 4 + sum(steps)
    drawing = Drawing(form.width, bottom + BELOW, Frame(INDENT, right, 4, bottom))
    rows = _Rows(drawing, axes.values(plot, INDENT, right), {})
    _grid(drawing, rows.x, plot)
    top = drawing.frame.top
    for name, step in zip(names, steps, strict=True):
        for at, text in enumerate(lines[name]):
            drawing.text(text, 0, top + FONT + KEY * at, colour="ink")
        rows.heights[name] = top + above[name] + LINE / 2
        top += step
    level = axes.level(plot)
    if level is not None:
        drawing.upright(rows.x(level), "muted", 1.2, DASHED)
    if plot.kind == "stack":
        _stack(rows, plot, written)
        for name, key in named.items():
            _name_parts(drawing, key, rows.heights[name] + bars)
    else:
        for index, (series, row) in enumerate(zip(plot.series, written, strict=True)):
            _bars(rows, plot, series, index, row)
    return drawing


def _grid(drawing: Drawing, x: Scale, plot: Plot) -> None:
    """Draw a line from top to bottom at each tick of the values, of which as many as have room."""
    widest = 2 + max(map(len, axes.value_labels(plot).labels.values()))
    most = max(axes.LEAST_TICKS + 1, int((x.end - x.begin) / GLYPH / widest))
    shown = axes.value_labels(plot, min(most, axes.MOST_TICKS)).labels
    for value in shown:
        drawing.upright(x(value))
    drawing.along(x, shown)


def _bars(rows: _Rows, plot: Plot, series: Series, index: int, texts: Sequence[str]) -> None:
    """Draw a bar with its interval for each number of a series, and its value behind it.

    Where the axis does not begin at zero a bar would have no meaning, and a dot is drawn instead.
    """
    paint, from_zero = colour(index), rows.x.low == 0
    ink = label_colour(index) if len(plot.series) > 1 else "ink"
    dots, hovers = [], []
    for (point, low, high), text, title in zip(
        axes.ends(series), texts, hover(plot, series), strict=True
    ):
        y, value = rows.heights[spell_x(point.x)] + LINE * index, rows.x(point.y.value)
        span = joined([(rows.x(low), y), (rows.x(high), y)])
        if from_zero:
            begin, end = sorted((rows.x(0), value))
            rows.drawing.bar(begin, y, end - begin, paint, title)
            rows.drawing.line(span, "ink", 1.6)
        else:
            rows.drawing.line(span, paint, 2)
            dots.append((value, y))
            hovers.append(title)
        rows.write(text, max(value, rows.x(high)), y, ink)
    rows.drawing.marks(SHAPES[index % len(SHAPES)], dots, paint, hovers)


def _stack(rows: _Rows, plot: Plot, texts: Sequence[Sequence[str]]) -> None:
    """Draw parts end to end, above the whole; a part below zero has a number but no length."""
    starts = dict.fromkeys(rows.heights, 0.0)
    for index, series in enumerate(plot.series):
        for point, text in zip(series.points, hover(plot, series), strict=True):
            name, length = spell_x(point.x), max(0.0, point.y.value)
            begin, end = rows.x(starts[name]), rows.x(starts[name] + length)
            rows.drawing.bar(begin, rows.heights[name], end - begin, colour(index), text)
            starts[name] += length
    if plot.whole is None:
        return
    places = []
    for (point, low, high), text in zip(axes.ends(plot.whole), texts[0], strict=True):
        y, value = rows.heights[spell_x(point.x)] + LINE, rows.x(point.y.value)
        rows.drawing.line(joined([(rows.x(0), y), (value, y)]), "ink", 1.2)
        rows.drawing.line(joined([(rows.x(low), y), (rows.x(high), y)]), "ink", 2)
        rows.write(text, max(value, rows.x(high)), y, "ink")
        places.append((value, y))
    rows.drawing.marks(SHAPES[1], places, "ink", hover(plot, plot.whole))


def _name_parts(drawing: Drawing, lines: Sequence[Key], top: float) -> None:
    for line, parts in enumerate(lines):
        for x, index, text in parts:
            y = top + KEY * line
            drawing.square(x, y - 5, colour(index))
            drawing.text(text, x + SWATCH, y + 0.36 * FONT - 1)
