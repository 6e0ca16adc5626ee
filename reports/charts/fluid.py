# SPDX-License-Identifier: MIT
"""Small charts that follow the width of their container, while their text keeps its size.

They are 100% wide and so many pixels high: x is in percent, y in pixels. Colours come from classes
of the style sheet, so that a chart follows the page's theme.
"""

from collections.abc import Iterable
from html import escape
from itertools import pairwise

from markupsafe import Markup

from reports.charts.svg import number
from suite.printable import printable

Places = Iterable[tuple[float, float]]


class Fluid:
    """What is drawn so far; classes are those of `static/run.css`."""

    def __init__(self, height: float) -> None:
        self.height = height
        self._parts: list[str] = []

    def bar(self, x: float, y: float, width: float, height: float, classes: str) -> None:
        """Fill a rectangle."""
        self._parts.append(
            f'<rect x="{percent(x)}" y="{number(y)}" width="{percent(width)}" '
            f'height="{number(height)}" class="{classes}"/>'
        )

    def line(self, start: tuple[float, float], stop: tuple[float, float], classes: str) -> None:
        """Draw a straight line."""
        (x1, y1), (x2, y2) = start, stop
        self._parts.append(
            f'<line x1="{percent(x1)}" y1="{number(y1)}" x2="{percent(x2)}" y2="{number(y2)}" '
            f'class="{classes}"/>'
        )

    def upright(self, x: float, top: float, bottom: float, classes: str) -> None:
        """Draw a line from top to bottom."""
        self.line((x, top), (x, bottom), classes)

    def course(self, places: Places, classes: str) -> None:
        """Draw a line through some places."""
        for start, stop in pairwise(places):
            self.line(start, stop, classes)

    def dot(self, x: float, y: float, radius: float, classes: str, *, square: bool = False) -> None:
        """Draw a round or a square mark."""
        if not square:
            self._parts.append(
                f'<circle cx="{percent(x)}" cy="{number(y)}" r="{number(radius)}" '
                f'class="{classes}"/>'
            )
            return
        side, shift = number(1.8 * radius), number(-0.9 * radius)
        self._parts.append(
            f'<rect x="{percent(x)}" y="{number(y)}" width="{side}" height="{side}" '
            f'transform="translate({shift} {shift})" class="{classes}"/>'
        )

    def text(  # noqa: PLR0913, PLR0917 - a position, a text and how it looks
        self, x: float, y: float, text: str, classes: str = "", anchor: str = "start", dx: float = 0
    ) -> None:
        """Write at a base line, so many pixels beside a position."""
        given = {
            "class": classes,
            "text-anchor": "" if anchor == "start" else anchor,
            "dx": number(dx) if dx else "",
        }
        more = "".join(f' {name}="{value}"' for name, value in given.items() if value)
        self._parts.append(
            f'<text x="{percent(x)}" y="{number(y)}"{more}>{escape(printable(text))}</text>'
        )

    def svg(self, label: str) -> Markup:
        """Return the element; `label` is the text alternative of the whole."""
        return Markup(  # noqa: S704 - our own drawing, its texts are escaped
            f'<svg class="fluid" width="100%" height="{number(self.height)}" role="img" '
            f'aria-label="{escape(printable(label))}">{"".join(self._parts)}</svg>'
        )


def percent(value: float) -> str:
    """Spell a position along the width."""
    return f"{round(value, 2) + 0.0:g}%"
