# SPDX-License-Identifier: MIT
"""The small chart in the row of an answer, with its values: a line, bars, an interval, or a strip.

A row is as wide on a telephone as on a desk, so that what fits there fits everywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from reports.charts.axes import Scale, even_ticks, is_wide
from reports.charts.bars import anchor_at
from reports.charts.fluid import Fluid
from reports.charts.words import spell_x
from reports.findings.finding import RATIO, Finding, Plot, Point, Series
from suite.stored.run import Estimate
from suite.units import format_ends, format_point, format_value, prefixed

ROW = 16
"""Height of a bar with its label, in pixels."""
LONGEST_BAR, LINE = 48.0, 58.0
"""Percent of the width, of bars and of lines; their labels follow."""
LABEL, NAME = 13, 8
"""Characters of the label behind a bar, and of the name behind a line, that have room."""
MOST_ROWS, MOST_LINES, LEAST_POINTS = 3, 2, 3
NAMED_ROW, MOST_NAMED, MOST_LETTERS = 25, 2, 30
"""Height of a bar with its name above it, how many of them, and letters of that line, at most."""
STRIP_ROW = 30
"""Height of a strip with its name above it, in pixels."""
WIDE_ROW, MOST_TICKS = 40, 6
"""Height of a strip in a large chart, in pixels, and numbers on its axis."""
COLOURS = ("1", "2")
"""Ends of the classes of the first line or row and of the others."""
APART = 13.0
"""Height of a label at the end of a line, in pixels."""
ROOM = 0.15
"""What is left on both sides of an interval, as a part of what is shown."""


def chart(
    lead: Finding,
    plots: Sequence[Plot],
    launches: Mapping[str, Sequence[float]],
    names: Mapping[str, str],
) -> Markup:
    """Return the small chart of an answer.

    Parameters
    ----------
    plots
        Of its exercise: the first is taken that shows what the answer was computed from.
    launches
        The launch medians in seconds, by name, of cases behind the answer whose launches are in
        two modes; they are shown instead.
    names
        Short names of series and categories.
    """
    if launches:
        return strips(launches)
    for plot in plots:
        shown = sorted(
            (replace(line, label=names.get(line.label, line.label)) for line in plot.series),
            key=lambda line: _first_case(line, lead),
        )
        shown = [line for line in shown if _first_case(line, lead) < len(lead.cases)]
        same = lead.unit == plot.y.unit or lead.unit != RATIO  # else a ratio is not what it shows
        if shown and same and plot.kind == "curve" and _is_course(shown[0], lead):
            return lines(plot, shown[:MOST_LINES])
        if shown and plot.kind == "dots" and lead.unit == plot.y.unit:
            return bars(plot, shown[0], lead, names)
    if lead.value is None:
        return Markup()
    if lead.unit == RATIO and lead.value.low is not None:
        return interval(lead.value, lead.unit, 1.0)
    return _bars([("", lead.value)], lead.unit)


def _first_case(series: Series, lead: Finding) -> int:
    """Return the index of the first case behind an answer that a series shows."""
    shown = {name for point in series.points for name in point.cases}
    return next((at for at, name in enumerate(lead.cases) if name in shown), len(lead.cases))


def _is_course(series: Series, lead: Finding) -> bool:
    """Tell whether a line says more of an answer than its interval: it is of no first point."""
    own = [at for at, point in enumerate(series.points) if set(point.cases) & set(lead.cases)]
    return len(series.points) >= LEAST_POINTS and max(own) > 0


def lines(plot: Plot, shown: Sequence[Series]) -> Markup:
    """Draw lines over sizes, with the name of each at its end, or its last value if it is alone."""
    points = [point for line in shown for point in line.points]
    values = [point.y.value for point in points]
    sizes = sorted({float(point.x) for point in points})
    low, high = min(values), max(values)
    wide = is_wide(low, high)
    y = Scale(low if wide else min(0.0, low), high or 1.0, 32, 5, wide)
    x = Scale(sizes[0], sizes[-1], 0, LINE, is_wide(sizes[0], sizes[-1]))
    drawing = Fluid(46)
    drawing.line((0, 32), (LINE, 32), "grid")
    if plot.reference is not None and low <= plot.reference <= high:
        drawing.line((0, y(plot.reference)), (LINE, y(plot.reference)), "zero")
    ends = []
    for kind, line in zip(COLOURS, shown, strict=False):
        drawing.course([(x(float(p.x)), y(p.y.value)) for p in line.points], f"k{kind}")
        last = line.points[-1]
        drawing.dot(x(float(last.x)), y(last.y.value), 3, f"f{kind}", square=kind != "1")
        ends.append((y(last.y.value), kind, _end(plot, line, alone=len(shown) == 1)))
    for (_, kind, label), at in zip(
        sorted(ends), _apart([end for end, *_ in sorted(ends)]), strict=True
    ):
        drawing.text(LINE, at + 4, label, f"lab l{kind}", dx=8)
    drawing.text(0, 44, spell_x(sizes[0], plot.x.unit))
    drawing.text(LINE, 44, spell_x(sizes[-1], plot.x.unit), anchor="end")
    spelled = "; ".join(
        f"{line.label}: {', '.join(_at(plot, p) for p in (line.points[0], line.points[-1]))}"
        for line in shown
    )
    return drawing.svg(f"{plot.title}. {spelled}.")


def _at(plot: Plot, point: Point) -> str:
    return f"{format_point(point.y, plot.y.unit)} at {spell_x(point.x, plot.x.unit)}"


def _end(plot: Plot, series: Series, *, alone: bool) -> str:
    if alone or len(series.label) > NAME:
        return format_point(series.points[-1].y, plot.y.unit)
    return series.label


def _apart(middles: Sequence[float]) -> list[float]:
    """Move labels down until none overlaps another."""
    heights: list[float] = []
    for at in middles:
        heights.append(max(at, heights[-1] + APART) if heights else at)
    return heights


def bars(plot: Plot, series: Series, lead: Finding, names: Mapping[str, str]) -> Markup:
    """Draw a bar for each of the first categories; that of the answer comes first."""
    own = set(lead.cases)
    first = sorted(series.points, key=lambda point: own.isdisjoint(point.cases))
    rows = [(_called(names, point, plot), point.y) for point in first[:MOST_ROWS]]
    return _bars(rows, plot.y.unit)


def _called(names: Mapping[str, str], point: Point, plot: Plot) -> str:
    """Name a category in short."""
    name = spell_x(point.x, plot.x.unit)
    return names.get(name, name)


def _bars(rows: Sequence[tuple[str, Estimate]], unit: str) -> Markup:
    longest = max(abs(value.value) for _, value in rows) or 1.0
    named = any(len(f"{name} {format_point(value, unit)}".strip()) > LABEL for name, value in rows)
    if named and any(name for name, _ in rows):
        return _named_bars(rows[:MOST_NAMED], unit, longest)
    drawing = Fluid(ROW * len(rows) + 2)
    spelled = []
    for at, (name, value) in enumerate(rows):
        length = LONGEST_BAR * max(0.0, value.value) / longest
        text = format_point(value, unit)
        drawing.bar(0, ROW * at + 2, length, 11, "f1" if at == 0 else "f0")
        drawing.text(length, ROW * at + 12, f"{name} {text}".strip(), dx=5)
        spelled.append(f"{name}: {text}" if name else text)
    return drawing.svg("; ".join(spelled))


def _named_bars(rows: Sequence[tuple[str, Estimate]], unit: str, longest: float) -> Markup:
    """Draw bars below their names, which are too long for a column beside them."""
    drawing = Fluid(NAMED_ROW * len(rows) + 2)
    spelled = []
    for at, (name, value) in enumerate(rows):
        text, top = format_point(value, unit), NAMED_ROW * at
        drawing.text(0, top + 11, f"{text} {_fitting(name, MOST_LETTERS - len(text) - 1)}".strip())
        length = 100 * max(0.0, value.value) / longest
        drawing.bar(0, top + 16, length, 6, "f1" if at == 0 else "f0")
        spelled.append(f"{name}: {text}")
    return drawing.svg("; ".join(spelled))


def _fitting(name: str, letters: int) -> str:
    """Cut a name to what has room: at a comma, else between words, else between letters."""
    for separator in (", ", " "):
        while len(name) > letters and separator in name:
            name = name.rpartition(separator)[0]
    return name[: max(letters, 0)]


def interval(value: Estimate, unit: str, reference: float) -> Markup:
    """Draw an interval beside a reference, such as a ratio beside 1."""
    low, high = value.low or value.value, value.high or value.value
    first, last = min(low, reference), max(high, reference)
    room = ROOM * (last - first) or 0.1
    x = Scale(first - room, last + room, 0, 100)
    drawing = Fluid(40)
    drawing.line((0, 16), (100, 16), "grid")
    drawing.upright(x(reference), 6, 26, "zero")
    drawing.bar(x(low), 12, x(high) - x(low), 8, "fr")
    drawing.dot(x(value.value), 16, 4.5, "f1")
    drawing.text(x(reference), 38, format_value(reference, unit), anchor="middle")
    ends = format_ends(value, unit) if value.low is not None else ""
    lower, _, upper = ends.partition(" to ")
    far, text = (low, f"{lower}{unit}") if reference - low > high - reference else (high, upper)
    if abs(x(far) - x(reference)) > 100 / 4:
        drawing.text(x(far), 38, text, anchor="middle")
    return drawing.svg(f"{format_point(value, unit)}, interval {ends}")


def strips(launches: Mapping[str, Sequence[float]]) -> Markup:
    """Draw a dot for each launch, a row for each case, each on a scale of its own from zero."""
    rows = list(launches.items())[:MOST_NAMED]
    drawing = Fluid(STRIP_ROW * len(rows) + 2)
    spelled = []
    for at, (name, values) in enumerate(rows):
        top, kind = STRIP_ROW * at, COLOURS[min(at, 1)]
        ends = f"{format_value(min(values), 's', 2)} to {format_value(max(values), 's', 2)}"
        drawing.text(0, top + 11, f"{ends} {_fitting(name, MOST_LETTERS - len(ends) - 1)}".strip())
        drawing.line((0, top + 21), (100, top + 21), "grid")
        x = Scale(0, 1.06 * max(values) or 1.0, 0, 100)
        for value in values:
            drawing.dot(x(value), top + 21, 3.5, f"f{kind}", square=kind != "1")
        spelled.append(f"{name}: {len(values)} launches, {ends}")
    return drawing.svg("; ".join(spelled))


def launches_by_case(launches: Mapping[str, Sequence[float]]) -> Markup:
    """Draw the strips of all cases as large as a chart, with an axis of times."""
    top = 1.06 * max(max(values) for values in launches.values()) or 1.0
    x, bottom = Scale(0, top, 0, 100), WIDE_ROW * len(launches) + 4
    factor, unit = prefixed(top, "s")
    drawing = Fluid(bottom + 18)
    for tick in even_ticks(0.0, top / factor, MOST_TICKS):
        at = x(tick * factor)
        drawing.upright(at, 0, bottom, "grid" if tick else "zero")
        text = f"{tick:,.6g}" if tick else f"0 {unit}"
        drawing.text(at, bottom + 14, text, anchor=anchor_at(at))
    spelled = []
    for at, (name, values) in enumerate(launches.items()):
        y, kind = WIDE_ROW * at + 28, COLOURS[min(at, 1)]
        drawing.text(0, y - 13, name, dx=6)
        drawing.line((0, y), (100, y), "grid")
        for value in values:
            drawing.dot(x(value), y, 4.5, f"f{kind} dot", square=kind != "1")
        spelled.append(f"{name}: {', '.join(format_value(value, 's') for value in sorted(values))}")
    return drawing.svg("; ".join(spelled))
