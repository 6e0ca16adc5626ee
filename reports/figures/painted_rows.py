# SPDX-License-Identifier: MIT
"""Rows with names as figures: bars or dots with their values, or parts that add up to a whole."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from matplotlib.axes import Axes

from reports.charts import axes as scales
from reports.charts import labels
from reports.charts.titles import row_titles
from reports.charts.words import short_names, spell_x
from reports.figures.style import (
    EDGE,
    GLYPH,
    MARK,
    RULE,
    SMALL,
    WHISKER,
    WIDTH,
    Room,
    colour,
    marker,
)
from reports.findings.finding import Plot, Series
from reports.web.theme import LIGHT
from suite.printable import printable
from suite.units import format_point

GAP, LINE, KEY = 0.1, 0.16, 0.14
"""Heights in inches: between rows, of a bar, of a line of names of parts."""
BELOW = 0.22
"""Height in inches of the numbers below the axes."""
NAME_LETTERS = 28
"""Letters in a line of a category's name, at most."""
POINTS = 72.0
"""In an inch."""
LEAST_WIDTH = 2.2
"""Width of the axes in inches, at least."""
BAR = 0.75
"""Thickness of a bar as a part of its line."""


def room(plot: Plot) -> Room:
    """Return the room that a plot needs."""
    names = [_broken(name) for name in row_titles(plot).values()]
    left = EDGE + GLYPH * (1 + max(len(line) for lines in names for line in lines))
    beside = 0.16 + GLYPH * max((len(text) for row in _texts(plot) for text in row), default=0)
    width = max(LEAST_WIDTH, WIDTH - left - beside - EDGE)
    most = max(map(len, names)) * KEY
    height = max(LINE * _lines(plot) + KEY * _key_lines(plot, width), most) + GAP
    return Room(left, width, height * len(names), BELOW)


def _broken(name: str) -> list[str]:
    return wrap(name, NAME_LETTERS) or [name]


def _lines(plot: Plot) -> int:
    if plot.kind == "stack":
        return 2 if plot.whole else 1
    return len(plot.series)


def _texts(plot: Plot) -> list[list[str]]:
    """Return the text behind the bars of each series, or behind the wholes of a stack."""
    drawn = ([plot.whole] if plot.whole else []) if plot.kind == "stack" else [*plot.series]
    names = short_names(drawn) if len(drawn) > 1 else [""] * len(drawn)
    return [
        [f"{format_point(point.y, plot.y.unit)} {name}".strip() for point in series.points]
        for series, name in zip(drawn, names, strict=True)
    ]


def draw(axes: Axes, plot: Plot, given: Room) -> None:
    """Draw a row for each category: sizes in order, others the best first."""
    names = row_titles(plot)
    low, high = scales.limits(plot)
    longest = max(map(len, scales.tick_labels([low, high], plot.y.unit).labels.values()))
    most = max(scales.LEAST_TICKS + 1, int(given.width / GLYPH / (3 + longest)))
    ticks = scales.ticks(low, high, min(most, scales.MOST_TICKS))
    shown = scales.tick_labels(ticks, plot.y.unit).labels
    axes.set_xscale("log" if scales.is_far(plot, low, high) else "linear")
    axes.set_xlim(low, high)
    axes.set_xticks(list(shown), list(shown.values()))
    axes.grid(visible=True, axis="x")
    axes.set_yticks(range(len(names)), ["\n".join(_broken(name)) for name in names.values()])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    axes.spines["left"].set_visible(False)
    axes.minorticks_off()
    rows = _Rows(axes, plot, [*names], given)
    if plot.kind == "stack":
        rows.stack()
    else:
        rows.bars()
    level = scales.level(plot)
    if level is not None:
        axes.axvline(level, color=LIGHT["muted"], linewidth=RULE, dashes=(4, 2))


class _Rows:
    """The rows of a plot, each one unit high."""

    def __init__(self, axes: Axes, plot: Plot, names: Sequence[str], given: Room) -> None:
        self.axes, self.plot, self.given = axes, plot, given
        self.inches = given.height / len(names)
        self.at = {name: float(row) for row, name in enumerate(names)}
        self.texts = _texts(plot)

    def line(self, name: str, line: float) -> float:
        """Return the height of the middle of a line of a row."""
        used = LINE * _lines(self.plot) + KEY * _key_lines(self.plot, self.given.width)
        return self.at[name] + (LINE * (line + 0.5) - used / 2) / self.inches

    def bars(self) -> None:
        """Draw a bar for each number, or a dot where the axis does not begin at zero."""
        for index, (series, texts) in enumerate(zip(self.plot.series, self.texts, strict=True)):
            rows = [self.line(spell_x(point.x), index) for point in series.points]
            values = [point.y.value for point in series.points]
            from_zero = self.axes.get_xlim()[0] == 0
            if from_zero:
                thick = BAR * LINE / self.inches
                self.axes.barh(rows, values, thick, color=colour(index))
            else:
                paint, mark = colour(index), marker(index)
                self.axes.plot(values, rows, color=paint, marker=mark, ms=MARK, linestyle="")
            self.whiskers(series, rows, LIGHT["ink"] if from_zero else colour(index))
            ink = labels.colour_of(index) if len(self.plot.series) > 1 else "ink"
            self.write(series, rows, texts, ink)

    def stack(self) -> None:
        """Lay parts end to end, above the whole, and name them below."""
        starts = dict.fromkeys(self.at, 0.0)
        for index, series in enumerate(self.plot.series):
            for point in series.points:
                name, length = spell_x(point.x), max(0.0, point.y.value)
                thick, y = BAR * LINE / self.inches, self.line(name, 0)
                self.axes.barh(y, length, thick, starts[name], color=colour(index))
                starts[name] += length
        if self.plot.whole:
            whole = self.plot.whole
            rows = [self.line(spell_x(point.x), 1) for point in whole.points]
            values = [point.y.value for point in whole.points]
            ink = LIGHT["ink"]
            self.axes.plot(values, rows, color=ink, marker=marker(1), ms=MARK, linestyle="")
            self.whiskers(whole, rows, ink)
            self.write(whole, rows, self.texts[0], "ink")
        for name in self.at:
            self.keys(name)

    def keys(self, name: str) -> None:
        """Name the parts of a row below it."""
        for line, parts in enumerate(_keys(self.plot, name, self.given.width)):
            y = self.line(name, _lines(self.plot)) + KEY * line / self.inches
            for x, paint, text in parts:
                self.annotate("\N{BLACK SQUARE}", 0.0, y, x, paint)
                self.annotate(text, 0.0, y, x + GLYPH * 1.6, LIGHT["muted"])

    def annotate(self, text: str, x: float, y: float, inches: float, paint: str) -> None:
        """Write so many inches behind a place along the width, a part of the axes' width."""
        self.axes.annotate(
            text,
            (x, y),
            (inches * POINTS, 0),
            xycoords=self.axes.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            size=SMALL,
            color=paint,
            annotation_clip=False,
        )

    def whiskers(self, series: Series, rows: Sequence[float], paint: str) -> None:
        """Draw the intervals of a series."""
        ends = scales.ends(series)
        low, high = [low for _, low, _ in ends], [high for _, _, high in ends]
        self.axes.hlines(rows, low, high, color=paint, linewidth=WHISKER)

    def write(self, series: Series, rows: Sequence[float], texts: Sequence[str], ink: str) -> None:
        """Write the values of a series behind their marks."""
        low, high = self.axes.get_xlim()
        across = scales.Scale(low, high, 0.0, 1.0, scales.is_far(self.plot, low, high))
        for (point, _, end), y, text in zip(scales.ends(series), rows, texts, strict=True):
            x = min(1.0, across(max(end, point.y.value)))
            self.annotate(printable(text), x, y, 0.08, LIGHT[ink])


def _key_lines(plot: Plot, width: float) -> int:
    if plot.kind != "stack":
        return 0
    return max(len(_keys(plot, name, width)) for name in scales.ordered(plot))


def _keys(plot: Plot, name: str, width: float) -> list[list[tuple[float, str, str]]]:
    """Break the names and numbers of the parts of a row into lines, with their colours."""
    lines: list[list[tuple[float, str, str]]] = []
    x = width
    for paint, text in _parts(plot, name):
        taken = GLYPH * (len(text) + 3)
        if x + taken > width:
            lines.append([])
            x = 0.0
        lines[-1].append((x, paint, text))
        x += taken
    return lines


def _parts(plot: Plot, name: str) -> Iterator[tuple[str, str]]:
    for index, series in enumerate(plot.series):
        for point in series.points:
            if spell_x(point.x) == name:
                value = format_point(point.y, plot.y.unit)
                yield colour(index), f"{printable(series.label)} {value}"
    if plot.whole and any(spell_x(point.x) == name for point in plot.whole.points):
        yield LIGHT["ink"], printable(plot.whole.label)
