# SPDX-License-Identifier: MIT
"""The small charts: the bar of an axis, the roofline, and what stands in the row of an answer.

A row is as wide on a telephone as on a desk, so that what fits there fits everywhere.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from frobench.reports.charts.axes import (
    Scale,
    describe,
    even_ticks,
    interval,
    is_wide,
    spell_x,
    ticks,
)
from frobench.reports.charts.plots import BELOW, frame
from frobench.reports.charts.svg import LATE, Fluid
from frobench.reports.findings.finding import RATIO, Finding, Plot, Series
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_ends, format_point, format_value, prefixed

HEIGHT, TOP, BOTTOM, MIDDLE, OTHERS = 66, 16, 50, 27, 43
"""Pixels: of a bar's drawing, where its frame begins and ends, of the bar, and of the dots of other
runs."""
THICK = 14
MOST_TICKS, MOST_OTHERS = 4, 20
"""Ticks of a bar, and dots of other runs; of more, every so many and the greatest."""
ROOM = 1.06
"""Length of the axis as a multiple of the largest number on it."""
ROOF_HEIGHT = 286
"""Pixels of the roofline's drawing."""
FRAME = ROOF_HEIGHT - BELOW
"""Pixels from its top to the axis of intensities."""
KINDS = ("1", "2", "3", "4")
"""Ends of the classes of ceilings, the highest first; slower precisions are left to the table."""
ROOF_ROOM = 1.6
"""What is left above and below the points of the roofline, as a factor."""
LINE = 14.0
"""From one label to the next, in pixels."""

ROW = 16
"""Height of a bar with its label, in pixels."""
LONGEST_BAR, LONGEST_LINE = 48.0, 58.0
"""Percent of the width, of bars and of lines; their labels follow."""
LABEL, NAME = 13, 8
"""Characters of the label behind a bar, and of the name behind a line, that have room."""
MOST_ROWS, LEAST_POINTS = 3, 3
NAMED_ROW, MOST_NAMED, MOST_LETTERS = 25, 2, 30
"""Height of a bar with its name above it, how many of them, and letters of that line, at most."""
STRIP_ROW = 30
"""Height of a strip with its name above it, in pixels."""
COLOURS = KINDS[:2]
"""Ends of the classes of the first line or row and of the others; of lines there are no more."""
APART = 13.0
"""Height of a label at the end of a line, in pixels."""
INTERVAL_ROOM = 0.15
"""What is left on both sides of an interval, as a part of what is shown."""
Rows = Sequence[tuple[str, Estimate]]


@dataclass(frozen=True)
class Bar:
    """What a bar shows.

    sheet, sheet_name : what a datasheet allows, and what its mark is called
    others : the values of other runs
    lower_is_better : whether a short bar is a good one, which it then says, in another colour
    """

    value: Estimate
    unit: str
    label: str
    sheet: float | None = None
    sheet_name: str = ""
    others: Sequence[float] = ()
    lower_is_better: bool = False


def bar(shown: Bar, longest: float) -> Markup:
    """Draw a number from zero, its interval, its datasheet, and other runs below it.

    longest : what the axis must hold besides, so that bars of one unit can be compared
    """
    value, (low, high) = shown.value.value, interval(shown.value)
    top = ROOM * max(value, high, shown.sheet or 0.0, longest, *shown.others)
    drawing = Fluid(HEIGHT)
    factor, _ = prefixed(value, shown.unit)
    for tick in even_ticks(0.0, top / factor, MOST_TICKS):
        at = 100 * tick * factor / top
        drawing.line([(at, TOP), (at, BOTTOM)], "grid" if tick else "zero")
        drawing.tick(at, HEIGHT - 3, f"{tick:,.6g}")
    colour = "f0" if shown.lower_is_better else "f1"
    drawing.bar(0, MIDDLE, 100 * value / top, THICK, colour)
    if shown.lower_is_better:
        drawing.text(0, 10, "\N{LEFTWARDS ARROW} lower is better")
    if shown.value.low is not None:
        ends = [100 * max(0.0, end) / top for end in (low, high)]
        drawing.line([(end, MIDDLE) for end in ends], "ci")
    if shown.sheet is not None:
        at = 100 * shown.sheet / top
        drawing.line([(at, MIDDLE - 11), (at, MIDDLE + 11)], "sheet")
        anchor = "middle" if at < LATE / 2 else "end"
        label = f"{shown.sheet_name} {format_value(shown.sheet / factor, '')}"
        drawing.text(at, 10, label, anchor=anchor, dx=4)
    every = max(1, math.ceil((len(shown.others) - 1) / (MOST_OTHERS - 1)))
    for other in [*shown.others[:-1:every], *shown.others[-1:]]:
        drawing.dot(100 * other / top, OTHERS, 3.5, "spec")
    return drawing.svg(shown.label)


def roofline(plot: Plot, names: dict[str, str], memory: str) -> Markup:
    """Draw ceilings with their names, and a point for each product.

    names : the label at the end of a ceiling, by its precision
    memory : the label of the slope
    """
    pairs = sorted(zip(plot.series, plot.lines, strict=True), key=lambda both: -_peak(both[1]))
    shown = [(kind, *both) for kind, both in zip(KINDS, pairs, strict=False)]
    points = [point for _, *both in shown for line in both for point in line.points]
    across = [float(point.x) for point in points]
    up = [point.y.value for point in points]
    x = Scale(min(across), max(across), 0, 100, log=True)
    y = Scale(min(up) / ROOF_ROOM, max(up) * ROOF_ROOM, FRAME, 0, log=True)
    drawing = Fluid(ROOF_HEIGHT)
    factor, _ = prefixed(_peak(shown[0][2]), plot.y.unit)  # of the unit that the page names
    exponents = range(math.ceil(math.log10(y.low)), math.floor(math.log10(y.high)) + 1)
    heights = [10.0**exponent for exponent in exponents] or ticks(y.low, y.high)
    rates = {tick: f"{tick / factor:,.6g}" for tick in heights}
    intensities = {tick: format_value(tick, "") for tick in ticks(x.low, x.high, MOST_TICKS)}
    frame(drawing, (y, rates), (x, intensities), "FLOP per byte")
    drawing.line([(0, FRAME), (100, FRAME)], "zero")
    for kind, _, roof in shown:
        drawing.line([(x(float(p.x)), y(p.y.value)) for p in roof.points], f"k{kind}")
    for kind, series, _ in reversed(shown):
        for point in series.points:
            at = x(float(point.x)), y(point.y.value)
            drawing.dot(*at, 3.8, f"f{kind} dot", square=kind != "1")
    last = -math.inf
    for kind, series, roof in shown:
        last = max(y(_peak(roof)), last + LINE)
        name = names.get(series.label, series.label)
        drawing.text(100, last + 4, name, f"lab l{kind}", dx=7)
    slope = shown[0][2].points[0]
    drawing.text(x(float(slope.x)), y(slope.y.value) + 20, memory, "lab", dx=6)
    return drawing.svg(describe(plot))


def _peak(roof: Series) -> float:
    return roof.points[-1].y.value


def chart(
    lead: Finding,
    plots: Sequence[Plot],
    launches: Mapping[str, Sequence[float]],
    names: Mapping[str, str],
) -> Markup:
    """Return the small chart of an answer.

    plots : of its exercise: the first is taken that shows what the answer was computed from
    launches : the launch medians in seconds, by name, of cases behind the answer whose launches are
        in two modes; they are shown instead
    names : short names of series and categories
    """
    if launches:
        return _strips(launches)
    for plot in plots:
        shown = sorted(
            (replace(line, label=names.get(line.label, line.label)) for line in plot.series),
            key=lambda line: _first_case(line, lead),
        )
        shown = [line for line in shown if _first_case(line, lead) < len(lead.cases)]
        same = lead.unit == plot.y.unit or lead.unit != RATIO  # else a ratio is not what it shows
        if shown and same and plot.kind == "curve" and _is_course(shown[0], lead):
            return _lines(plot, shown[: len(COLOURS)])
        if shown and plot.kind == "dots" and lead.unit == plot.y.unit:
            own = set(lead.cases)  # the bar of the answer comes first
            first = sorted(shown[0].points, key=lambda point: own.isdisjoint(point.cases))
            called = [(spell_x(point.x, plot.x.unit), point.y) for point in first[:MOST_ROWS]]
            return _bars([(names.get(name, name), value) for name, value in called], plot.y.unit)
    if lead.value is None:
        return Markup()
    if lead.unit == RATIO and lead.value.low is not None:
        return _interval(lead.value)
    return _bars([("", lead.value)], lead.unit)


def _first_case(series: Series, lead: Finding) -> int:
    """Return the index of the first case behind an answer that a series shows."""
    shown = {name for point in series.points for name in point.cases}
    return next((at for at, name in enumerate(lead.cases) if name in shown), len(lead.cases))


def _is_course(series: Series, lead: Finding) -> bool:
    """Tell whether a line says more of an answer than its interval: it is of no first point."""
    own = [at for at, point in enumerate(series.points) if set(point.cases) & set(lead.cases)]
    return len(series.points) >= LEAST_POINTS and max(own) > 0


def _lines(plot: Plot, shown: Sequence[Series]) -> Markup:
    """Draw lines over sizes, with the name of each at its end, or its last value if it is alone."""
    points = [point for line in shown for point in line.points]
    values, sizes = [point.y.value for point in points], [float(point.x) for point in points]
    low, high, first, last = min(values), max(values), min(sizes), max(sizes)
    wide = is_wide(low, high)
    y = Scale(low if wide else min(0.0, low), high, 32, 5, wide)
    x = Scale(first, last, 0, LONGEST_LINE, is_wide(first, last))
    drawing = Fluid(46)
    drawing.line([(0, 32), (LONGEST_LINE, 32)], "grid")
    if plot.reference_label and low <= plot.reference <= high:
        drawing.line([(0, y(plot.reference)), (LONGEST_LINE, y(plot.reference))], "zero")
    ends, spelled = [], []
    for kind, line in zip(COLOURS, shown, strict=False):
        drawing.line([(x(float(p.x)), y(p.y.value)) for p in line.points], f"k{kind}")
        end = line.points[-1]
        drawing.dot(x(float(end.x)), y(end.y.value), 3, f"f{kind}", square=kind != "1")
        both = [
            (format_point(p.y, plot.y.unit), spell_x(p.x, plot.x.unit))
            for p in (line.points[0], end)
        ]
        spelled.append(f"{line.label}: {', '.join(f'{value} at {at}' for value, at in both)}")
        alone = len(shown) == 1 or len(line.label) > NAME
        ends.append((y(end.y.value), kind, both[-1][0] if alone else line.label))
    above = -math.inf
    for at, kind, label in sorted(ends):
        above = max(at, above + APART)
        drawing.text(LONGEST_LINE, above + 4, label, f"lab l{kind}", dx=8)
    drawing.text(0, 44, spell_x(first, plot.x.unit))
    drawing.text(LONGEST_LINE, 44, spell_x(last, plot.x.unit), anchor="end")
    return drawing.svg(f"{plot.title}. {'; '.join(spelled)}.")


def _bars(rows: Rows, unit: str) -> Markup:
    """Draw a bar for each number, with its name behind it, or above it where that is too long."""
    longest = max(abs(value.value) for _, value in rows) or 1.0
    texts = [format_point(value, unit) for _, value in rows]
    labels = [f"{name} {text}".strip() for (name, _), text in zip(rows, texts, strict=True)]
    above = any(name for name, _ in rows) and any(len(label) > LABEL for label in labels)
    shown = rows[:MOST_NAMED] if above else rows
    drawing = Fluid((NAMED_ROW if above else ROW) * len(shown) + 2)
    spelled = []
    for at, ((name, value), text) in enumerate(zip(shown, texts, strict=False)):
        part, colour = max(0.0, value.value), "f1" if at == 0 else "f0"
        if above:
            _name(drawing, NAMED_ROW * at, text, name)
            drawing.bar(0, NAMED_ROW * at + 19, 100 * part / longest, 6, colour)
        else:
            length = LONGEST_BAR * part / longest
            drawing.bar(0, ROW * at + 7.5, length, 11, colour)
            drawing.text(length, ROW * at + 12, labels[at], dx=5)
        spelled.append(f"{name}: {text}" if name or above else text)
    return drawing.svg("; ".join(spelled))


def _name(drawing: Fluid, top: float, text: str, name: str) -> None:
    """Write a number above its row, and of its name what has room.

    A name is cut at a comma, else between words, else between letters.
    """
    for separator in (", ", " "):
        while len(f"{text} {name}") > MOST_LETTERS and separator in name:
            name = name.rpartition(separator)[0]
    drawing.text(0, top + 11, f"{text} {name}"[:MOST_LETTERS].strip())


def _interval(value: Estimate) -> Markup:
    """Draw the interval of a ratio beside 1."""
    low, high = interval(value)
    first, last = min(low, 1.0), max(high, 1.0)
    room = INTERVAL_ROOM * (last - first)
    x = Scale(first - room, last + room, 0, 100)
    drawing = Fluid(40)
    drawing.line([(0, 16), (100, 16)], "grid")
    drawing.line([(x(1.0), 6), (x(1.0), 26)], "zero")
    drawing.bar(x(low), 16, x(high) - x(low), 8, "fr")
    drawing.dot(x(value.value), 16, 4.5, "f1")
    drawing.text(x(1.0), 38, format_value(1.0, RATIO), anchor="middle")
    ends = format_ends(value, RATIO)
    lower, _, upper = ends.partition(" to ")
    far, text = (low, f"{lower}{RATIO}") if 1.0 - low > high - 1.0 else (high, upper)
    if far != 1.0:
        drawing.text(x(far), 38, text, anchor="middle")
    return drawing.svg(f"{format_point(value, RATIO)}, interval {ends}")


def _strips(launches: Mapping[str, Sequence[float]]) -> Markup:
    """Draw a dot for each launch, a row for each case, each on a scale of its own from zero."""
    rows = list(launches.items())[:MOST_NAMED]
    drawing = Fluid(STRIP_ROW * len(rows) + 2)
    spelled = []
    for at, (name, values) in enumerate(rows):
        ends = f"{format_value(min(values), 's', 2)} to {format_value(max(values), 's', 2)}"
        _name(drawing, STRIP_ROW * at, ends, name)
        x = Scale(0, ROOM * max(values), 0, 100)
        y = STRIP_ROW * at + 21
        drawing.line([(0, y), (100, y)], "grid")
        for place in map(x, values):
            drawing.dot(place, y, 3.5, f"f{COLOURS[at]}", square=at > 0)
        spelled.append(f"{name}: {len(values)} launches, {ends}")
    return drawing.svg("; ".join(spelled))
