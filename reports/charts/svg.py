# SPDX-License-Identifier: MIT
"""Charts as inline SVG, as wide as their container, fit for a strict Content-Security-Policy.

There are presentation attributes and classes of `static/run.css` only, colours follow the page's
theme, and the whole has a text alternative. Nothing has an identifier, so that any number of
drawings share a page. A library that draws the same takes twenty times as long, and its output
must be rewritten for all of this.
"""

from collections.abc import Iterable
from html import escape
from itertools import pairwise

from markupsafe import Markup

from frobench.reports.web.theme import SHAPES
from frobench.suite.printable import printable

Place = tuple[float, float]
EARLY, LATE = 8.0, 88.0
"""Percent of the width: a text at a tick before the first begins there, behind the second it ends
there."""
LONGEST = 100
"""Characters of a text; the table beside its chart has the whole."""


class Fluid:
    """A chart that is as wide as its container, while its text keeps its size.

    x is in percent of the width, y in pixels. All paths and areas are drawn in
    the place of the first one: they share an inner drawing that is stretched, 1,000 units wide.
    """

    def __init__(self, height: float) -> None:
        self.height = height
        self._below: list[str] = []
        self._stretched: list[str] = []
        self._parts: list[str] = []

    def path(self, places: Iterable[Place], classes: str, title: str = "") -> None:
        """Draw along a path, with a hover text."""
        self._stretch(f'd="{_joined(places)}" class="{classes}"{_titled("path", title)}')

    def cased(self, places: Iterable[Place], classes: str) -> None:
        """Draw along a path that has a margin, so that it is visible on areas of others."""
        places = [*places]
        self.path(places, "casing")
        self.path(places, classes)

    def area(self, places: Iterable[Place], classes: str) -> None:
        """Fill a path."""
        self._stretch(f'd="{_joined(places)}z" class="{classes}"/>')

    def _stretch(self, path: str) -> None:
        if not self._stretched:
            self._below, self._parts = self._parts, []
        self._stretched.append(f"<path {path}")

    def bar(  # noqa: PLR0913, PLR0917 - a place, a size, and how it looks
        self, x: float, middle: float, width: float, height: float, classes: str, title: str = ""
    ) -> None:
        """Fill a rectangle, at both sides of a height."""
        self._parts.append(
            f'<rect x="{_percent(x)}" y="{_number(middle - height / 2)}" width="{_percent(width)}" '
            f'height="{_number(height)}" class="{classes}"{_titled("rect", title)}'
        )

    def line(self, places: Iterable[Place], classes: str) -> None:
        """Draw a line through some places."""
        for (x1, y1), (x2, y2) in pairwise(places):
            self._parts.append(
                f'<line x1="{_percent(x1)}" y1="{_number(y1)}" x2="{_percent(x2)}" '
                f'y2="{_number(y2)}" class="{classes}"/>'
            )

    def dot(self, x: float, y: float, radius: float, classes: str, *, square: bool = False) -> None:
        """Draw a round or a square mark."""
        at, side, shift = _percent(x), _number(1.8 * radius), _number(-0.9 * radius)
        self._parts.append(
            f'<rect x="{at}" y="{_number(y)}" width="{side}" height="{side}" '
            f'transform="translate({shift} {shift})" class="{classes}"/>'
            if square
            else f'<circle cx="{at}" cy="{_number(y)}" r="{_number(radius)}" class="{classes}"/>'
        )

    def mark(self, x: float, y: float, shape: int, classes: str, title: str) -> None:
        """Draw the mark of a series with a hover text; those of later series are smaller."""
        scale = max(0.45, 1 - 0.18 * shape)  # so that all are visible at one place
        sized = f' transform="scale({scale:g})"' if shape else ""
        path = f'<path d="{SHAPES[shape % len(SHAPES)]}" class="{classes}"{sized}'
        self._parts.append(
            f'<svg x="{_percent(x)}" y="{_number(y)}" overflow="visible">'
            f"{path}{_titled('path', title)}</svg>"
        )

    def text(  # noqa: PLR0913, PLR0917 - a position, a text and how it looks
        self, x: float, y: float, text: str, classes: str = "", anchor: str = "start", dx: float = 0
    ) -> None:
        """Write at a base line, so many pixels beside a position."""
        shown = printable(text)
        if len(shown) > LONGEST:
            shown = f"{shown[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
        anchored = "" if anchor == "start" else anchor
        given = {"class": classes, "text-anchor": anchored, "dx": _number(dx) if dx else ""}
        more = "".join(f' {name}="{value}"' for name, value in given.items() if value)
        self._parts.append(f'<text x="{_percent(x)}" y="{_number(y)}"{more}>{escape(shown)}</text>')

    def tick(self, x: float, y: float, text: str) -> None:
        """Write below a tick, so that the text stays inside the drawing."""
        self.text(x, y, text, anchor="start" if x < EARLY else "end" if x > LATE else "middle")

    def svg(self, label: str) -> Markup:
        """Return the element; `label` is the text alternative of the whole."""
        stretched = ""
        if self._stretched:
            stretched = (
                f'<svg width="100%" height="{_number(self.height)}" preserveAspectRatio="none" '
                f'viewBox="0 0 1000 {_number(self.height)}">{"".join(self._stretched)}</svg>'
            )
        return Markup(  # noqa: S704 - our own drawing, its texts are escaped
            f'<svg class="fluid" width="100%" height="{_number(self.height)}" role="img" '
            f'aria-label="{escape(printable(label))}">{"".join(self._below)}{stretched}{"".join(self._parts)}</svg>'
        )


def _number(value: float) -> str:
    """Spell a coordinate, to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:g}"


def _percent(value: float) -> str:
    return f"{round(value, 2) + 0.0:g}%"


def _joined(places: Iterable[Place]) -> str:
    return "M" + "L".join(f"{_number(10 * x)} {_number(y)}" for x, y in places)


def _titled(tag: str, title: str) -> str:
    """Return the end of an element with a hover text, if it has one."""
    return f"><title>{escape(printable(title))}</title></{tag}>" if title else "/>"
