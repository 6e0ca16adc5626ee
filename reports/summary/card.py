# SPDX-License-Identifier: MIT
"""What stands for a page elsewhere: a picture of 1200 x 630 pixels, and a badge for a README.

Other programs show them without the page, so their numbers carry their intervals. The picture is
lettered in matplotlib's own font, which is the same on every system.
"""

import io
import warnings
from bisect import bisect
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from frobench.reports.findings import Section
from frobench.reports.summary.model import Axis
from frobench.reports.summary.views import Marks, doubtful
from frobench.reports.web.render import filled
from frobench.reports.web.theme import LIGHT
from frobench.suite.printable import printable
from frobench.suite.units import format_ends, format_estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

WIDTH, HEIGHT, EDGE = 1200, 630, 70
ROOM = WIDTH - 2 * EDGE
TITLES = (54, 46, 38, 30)
"""Sizes of a title, of which the first is taken that lets it fit."""
ROWS = 4
"""Figures that have room."""
FIRST, STEP = 236, 84
"""How far below the top the first figure stands, and from one to the next."""
PLAIN, BOLD = "normal", "bold"
POINT = 72.0
"""Dots an inch at which a point is a pixel."""
LONGEST = 200
"""Characters of a text that are looked at: more never fit."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


class Row(NamedTuple):
    """A line of a picture: a figure with its interval, or a name, and what it is.

    share : how long a bar below it is, as a share of the width; 0 draws none
    """

    figure: str
    label: str
    share: float = 0.0


def rows(answered: Iterable[Section], marks: Marks) -> list[Row]:
    """Return the first leading answers with a conclusive number, with what makes them doubtful."""
    found = []
    for section in answered:
        lead = section.findings[0]
        if lead.value and not lead.value.is_wide:
            words = [f"{section.title}: {lead.label}", *doubtful(lead.cases, marks)]
            found.append(Row(format_estimate(lead.value, lead.unit), ", ".join(words)))
    return found[:ROWS]


def card(title: str, lines: Iterable[Row], foot: str) -> bytes:
    """Return a picture as PNG with the first `ROWS` lines; what is too long for its place is cut.

    foot : when, and by how much was measured
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import, and not everywhere used

    figure = Figure(figsize=(WIDTH / POINT, HEIGHT / POINT), dpi=POINT, facecolor=LIGHT["paper"])
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.set_axis_off()
    axes.barh([7, 168], [WIDTH, ROOM], [14, 3], [0, EDGE], color=[LIGHT["link"], LIGHT["ink"]])
    size = next((one for one in TITLES if width(title[:LONGEST], one, BOLD) <= ROOM), TITLES[-1])
    _write(axes, 116, title, size, BOLD)
    for at, line in enumerate(islice(lines, ROWS)):
        base = FIRST + at * STEP
        axes.barh(base + 24, ROOM * line.share, 14, EDGE, color=LIGHT["c1"])
        _write(axes, base, line.figure, 36, BOLD)
        _write(axes, base + 30, line.label, 22, PLAIN, "muted")
    _write(axes, HEIGHT - 38, f"Frobench, {foot}", 24, PLAIN, "link")
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # what the font lacks is drawn as a box
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def width(text: str, size: int, weight: str = PLAIN) -> float:
    """Return how wide a text is, in pixels, on one line of a font of that size."""
    from matplotlib.text import Text  # noqa: PLC0415 - as above

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        drawn = Text(text=text, fontproperties=_font(size, weight), parse_math=False)
        drawn.set_figure(_blank())
        return drawn.get_window_extent().width


def _write(  # noqa: PLR0913, PLR0917 - a place, a text and how it looks
    axes: "Axes", base: int, text: str, size: int, weight: str, colour: str = "ink"
) -> None:
    look = {"color": LIGHT[colour], "fontproperties": _font(size, weight)}
    axes.text(EDGE, base, _cut(text, size, weight), look, parse_math=False)


def _cut(text: str, size: int, weight: str) -> str:
    """Shorten a text to one line; characters that cannot be shown are made visible."""
    shown = printable(text)[:LONGEST]
    if width(shown, size, weight) <= ROOM and shown == printable(text):
        return shown
    ends = range(len(shown) + 1)
    fits = bisect(ends, x=False, key=lambda end: width(shown[:end] + ELLIPSIS, size, weight) > ROOM)
    return shown[: fits - 1].rstrip() + ELLIPSIS


@cache
def _font(size: int, weight: str) -> "FontProperties":
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - as above

    return FontProperties(family="DejaVu Sans", size=size, weight=weight)


@cache
def _blank() -> "Figure":
    """Return what texts are measured on."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    return Figure(dpi=POINT)


LEFT, RIGHT, BADGE_TEXT = "#3b4048", "#1d5a9e", "#ffffff"
"""Colours of a badge behind the name and behind the figure, and of both texts: at least 4.5:1."""
BADGE_SIZE, PADDING = 11, 7
"""Pixels: of the font of a badge, and beside its texts."""
LONGEST_PART = 60
"""Characters of a part of a badge."""


def badge_of_run(
    compute: Axis | None, marks: Marks, machine: str, when: str, *, complete: bool
) -> bytes:
    """Return the badge of a run: its leading axis of compute, and of which device that is.

    when : the day it was measured
    complete : whether every launch that was planned ended
    """
    if compute is None:
        return badge(machine, "no rate", f"{machine}: no product was measured.").encode()
    spell = format_ends if compute.value.is_wide else format_estimate
    rate = f"{compute.precision} {spell(compute.value, compute.unit)}"
    doubts = [*compute.doubts(marks), *(() if complete else ("partial",))]
    doubted = f" ({', '.join(doubts)})" if doubts else ""
    told = f"{machine}: {rate} on one {compute.device}{doubted}. Measured with Frobench, {when}."
    return badge(compute.device, ", ".join([rate, *doubts]), told).encode()


def badge(name: str, figure: str, told: str) -> str:
    """Return a badge as SVG: what a machine reaches, small enough for a line of a README.

    It asks for nothing: no font, no style sheet, no script. What is too long for its place is cut.

    told : what it says to readers who hover over it or hear it
    """
    parts = [_short(printable(one)) for one in (name, figure)]
    first, second = (round(width(one, BADGE_SIZE)) for one in parts)
    middle = first + 2 * PADDING
    return filled(
        "badge.svg",
        told=told,
        texts=zip((PADDING, middle + PADDING), (first, second), parts, strict=True),
        middle=middle,
        whole=middle + second + 2 * PADDING,
        size=BADGE_SIZE,
        left=LEFT,
        right=RIGHT,
        ink=BADGE_TEXT,
    )


def _short(text: str) -> str:
    kept = text[: LONGEST_PART - 1].rstrip()
    return text if len(text) <= LONGEST_PART else f"{kept}{ELLIPSIS}"
