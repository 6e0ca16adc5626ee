# SPDX-License-Identifier: MIT
"""The bar of an axis: a number from zero, its interval, its datasheet, and other runs below it."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.charts.axes import even_ticks
from reports.charts.fluid import Fluid
from suite.stored.run import Estimate
from suite.units import prefixed

HEIGHT, TOP, BOTTOM, MIDDLE, BELOW = 66, 16, 50, 27, 43
"""Pixels: of the drawing, where the frame begins and ends, of the bar, and of other runs' dots."""
THICK = 14
LOWER = "\N{LEFTWARDS ARROW} lower is better"
MOST_TICKS = 6
MOST_OTHERS = 20
"""Dots of other runs."""
ROOM = 1.06
"""Length of the axis as a multiple of the largest number on it."""
CENTRE, LATE = 8.0, 88.0
"""Percent of the width: a label before the first begins at its tick, one behind the second ends
there."""


@dataclass(frozen=True)
class Bar:
    """What a bar shows.

    Parameters
    ----------
    sheet, sheet_name
        What a datasheet allows, and the label of its mark.
    others
        The values of other runs.
    lower_is_better
        Whether a short bar is a good one, which is then said and drawn in another colour.
    """

    value: Estimate
    unit: str
    label: str
    sheet: float | None = None
    sheet_name: str = ""
    others: Sequence[float] = ()
    lower_is_better: bool = False


def draw(bar: Bar, longest: float = 0.0) -> Markup:
    """Return a bar as an inline SVG element.

    Parameters
    ----------
    longest
        What the axis must hold besides, so that bars of one unit can be compared.
    """
    value, high = bar.value.value, bar.value.high or bar.value.value
    top = ROOM * max(value, high, bar.sheet or 0.0, longest, *bar.others) or 1.0
    drawing = Fluid(HEIGHT)
    factor, _ = prefixed(value, bar.unit)
    for tick in even_ticks(0.0, top / factor, MOST_TICKS):
        at = 100 * tick * factor / top
        drawing.upright(at, TOP, BOTTOM, "grid" if tick else "zero")
        drawing.text(at, HEIGHT - 3, f"{tick:,.6g}", anchor=anchor_at(at))
    drawing.bar(
        0,
        MIDDLE - THICK / 2,
        100 * max(0.0, value) / top,
        THICK,
        "f0" if bar.lower_is_better else "f1",
    )
    if bar.lower_is_better:
        drawing.text(0, 10, LOWER)
    if bar.value.low is not None:
        ends = [100 * max(0.0, end) / top for end in (bar.value.low, high)]
        drawing.line((ends[0], MIDDLE), (ends[1], MIDDLE), "ci")
    if bar.sheet is not None:
        at = 100 * bar.sheet / top
        drawing.upright(at, MIDDLE - 11, MIDDLE + 11, "sheet")
        drawing.text(at, 10, bar.sheet_name, anchor="middle" if at < LATE / 2 else "end", dx=4)
    for other in _few(bar.others):
        drawing.dot(100 * other / top, BELOW, 3.5, "spec")
    return drawing.svg(bar.label)


def _few(values: Sequence[float]) -> Sequence[float]:
    """Return the least, the greatest, and evenly chosen ones between, of many ascending values."""
    if len(values) <= MOST_OTHERS:
        return values
    step = (len(values) - 1) / (MOST_OTHERS - 1)
    return [values[round(index * step)] for index in range(MOST_OTHERS)]


def anchor_at(at: float) -> str:
    """Return how a label is aligned with its mark, so that it stays inside the drawing."""
    return "start" if at < CENTRE else "end" if at > LATE else "middle"
