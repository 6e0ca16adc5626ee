# SPDX-License-Identifier: MIT
"""The charts of the first screen: the bar of an axis, and the roofline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from frobench.reports.charts.axes import Scale, even_ticks, ticks
from frobench.reports.charts.svg import LATE, Fluid
from frobench.reports.charts.words import describe
from frobench.reports.findings.finding import Plot, Series
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_value, prefixed

HEIGHT, TOP, BOTTOM, MIDDLE, BELOW = 66, 16, 50, 27, 43
"""Pixels: of a bar's drawing, where its frame begins and ends, of the bar, and of the dots of other
runs."""
THICK = 14
MOST_OTHERS = 20
"""Dots of other runs."""
ROOM = 1.06
"""Length of the axis as a multiple of the largest number on it."""
ROOF_HEIGHT, FRAME = 286, 250
"""Pixels: of the roofline's drawing, and from its top to the axis of intensities."""
KINDS = ("1", "2", "3", "4")
"""Ends of the classes of ceilings, the highest first; slower precisions are left to the table."""
ROOF_ROOM = 1.6
"""What is left above and below the points of the roofline, as a factor."""
LINE = 14.0
"""From one label to the next, in pixels."""
BESIDE = ("2", "3", "5")
"""First digits of ticks that are left out on a narrow screen."""


@dataclass(frozen=True)
class Bar:
    """What a bar shows.

    sheet, sheet_name : what a datasheet allows, and the label of its mark
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


def bar(shown: Bar, longest: float = 0.0) -> Markup:
    """Draw a number from zero, its interval, its datasheet, and other runs below it.

    longest : what the axis must hold besides, so that bars of one unit can be compared
    """
    value, high = shown.value.value, shown.value.high or shown.value.value
    top = ROOM * max(value, high, shown.sheet or 0.0, longest, *shown.others) or 1.0
    drawing = Fluid(HEIGHT)
    factor, _ = prefixed(value, shown.unit)
    for tick in even_ticks(0.0, top / factor):
        at = 100 * tick * factor / top
        drawing.line([(at, TOP), (at, BOTTOM)], "grid" if tick else "zero")
        drawing.tick(at, HEIGHT - 3, f"{tick:,.6g}")
    colour = "f0" if shown.lower_is_better else "f1"
    drawing.bar(0, MIDDLE - THICK / 2, 100 * max(0.0, value) / top, THICK, colour)
    if shown.lower_is_better:
        drawing.text(0, 10, "\N{LEFTWARDS ARROW} lower is better")
    if shown.value.low is not None:
        ends = [100 * max(0.0, end) / top for end in (shown.value.low, high)]
        drawing.line([(end, MIDDLE) for end in ends], "ci")
    if shown.sheet is not None:
        at = 100 * shown.sheet / top
        drawing.line([(at, MIDDLE - 11), (at, MIDDLE + 11)], "sheet")
        anchor = "middle" if at < LATE / 2 else "end"
        drawing.text(at, 10, shown.sheet_name, anchor=anchor, dx=4)
    for other in _few(shown.others):
        drawing.dot(100 * other / top, BELOW, 3.5, "spec")
    return drawing.svg(shown.label)


def _few(values: Sequence[float]) -> Sequence[float]:
    """Return the least, the greatest, and evenly chosen ones between, of many ascending values."""
    if len(values) <= MOST_OTHERS:
        return values
    step = (len(values) - 1) / (MOST_OTHERS - 1)
    return [values[round(index * step)] for index in range(MOST_OTHERS)]


def roofline(plot: Plot, names: dict[str, str], memory: str) -> Markup:
    """Draw ceilings with their names, and a point for each product.

    names : the label at the end of a ceiling, by its precision
    memory : the label of the slope
    """
    order = sorted(range(len(plot.series)), key=lambda at: -_peak(plot.lines[at]))[: len(KINDS)]
    shown = [(KINDS[rank], plot.series[at], plot.lines[at]) for rank, at in enumerate(order)]
    points = [point for _, *both in shown for line in both for point in line.points]
    across = [float(point.x) for point in points]
    up = [point.y.value for point in points]
    x = Scale(min(across), max(across), 0, 100, log=True)
    y = Scale(min(up) / ROOF_ROOM, max(up) * ROOF_ROOM, FRAME, 0, log=True)
    drawing = Fluid(ROOF_HEIGHT)
    factor, _ = prefixed(_peak(shown[0][2]), plot.y.unit)  # of the unit that the page names
    _grid(drawing, x, y, factor)
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


def _grid(drawing: Fluid, x: Scale, y: Scale, factor: float) -> None:
    exponents = range(math.ceil(math.log10(y.low)), math.floor(math.log10(y.high)) + 1)
    for tick in [10.0**exponent for exponent in exponents] or ticks(y.low, y.high):
        drawing.line([(0, y(tick)), (100, y(tick))], "grid")
        drawing.text(0, y(tick) + 4, f"{tick / factor:,.6g}", anchor="end", dx=-7)
    for tick in ticks(x.low, x.high, 9):
        drawing.line([(x(tick), FRAME), (x(tick), FRAME + 4)], "zero")
        text = format_value(tick, "")
        few = "opt" if text.startswith(BESIDE) else ""
        drawing.text(x(tick), FRAME + 17, text, few, anchor="middle")
    drawing.line([(0, FRAME), (100, FRAME)], "zero")
    drawing.text(100, ROOF_HEIGHT - 3, "FLOP per byte", anchor="end")
