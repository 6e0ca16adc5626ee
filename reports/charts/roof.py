# SPDX-License-Identifier: MIT
"""The roofline of the first screen: ceilings with their names, and a point for each product."""

import math

from markupsafe import Markup

from reports.charts.axes import Scale, ticks
from reports.charts.fluid import Fluid
from reports.charts.words import describe
from reports.findings.finding import Plot, Series
from suite.units import format_value, prefixed

HEIGHT, FRAME = 286, 250
"""Pixels: of the drawing, and from its top to the axis of intensities."""
MOST_CEILINGS = 4
"""That have a colour; slower precisions are left to the table."""
ROOM = 1.6
"""What is left above and below the points, as a factor."""
LINE = 14.0
"""From one label to the next, in pixels."""
MOST_TICKS = 9
BESIDE = ("2", "3", "5")
"""First digits of ticks that are left out on a narrow screen."""


def draw(plot: Plot, names: dict[str, str], memory: str) -> Markup:
    """Return a roofline as an inline SVG element.

    Parameters
    ----------
    names
        The label at the end of a ceiling, by its precision.
    memory
        The label of the slope.
    """
    order = sorted(range(len(plot.series)), key=lambda at: -_peak(plot.lines[at]))[:MOST_CEILINGS]
    series, roofs = [plot.series[at] for at in order], [plot.lines[at] for at in order]
    points = [point for line in (*series, *roofs) for point in line.points]
    across = [float(point.x) for point in points]
    up = [point.y.value for point in points]
    x = Scale(min(across), max(across), 0, 100, log=True)
    y = Scale(min(up) / ROOM, max(up) * ROOM, FRAME, 0, log=True)
    drawing = Fluid(HEIGHT)
    _grid(drawing, x, y, plot)
    for kind, roof in zip(_kinds(), roofs, strict=False):
        drawing.course([(x(float(p.x)), y(p.y.value)) for p in roof.points], f"k{kind}")
    for kind, line in reversed([*zip(_kinds(), series, strict=False)]):
        for point in line.points:
            at = x(float(point.x)), y(point.y.value)
            drawing.dot(*at, 3.8, f"f{kind} dot", square=kind != "1")
    last = -math.inf
    for kind, line, roof in zip(_kinds(), series, roofs, strict=False):
        last = max(y(_peak(roof)), last + LINE)
        drawing.text(100, last + 4, names.get(line.label, line.label), f"lab l{kind}", dx=7)
    slope = roofs[0].points[0]
    drawing.text(x(float(slope.x)), y(slope.y.value) + 20, memory, "lab", dx=6)
    return drawing.svg(describe(plot))


def _kinds() -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, MOST_CEILINGS + 1))


def _peak(roof: Series) -> float:
    return roof.points[-1].y.value


def _grid(drawing: Fluid, x: Scale, y: Scale, plot: Plot) -> None:
    factor, _ = prefixed(y.high, plot.y.unit)
    exponents = range(math.ceil(math.log10(y.low)), math.floor(math.log10(y.high)) + 1)
    powers = [10.0**exponent for exponent in exponents]
    for tick in powers or ticks(y.low, y.high):
        drawing.line((0, y(tick)), (100, y(tick)), "grid")
        drawing.text(0, y(tick) + 4, f"{tick / factor:,.6g}", anchor="end", dx=-7)
    places = ticks(x.low, x.high, MOST_TICKS)
    for tick in places:
        drawing.upright(x(tick), FRAME, FRAME + 4, "zero")
        text = format_value(tick, "")
        few = "opt" if text[0] in BESIDE else ""
        drawing.text(x(tick), FRAME + 17, text, few, anchor="middle")
    drawing.line((0, FRAME), (100, FRAME), "zero")
    drawing.text(100, HEIGHT - 3, "FLOP per byte", anchor="end")
