# SPDX-License-Identifier: MIT
"""How nodes spread around the median of their peers in one subject, drawn in a cell of a table.

Few nodes are a dot each. Many are bands that hold 50%, 90% and all that the drawing has room for.
Nodes that are unlike their peers are marks of their own, at the edge where they lie beyond it.
"""

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from frobench.reports.fleet.unlike import Values
from frobench.reports.web.elements import element, percent, plain
from frobench.suite.units import format_value

HEIGHT, MIDDLE, SIDE = 26, 13, 8
"""Pixels: of the drawing, to the middle of its marks, and of a square."""
FEW = 60
"""Nodes that are drawn one by one, at most."""
BANDS = ((0.0, 4), (0.05, 10), (0.25, 18))
"""Parts of the nodes that a band leaves out on each side, and its height in pixels."""
ROOM = 1.5
"""Half-width of the drawing in reaches of the intervals."""
LEAST_ROOM = 0.01
"""Half-width of the drawing as a logarithm, at least."""


def room(reach: Values) -> float:
    """Return the half-width of drawings, as a logarithm: one for all subjects of a kind."""
    known = reach[~np.isnan(reach)]
    return max(LEAST_ROOM, ROOM * float(np.median(known))) if len(known) else LEAST_ROOM


def drawing(deviation: Values, named: NDArray[np.bool_], width: float, label: str) -> Markup:
    """Draw the nodes of one subject.

    Parameters
    ----------
    deviation
        Of each node, as a logarithm; NaN where there is none.
    named
        Whether a node is unlike its peers.
    width
        Half of what the drawing shows, as a logarithm.
    label
        What the drawing shows, in words.
    """
    usual = np.sort(deviation[~named & ~np.isnan(deviation)])
    inside = _dots(usual, width) if len(usual) <= FEW else _bands(usual, width)
    middle = {"x1": "50%", "x2": "50%", "y1": "0", "y2": str(HEIGHT), "class": "median"}
    return element(
        "svg",
        {"class": "nodes", "height": str(HEIGHT), "role": "img", "aria-label": label},
        element("line", middle),
        *inside,
        *_marks(deviation[named], width),
    )


def ends(width: float) -> tuple[str, str]:
    """Return what the left and the right edge of the drawings stand for."""
    shorter, longer = (format_value(abs(np.expm1(side * width)), "1", 2) for side in (-1, 1))
    return f"{shorter} shorter", f"{longer} longer"


def _position(value: float, width: float) -> float:
    return min(max(0.5 + value / width / 2, 0.0), 1.0)


def _dots(values: Values, width: float) -> Iterator[Markup]:
    for value in values:
        x = percent(100 * _position(float(value), width))
        yield element("circle", {"cx": x, "cy": str(MIDDLE), "r": "3", "class": "one"})


def _bands(values: Values, width: float) -> Iterator[Markup]:
    for left_out, height in BANDS:
        low, high = (
            _position(float(np.quantile(values, part)), width) for part in (left_out, 1 - left_out)
        )
        attributes = {
            "x": percent(100 * low),
            "width": percent(100 * (high - low)),
            "y": plain(MIDDLE - height / 2),
            "height": plain(height),
            "class": "band",
        }
        yield element("rect", attributes)


def _marks(values: Values, width: float) -> Iterator[Markup]:
    """Draw the nodes that are unlike their peers as squares."""
    square = {"y": plain(MIDDLE - SIDE / 2), "width": str(SIDE), "height": str(SIDE)}
    for value in np.sort(values):
        position = _position(float(value), width)
        # Centred in the middle, and whole at either edge.
        inside = {"transform": f"translate({plain(-SIDE * position)} 0)", "class": "odd"}
        yield element("rect", {"x": percent(100 * position), **square, **inside})
