# SPDX-License-Identifier: MIT
"""Charts as inline SVG, fit for a page with a strict Content-Security-Policy.

There are presentation attributes only, colours follow the page's theme, marks have hover texts
and the whole has a text alternative. Nothing has an identifier, so that any number of drawings
share a page. A library that draws the same takes twenty times as long, and its output must be
rewritten for all of this.
"""

from collections.abc import Iterable
from html import escape

from reports.web.theme import LIGHT
from suite.printable import printable

Places = Iterable[tuple[float, float]]
NARROWEST = 0.45
"""Mean width of a character of running text, in its height; no font that pages use has less."""


def paint(name: str) -> str:
    """Return a colour of the theme, by its name, as an attribute's value."""
    return "currentColor" if name == "ink" else f"var(--{name}, {LIGHT[name]})"


def number(value: float) -> str:
    """Spell a coordinate, to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:g}"


def joined(places: Places) -> str:
    """Return the path through some places."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)


class Drawing:
    """What is drawn so far, in CSS pixels from the upper left corner."""

    def __init__(self, width: float, height: float, font: float) -> None:
        self.width, self.height, self.font = width, height, font
        self._parts: list[str] = []
        self._texts: list[str] = []

    def line(
        self, path: str, colour: str, width: float, *, dashes: str = "", title: str = ""
    ) -> None:
        """Draw along a path."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._parts.append(
            f'<path d="{path}" fill="none" stroke="{paint(colour)}" stroke-width="{width:g}"'
            f"{dashed}{_titled('path', title)}"
        )

    def area(self, path: str, colour: str, opacity: float) -> None:
        """Fill a path."""
        self._parts.append(f'<path d="{path}z" fill="{paint(colour)}" fill-opacity="{opacity:g}"/>')

    def marks(
        self, shape: str, places: Places, colour: str, titles: Iterable[str], scale: float = 1.0
    ) -> None:
        """Draw a mark with a hover text at each position, so many times its usual size."""
        sized = f" scale({scale:g})" if scale != 1 else ""
        drawn = "".join(
            f'<path transform="translate({number(x)} {number(y)}){sized}" d="{shape}"'
            f"{_titled('path', title)}"
            for (x, y), title in zip(places, titles, strict=True)
        )
        self._parts.append(f'<g fill="{paint(colour)}" stroke="{paint("paper")}">{drawn}</g>')

    def bar(self, begin: float, y: float, length: float, colour: str, title: str) -> None:
        """Draw a bar to the right, around a height."""
        self._parts.append(
            f'<rect x="{number(begin)}" y="{number(y - 7.5)}" width="{number(length)}" height="15" '
            f'fill="{paint(colour)}" stroke="{paint("paper")}"{_titled("rect", title)}'
        )

    def square(self, x: float, y: float, colour: str) -> None:
        """Draw the small square before a name that it is the colour of."""
        self._parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="9" height="9" fill="{paint(colour)}"/>'
        )

    def text(self, text: str, x: float, y: float, anchor: str = "start", colour: str = "") -> None:
        """Write at a base line, above all marks; `anchor` says which part of the text is at `x`.

        What is far longer than the drawing is wide is cut: the table beside it has it whole.

        Parameters
        ----------
        colour
            Makes the text a name, in that colour; others are muted.
        """
        most = int(self.width / (NARROWEST * self.font))
        if len(text) > most:
            text = f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
        named = f' fill="{paint(colour)}" font-weight="600"' if colour else ""
        self._texts.append(
            f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{named}>'
            f"{escape(printable(text))}</text>"
        )

    def svg(self, label: str) -> str:
        """Return the element; `label` is the text alternative of the whole."""
        width, height = number(self.width), number(self.height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-size="{self.font:g}" '
            f'fill="{paint("muted")}" role="img" aria-label="{escape(label)}">'
            f"{''.join(self._parts)}{''.join(self._texts)}</svg>"
        )


def _titled(tag: str, title: str) -> str:
    """Return the end of an element with a hover text, if it has one."""
    return f"><title>{escape(title)}</title></{tag}>" if title else "/>"
