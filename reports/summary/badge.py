# SPDX-License-Identifier: MIT
"""Badges: what a machine reaches, small enough for a line of somebody's README.

A badge is an SVG that asks for nothing: no font, no style sheet, no script. Its number has its
interval beside it, since nobody sees the page that explains it.
"""

from markupsafe import Markup

from frobench.reports.summary.card import ELLIPSIS, width
from frobench.reports.summary.device_axes import Axis
from frobench.reports.summary.views import Marks, doubtful
from frobench.reports.web.elements import element
from frobench.suite.printable import printable
from frobench.suite.terminal.answers import NOT_CONCLUSIVE
from frobench.suite.units import format_ends, format_estimate

LEFT, RIGHT, TEXT = "#3b4048", "#1d5a9e", "#ffffff"
"""Colours behind the name and behind the figure, and of both texts: at least 4.5:1."""
HEIGHT, SIZE, PADDING = 20, 11, 7
"""Pixels; the shape that badges have everywhere."""
LONGEST = 60
"""Characters of a part."""
FONTS = "Verdana,DejaVu Sans,Geneva,sans-serif"
"""The first two are as wide as the font that texts are measured in."""


def of_run(compute: Axis | None, marks: Marks, machine: str, when: str, *, complete: bool) -> bytes:
    """Return the badge of a run: its leading axis of compute, and of which device that is.

    when : the day it was measured
    complete : whether every launch that was planned ended
    """
    if compute is None:
        return badge(machine, "no rate", f"{machine}: no product was measured.").encode()
    spell = format_ends if compute.value.is_wide else format_estimate
    rate = f"{compute.precision} {spell(compute.value, compute.unit)}"
    wide = (NOT_CONCLUSIVE,) if compute.value.is_wide else ()
    doubts = [*wide, *doubtful(compute.cases, marks), *(() if complete else ("partial",))]
    doubted = f" ({', '.join(doubts)})" if doubts else ""
    told = f"{machine}: {rate} on one {compute.device}{doubted}. Measured with Frobench, {when}."
    return badge(compute.device, ", ".join([rate, *doubts]), told).encode()


def badge(name: str, figure: str, told: str) -> Markup:
    """Return a badge as SVG; what is too long for its place is cut.

    told : what it says to readers who hover over it or hear it
    """
    texts = [_cut(printable(one)) for one in (name, figure)]
    first, second = (round(width(one, SIZE)) for one in texts)
    middle = first + 2 * PADDING
    whole = middle + second + 2 * PADDING
    wide, high = whole - middle - 3, HEIGHT - 6
    right = f"M{middle} 0h{wide}a3 3 0 0 1 3 3v{high}a3 3 0 0 1-3 3h{-wide}z"
    written = [
        element("text", {"x": x, "y": 14, "textLength": length}, text)
        for x, length, text in zip((PADDING, middle + PADDING), (first, second), texts, strict=True)
    ]
    return element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": whole,
            "height": HEIGHT,
            "role": "img",
            "aria-label": told,
        },
        element("title", {}, told),
        element("rect", {"width": whole, "height": HEIGHT, "rx": 3, "fill": LEFT}),
        element("path", {"fill": RIGHT, "d": right}),
        element("g", {"fill": TEXT, "font-family": FONTS, "font-size": SIZE}, *written),
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}{ELLIPSIS}"
