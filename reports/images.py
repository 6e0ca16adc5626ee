# SPDX-License-Identifier: MIT
"""The picture that stands for a page where people pass on its address: 1200 x 630 pixels, PNG.

Other programs show it without the page, so its numbers carry their intervals. The font comes with
matplotlib, on every system the same, and is read without loading matplotlib.
"""

import io
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distribution
from itertools import islice
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from reports.summary import Answer
from reports.theme import LIGHT
from reports.words import printable
from suite.units import format_estimate

WIDTH, HEIGHT, EDGE = 1200, 630, 70
ROOM = WIDTH - 2 * EDGE
TITLES = (54, 46, 38, 30)
"""Sizes of a title, of which the first is taken that lets it fit."""
ROWS = 4
"""Figures that have room."""
FIRST, STEP = 210, 84
"""Height of the first figure, and from one to the next."""
PLAIN, BOLD = "DejaVuSans.ttf", "DejaVuSans-Bold.ttf"
LONGEST = 200
"""Characters of a text that are looked at: more never fit."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


class Row(NamedTuple):
    """A line of a picture: a figure with its interval, or a name, and what it is."""

    figure: str
    label: str


def rows(answers: Iterable[Answer]) -> list[Row]:
    """Return the first answers that have a number, with what makes them doubtful."""
    found = (
        Row(
            format_estimate(one.value, one.unit),
            ", ".join([f"{one.title}: {one.label}", *one.marks]),
        )
        for one in answers
        if one.value
    )
    return list(islice(found, ROWS))


def card(title: str, lines: Iterable[Row], foot: str) -> bytes:
    """Return a picture as PNG; what is too long for its place is cut.

    Parameters
    ----------
    lines
        Of which the first `ROWS` are shown.
    foot
        When, and by how much was measured.
    """
    image = Image.new("RGB", (WIDTH, HEIGHT), LIGHT["paper"])
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, WIDTH, 14), fill=LIGHT["link"])
    size = next((one for one in TITLES if width(title[:LONGEST], one, BOLD) <= ROOM), TITLES[-1])
    _write(draw, 116 - size, title, size, BOLD)
    draw.line((EDGE, 168, WIDTH - EDGE, 168), fill=LIGHT["ink"], width=3)
    for at, line in enumerate(islice(lines, ROWS)):
        top = FIRST + at * STEP
        _write(draw, top - 8, line.figure, 36, BOLD)
        _write(draw, top + 38, line.label, 22, PLAIN, "muted")
    _write(draw, HEIGHT - 62, f"Frobench, {foot}", 24, PLAIN, "link")
    file = io.BytesIO()
    image.save(file, "png")
    return file.getvalue()


def width(text: str, size: int, face: str = PLAIN) -> float:
    """Return how wide a text is, in pixels, on one line of a font of that size."""
    return _font(face, size).getlength(text)


def _write(  # noqa: PLR0913, PLR0917 - a place, a text and how it looks
    draw: ImageDraw.ImageDraw, top: int, text: str, size: int, face: str, colour: str = "ink"
) -> None:
    draw.text((EDGE, top), _cut(text, size, face), LIGHT[colour], _font(face, size))


def _cut(text: str, size: int, face: str) -> str:
    """Shorten a text to one line; characters that cannot be shown are made visible."""
    shown = printable(text)[:LONGEST]
    if width(shown, size, face) <= ROOM and shown == printable(text):
        return shown
    while width(shown + ELLIPSIS, size, face) > ROOM:
        shown = shown[:-1]
    return shown.rstrip() + ELLIPSIS


@cache
def _font(face: str, size: int) -> ImageFont.FreeTypeFont:
    path = distribution("matplotlib").locate_file(f"matplotlib/mpl-data/fonts/ttf/{face}")
    # The other way of laying out text is not there on every system.
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)
