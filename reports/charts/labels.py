# SPDX-License-Identifier: MIT
"""Names beside lines: broken into lines of letters, and moved apart where they would collide."""

from collections.abc import Sequence
from textwrap import wrap

from reports.web.theme import LABELS

MOST_LINES = 3
"""Of a name; the table beside its chart has the whole."""


def broken(text: str, letters: int) -> list[str]:
    """Return a text as lines of so many letters at most."""
    lines = wrap(text, letters, max_lines=MOST_LINES, placeholder=" \N{HORIZONTAL ELLIPSIS}")
    return lines or [text]


def colour_of(index: int) -> str:
    """Return the colour of the name of a series: its own where text may have that, else ink."""
    return LABELS[index] if index < len(LABELS) else "ink"


def spread(wanted: Sequence[float], heights: Sequence[float], bottom: float) -> list[float]:
    """Return the middles of labels so that none overlaps another, as near as can be.

    Parameters
    ----------
    wanted
        Where their middles should be, downwards.
    heights
        How high each is.
    bottom
        What none should pass.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    middles = [*wanted]
    end = float("-inf")
    for index in order:
        middles[index] = max(middles[index], end + heights[index] / 2)
        end = middles[index] + heights[index] / 2
    end = bottom
    for index in reversed(order):
        middles[index] = min(middles[index], end - heights[index] / 2)
        end = middles[index] - heights[index] / 2
    return middles
