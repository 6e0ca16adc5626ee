# SPDX-License-Identifier: MIT
"""Plots drawn as figures; see `reports.charts.draw`, which draws them for pages."""

from textwrap import wrap

from matplotlib.figure import Figure

from reports.charts import titles
from reports.figures import painted_curves, painted_rows
from reports.figures.style import EDGE, SMALL, TEXT, TITLE, WIDTH, Room
from reports.findings.finding import Plot
from reports.web.theme import LIGHT
from suite.printable import printable

TITLE_LINE, TITLE_LETTERS = 0.18, 70
"""Height in inches of a line of the title, and its letters at most."""
WORDS_LINE, WORDS_LETTERS = 0.14, 96
"""Height in inches of a line below the title, and its letters at most."""
HEAD, SOURCE = 0.3, 0.24
"""Heights in inches: of the room around the words above the axes, and of the line at the foot."""


def paint(plot: Plot, source: str) -> Figure:
    """Return a plot as a figure.

    Parameters
    ----------
    source
        What was measured, and when: the line at the foot.
    """
    module = painted_curves if plot.kind in {"curve", "points"} else painted_rows
    room: Room = module.room(plot)
    title = wrap(printable(titles.headline(plot)), TITLE_LETTERS)
    words = wrap(printable(titles.subtitle(plot)), WORDS_LETTERS)
    foot = room.below + SOURCE
    height = HEAD + TITLE_LINE * len(title) + WORDS_LINE * len(words) + room.height + foot
    figure = Figure(figsize=(WIDTH, height))
    inside = (room.left / WIDTH, foot / height, room.width / WIDTH, room.height / height)
    module.draw(figure.add_axes(inside), plot, room)
    top = 1 - 0.1 / height
    x, muted = EDGE / WIDTH, LIGHT["muted"]
    figure.text(x, top, "\n".join(title), size=TITLE, weight="bold", va="top")
    top -= (TITLE_LINE * len(title) + 0.03) / height
    figure.text(x, top, "\n".join(words), size=TEXT, color=muted, va="top")
    figure.text(x, 0.1 / height, printable(source), size=SMALL, color=muted, va="center")
    return figure
