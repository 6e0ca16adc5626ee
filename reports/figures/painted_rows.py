# SPDX-License-Identifier: MIT
"""Rows with names as figures: bars or dots with their values, or parts that add up to a whole."""

from collections.abc import Sequence
from textwrap import wrap

from matplotlib.axes import Axes

from frobench.reports.charts import axes as scales
from frobench.reports.charts.categories import Key, bars_of_row, keys, texts
from frobench.reports.charts.titles import row_titles
from frobench.reports.charts.words import spell_x
from frobench.reports.figures import style
from frobench.reports.figures.style import Room, marks, write
from frobench.reports.findings.finding import Plot, Series
from frobench.reports.web.theme import LIGHT, label_colour
from frobench.suite.printable import printable

GAP, LINE, KEY = 0.1, 0.16, 0.14
"""Heights in inches: between rows, of a bar, of a line of names of parts."""
BELOW = 0.22
"""Height in inches of the numbers below the axes."""
NAME_LETTERS = 28
"""Letters in a line of a category's name, at most."""
LEAST_WIDTH = 2.2
"""Width of the axes in inches, at least."""
BAR = 0.75
"""Thickness of a bar as a part of its line."""


def room(plot: Plot) -> Room:
    """Return the room that a plot needs."""
    names = [_broken(name) for name in row_titles(plot).values()]
    left = style.EDGE + style.GLYPH * (1 + max(len(line) for lines in names for line in lines))
    beside = 0.16 + style.GLYPH * max((len(text) for row in texts(plot) for text in row), default=0)
    width = max(LEAST_WIDTH, style.WIDTH - left - beside - style.EDGE)
    height = max(_used(plot, width), max(map(len, names)) * KEY) + GAP
    return Room(left, width, height * len(names), BELOW)


def _broken(name: str) -> list[str]:
    return wrap(name, NAME_LETTERS) or [name]


def _used(plot: Plot, width: float) -> float:
    """Return the height in inches of the bars of a row and of the names below them."""
    most = max(len(_keys(plot, name, width)) for name in row_titles(plot))
    return LINE * bars_of_row(plot) + KEY * most


def _keys(plot: Plot, name: str, width: float) -> list[Key]:
    return keys(plot, name, 0.0, width, lambda letters: style.GLYPH * (letters + 3))


def draw(axes: Axes, plot: Plot, given: Room) -> None:
    """Draw a row for each category: sizes in order, others the best first."""
    names = row_titles(plot)
    x = scales.values(plot, 0.0, 1.0)
    longest = max(map(len, scales.tick_labels([x.low, x.high], plot.y.unit).labels.values()))
    most = max(scales.LEAST_TICKS + 1, int(given.width / style.GLYPH / (3 + longest)))
    shown = scales.value_labels(plot, min(most, scales.MOST_TICKS)).labels
    axes.set_xscale("log" if x.log else "linear")
    axes.set_xlim(x.low, x.high)
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
        axes.axvline(level, color=LIGHT["muted"], linewidth=style.RULE, dashes=(4, 2))


class _Rows:
    """The rows of a plot, each one unit high."""

    def __init__(self, axes: Axes, plot: Plot, names: Sequence[str], given: Room) -> None:
        self.axes, self.plot, self.width = axes, plot, given.width
        self.inches = given.height / len(names)
        self.at = {name: float(row) for row, name in enumerate(names)}
        self.texts = texts(plot)
        self.used = _used(plot, given.width)
        self.thick = BAR * LINE / self.inches

    def line(self, name: str, line: float) -> float:
        """Return the height of the middle of a line of a row."""
        return self.at[name] + (LINE * (line + 0.5) - self.used / 2) / self.inches

    def bars(self) -> None:
        """Draw a bar for each number, or a dot where the axis does not begin at zero."""
        for index, (series, written) in enumerate(zip(self.plot.series, self.texts, strict=True)):
            rows = [self.line(spell_x(point.x), index) for point in series.points]
            values = [point.y.value for point in series.points]
            paint, whiskers = style.colour(index), style.colour(index)
            if self.axes.get_xlim()[0] == 0:
                self.axes.barh(rows, values, self.thick, color=paint)
                whiskers = LIGHT["ink"]
            else:
                marks(self.axes, (values, rows), index, paint)
            ink = label_colour(index) if len(self.plot.series) > 1 else "ink"
            self.values(series, rows, written, whiskers, LIGHT[ink])

    def stack(self) -> None:
        """Lay parts end to end, above the whole, and name them below."""
        starts = dict.fromkeys(self.at, 0.0)
        for index, series in enumerate(self.plot.series):
            for point in series.points:
                name, length = spell_x(point.x), max(0.0, point.y.value)
                y = self.line(name, 0)
                self.axes.barh(y, length, self.thick, starts[name], color=style.colour(index))
                starts[name] += length
        if whole := self.plot.whole:
            rows = [self.line(spell_x(point.x), 1) for point in whole.points]
            values, ink = [point.y.value for point in whole.points], LIGHT["ink"]
            marks(self.axes, (values, rows), 1, ink)
            self.values(whole, rows, self.texts[0], ink, ink)
        for name in self.at:
            top = self.line(name, bars_of_row(self.plot))
            for line, parts in enumerate(_keys(self.plot, name, self.width)):
                y = top + KEY * line / self.inches
                for x, index, text in parts:
                    self.annotate("\N{BLACK SQUARE}", 0.0, y, x, style.colour(index))
                    self.annotate(text, 0.0, y, x + style.GLYPH * 1.6, LIGHT["muted"])

    def values(
        self, series: Series, rows: Sequence[float], texts: Sequence[str], whiskers: str, ink: str
    ) -> None:
        """Draw the intervals of a series, and write its values behind its marks."""
        ends = scales.ends(series)
        _, low, high = zip(*ends, strict=True)
        self.axes.hlines(rows, low, high, color=whiskers, linewidth=style.WHISKER)
        across = scales.values(self.plot, 0.0, 1.0)
        for (point, _, end), y, text in zip(ends, rows, texts, strict=True):
            x = min(1.0, across(max(end, point.y.value)))
            self.annotate(text, x, y, 0.08, ink)

    def annotate(self, text: str, x: float, y: float, inches: float, paint: str) -> None:
        """Write so many inches behind a place along the width, a part of the axes' width."""
        shift, across = (inches * 72, 0), self.axes.get_yaxis_transform()
        options = {"xycoords": across, "va": "center", "annotation_clip": False}
        write(self.axes, printable(text), (x, y), shift, paint, **options)
