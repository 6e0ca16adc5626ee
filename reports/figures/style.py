# SPDX-License-Identifier: MIT
"""How figures look: one style for papers and slides, the same bytes at every call."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.axes import Axes

from frobench.reports.web import theme
from frobench.reports.web.theme import LIGHT

WIDTH = 160.0 / 25.4
"""Width of a figure in inches, 160 mm: a page's column, or half of a slide."""
MARKERS = ("o", "s", "^", "D", "v", "P")
"""Of the series, so that colour is never alone."""
TITLE, TEXT, SMALL = 10.0, 8.0, 7.0
"""Sizes of letters, in points."""
RULE, LINE, WHISKER, MARK = 0.6, 1.4, 1.0, 4.5
"""Widths of lines and of marks, in points."""
EDGE, GLYPH = 0.12, 0.064
"""Width of the margins, and of a small letter, in inches."""

STYLE: Mapping[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": LIGHT["muted"],
    "axes.labelcolor": LIGHT["muted"],
    "axes.labelsize": TEXT,
    "axes.linewidth": RULE,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",  # which matplotlib brings along: the same on every system
    "font.size": TEXT,
    "grid.color": LIGHT["rule"],
    "grid.linewidth": RULE,
    "pdf.fonttype": 42,  # letters stay letters, which many publishers want
    "svg.fonttype": "path",
    "svg.hashsalt": "frobench",  # else names within the file differ from call to call
    "text.color": LIGHT["ink"],
    "text.parse_math": False,
    "xtick.color": LIGHT["muted"],
    "xtick.labelsize": SMALL,
    "ytick.color": LIGHT["muted"],
    "ytick.labelsize": SMALL,
}
"""Settings of matplotlib that differ from its defaults."""
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": "Frobench"}},
    "pdf": {"metadata": {"CreationDate": None, "Creator": "Frobench", "Producer": None}},
    "png": {"metadata": {"Software": None}, "dpi": 300},
}
"""What each format is written with: no date, and nothing of the program."""


@contextmanager
def styled() -> Iterator[None]:
    """Draw in this style, whatever a user's own matplotlib is set to."""
    settings: Any = rcParams  # each version types its names differently
    with rc_context():
        rcdefaults()
        settings.update(STYLE)
        yield


class Room(NamedTuple):
    """What the axes of a figure take, in inches: from the left edge, themselves, and below them."""

    left: float
    width: float
    height: float
    below: float


def write(
    axes: Axes,
    text: str,
    at: tuple[float, float],
    shift: tuple[float, float],
    paint: str,
    **options: Any,  # noqa: ANN401 - whatever matplotlib takes
) -> None:
    """Write so many points beside a place of the axes."""
    axes.annotate(text, at, shift, textcoords="offset points", size=SMALL, color=paint, **options)


def colour(index: int) -> str:
    """Return the colour of a series; see `theme.colour`."""
    return LIGHT[theme.colour(index)]


def marks(
    axes: Axes,
    places: tuple[Sequence[float], Sequence[float]],
    index: int,
    paint: str,
    size: float = MARK,
) -> None:
    """Draw the marks of a series."""
    mark = MARKERS[index % len(MARKERS)]
    axes.plot(*places, color=paint, marker=mark, markersize=size, linestyle="")
