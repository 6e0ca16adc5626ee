# SPDX-License-Identifier: MIT
"""Logarithmic axes, and labels that do not collide, for charts that templates draw.

`static/drawing.js` draws the same charts from the same numbers. Places along an axis are in
percent, so that a chart follows the width of the page while its text keeps its size.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from suite.units import format_value

_MOST_TICKS = 4
"""As many numbers as have room beside each other on the smallest screen."""
_ROOM = 1.15
"""What is left on both sides of the outermost values, as a factor."""
_NARROWEST = 240.0
"""Width of a chart of points on the smallest screen, in CSS pixels: what fits there fits."""
_BOX = (11.0, 14.0)
"""Width and height that a label of one letter takes, in CSS pixels."""
_NEAR, _FURTHER = 17.0, 14.0
"""How far a label stands from its point, and one that has no place there, in CSS pixels."""


class Scale(NamedTuple):
    """A logarithmic axis between two values."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return where a value stands, in percent of the axis."""
        return round(100 * math.log(value / self.low) / math.log(self.high / self.low), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """Return round numbers on the axis with their places: 1, 2 and 5, or powers of ten."""
        first, last = (math.floor(math.log10(end)) for end in self)
        powers = [10.0**power for power in range(first, last + 1)]
        ladders = [[m * power for power in powers for m in (1, 2, 5)]]
        ladders += [powers[::stride] for stride in range(1, len(powers) + 1)]
        shown = ([tick for tick in ladder if self.low <= tick <= self.high] for ladder in ladders)
        fitting = next(ticks for ticks in shown if len(ticks) <= _MOST_TICKS)
        return [(self.at(tick), format_value(tick, "")) for tick in fitting]


def spanning(values: Iterable[float], least: float = 4.0) -> Scale:
    """Return an axis that has all values on it, positive ones, and spans a factor of `least`."""
    shown = [*values]
    low, high = min(shown) / _ROOM, max(shown) * _ROOM
    middle, half = math.sqrt(low * high), math.sqrt(max(high / low, least))
    return Scale(middle / half, middle * half)


def labels(points: Sequence[tuple[float, float]]) -> list[float]:
    """Return how far below its point each label stands, in CSS pixels: above it if negative.

    Labels stand right above or below their points, so that what is apart on the smallest screen
    stays apart on wider ones.

    Parameters
    ----------
    points
        Percent of the chart's width, and CSS pixels from its top.
    """
    marks = [(x / 100 * _NARROWEST, y) for x, y in points]
    taken, offsets = [*marks], []
    for x, y in marks:
        reaches = (_NEAR + _FURTHER * step for step in range(len(taken)))
        steps = (way * reach for reach in reaches for way in (-1, 1))
        chosen = next(step for step in steps if not _crowded(x, y + step, taken))
        taken.append((x, y + chosen))
        offsets.append(chosen)
    return offsets


def _crowded(x: float, y: float, taken: Iterable[tuple[float, float]]) -> bool:
    return any(abs(x - other[0]) < _BOX[0] and abs(y - other[1]) < _BOX[1] for other in taken)
