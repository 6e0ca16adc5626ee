# SPDX-License-Identifier: MIT
"""Charts as inline SVG, fit for a page with a strict Content-Security-Policy.

There are presentation attributes and classes of the page's style sheet only, colours follow the
page's theme, and the whole has a text alternative. Nothing has an identifier, so that any number
of drawings share a page. A library that draws the same takes twenty times as long, and its output
must be rewritten for all of this.
"""

from collections.abc import Iterable
from html import escape
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from frobench.reports.charts.axes import Scale
from frobench.reports.web.theme import FONT, LIGHT
from frobench.suite.printable import printable

Place = tuple[float, float]
DASHED = "5 4"
NARROWEST = 0.45
"""Mean width of a character of running text, in its height; no font that pages use has less."""
EARLY, LATE = 8.0, 88.0
"""Percent of the width: a text at a tick before the first begins there, behind the second it ends
there."""


def number(value: float) -> str:
    """Spell a coordinate, to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:g}"


def joined(places: Iterable[Place]) -> str:
    """Return the path through some places."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)


class Frame(NamedTuple):
    """The part of a drawing that holds the marks, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


class Drawing:
    """A chart in CSS pixels from the upper left corner; its marks have hover texts."""

    def __init__(self, width: float, height: float, frame: Frame) -> None:
        self.width, self.height, self.frame = width, height, frame
        self._parts: list[str] = []
        self._texts: list[str] = []

    def line(
        self, path: str, colour: str, width: float, *, dashes: str = "", title: str = ""
    ) -> None:
        """Draw along a path."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._parts.append(
            f'<path d="{path}" fill="none" stroke="{_paint(colour)}" stroke-width="{width:g}"'
            f"{dashed}{_titled('path', title)}"
        )

    def across(self, y: float, colour: str = "rule", width: float = 1, dashes: str = "") -> None:
        """Draw a line from the left to the right of the frame."""
        path = f"M{number(self.frame.left)} {number(y)}H{number(self.frame.right)}"
        self.line(path, colour, width, dashes=dashes)

    def upright(self, x: float, colour: str = "rule", width: float = 1, dashes: str = "") -> None:
        """Draw a line from the top to the bottom of the frame."""
        path = f"M{number(x)} {number(self.frame.top)}V{number(self.frame.bottom)}"
        self.line(path, colour, width, dashes=dashes)

    def area(self, path: str, colour: str) -> None:
        """Fill a path, so that what is behind it remains visible."""
        self._parts.append(f'<path d="{path}z" fill="{_paint(colour)}" fill-opacity="0.2"/>')

    def marks(
        self,
        shape: str,
        places: Iterable[Place],
        colour: str,
        titles: Iterable[str],
        scale: float = 1.0,
    ) -> None:
        """Draw a mark with a hover text at each position, so many times its usual size."""
        sized = f" scale({scale:g})" if scale != 1 else ""
        drawn = "".join(
            f'<path transform="translate({number(x)} {number(y)}){sized}" d="{shape}"'
            f"{_titled('path', title)}"
            for (x, y), title in zip(places, titles, strict=True)
        )
        self._parts.append(f'<g fill="{_paint(colour)}" stroke="{_paint("paper")}">{drawn}</g>')

    def bar(self, begin: float, y: float, length: float, colour: str, title: str) -> None:
        """Draw a bar to the right, around a height."""
        self._parts.append(
            f'<rect x="{number(begin)}" y="{number(y - 7.5)}" width="{number(length)}" height="15" '
            f'fill="{_paint(colour)}" stroke="{_paint("paper")}"{_titled("rect", title)}'
        )

    def square(self, x: float, y: float, colour: str) -> None:
        """Draw the small square before a name that it is the colour of."""
        self._parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="9" height="9" fill="{_paint(colour)}"/>'
        )

    def text(self, text: str, x: float, y: float, anchor: str = "start", colour: str = "") -> None:
        """Write at a base line, above all marks; `anchor` says which part of the text is at `x`.

        What is far longer than the drawing is wide is cut: the table beside it has it whole.

        colour : makes the text a name, in that colour; others are muted
        """
        most = int(self.width / (NARROWEST * FONT))
        if len(text) > most:
            text = f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
        named = f' fill="{_paint(colour)}" font-weight="600"' if colour else ""
        self._texts.append(
            f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{named}>'
            f"{escape(printable(text))}</text>"
        )

    def heights(self, scale: Scale, labels: dict[float, str]) -> None:
        """Draw a line across at each tick of an upright axis, with its label."""
        for value, label in labels.items():
            self.across(scale(value))
            self.text(label, self.frame.left - 6, scale(value) + 0.35 * FONT, "end")

    def along(self, scale: Scale, labels: dict[float, str], name: str | None = None) -> None:
        """Write the labels of the axis along the width, and its name below its end."""
        for value, label in labels.items():
            self.text(label, scale(value), self.frame.bottom + 6 + FONT, "middle")
        if name is not None:
            self.text(name, self.frame.right, self.frame.bottom + 12 + 2 * FONT, "end")

    def svg(self, label: str) -> Markup:
        """Return the element; `label` is the text alternative of the whole."""
        width, height = number(self.width), number(self.height)
        return Markup(  # noqa: S704 - our own drawing, its texts are escaped
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-size="{FONT:g}" '
            f'fill="{_paint("muted")}" role="img" aria-label="{escape(label)}">'
            f"{''.join(self._parts)}{''.join(self._texts)}</svg>"
        )


def _paint(name: str) -> str:
    return "currentColor" if name == "ink" else f"var(--{name}, {LIGHT[name]})"


def _titled(tag: str, title: str) -> str:
    """Return the end of an element with a hover text, if it has one."""
    return f"><title>{escape(title)}</title></{tag}>" if title else "/>"


class Fluid:
    """A small chart that is as wide as its container, while its text keeps its size.

    x is in percent of the width, y in pixels. Classes are those of `static/run.css`.
    """

    def __init__(self, height: float) -> None:
        self.height = height
        self._parts: list[str] = []

    def bar(self, x: float, y: float, width: float, height: float, classes: str) -> None:
        """Fill a rectangle."""
        self._parts.append(
            f'<rect x="{_percent(x)}" y="{number(y)}" width="{_percent(width)}" '
            f'height="{number(height)}" class="{classes}"/>'
        )

    def line(self, places: Iterable[Place], classes: str) -> None:
        """Draw a line through some places."""
        for (x1, y1), (x2, y2) in pairwise(places):
            self._parts.append(
                f'<line x1="{_percent(x1)}" y1="{number(y1)}" x2="{_percent(x2)}" '
                f'y2="{number(y2)}" class="{classes}"/>'
            )

    def dot(self, x: float, y: float, radius: float, classes: str, *, square: bool = False) -> None:
        """Draw a round or a square mark."""
        at, side, shift = _percent(x), number(1.8 * radius), number(-0.9 * radius)
        self._parts.append(
            f'<rect x="{at}" y="{number(y)}" width="{side}" height="{side}" '
            f'transform="translate({shift} {shift})" class="{classes}"/>'
            if square
            else f'<circle cx="{at}" cy="{number(y)}" r="{number(radius)}" class="{classes}"/>'
        )

    def text(  # noqa: PLR0913, PLR0917 - a position, a text and how it looks
        self, x: float, y: float, text: str, classes: str = "", anchor: str = "start", dx: float = 0
    ) -> None:
        """Write at a base line, so many pixels beside a position."""
        anchored = "" if anchor == "start" else anchor
        given = {"class": classes, "text-anchor": anchored, "dx": number(dx) if dx else ""}
        more = "".join(f' {name}="{value}"' for name, value in given.items() if value)
        self._parts.append(
            f'<text x="{_percent(x)}" y="{number(y)}"{more}>{escape(printable(text))}</text>'
        )

    def tick(self, x: float, y: float, text: str) -> None:
        """Write below a tick, so that the text stays inside the drawing."""
        self.text(x, y, text, anchor="start" if x < EARLY else "end" if x > LATE else "middle")

    def svg(self, label: str) -> Markup:
        """Return the element; `label` is the text alternative of the whole."""
        return Markup(  # noqa: S704 - our own drawing, its texts are escaped
            f'<svg class="fluid" width="100%" height="{number(self.height)}" role="img" '
            f'aria-label="{escape(printable(label))}">{"".join(self._parts)}</svg>'
        )


def _percent(value: float) -> str:
    return f"{round(value, 2) + 0.0:g}%"
