# SPDX-License-Identifier: MIT
"""Plots drawn by matplotlib as SVG that follows the page's theme.

Each plot is drawn in two forms, one for a desk and one for a telephone, because text that is
scaled down with its chart cannot be read. The page shows the one that fits.
"""

import io
import warnings
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG

from reports.axes import (
    LINE,
    bound_line,
    canvas,
    category_axis,
    limits,
    note_line,
    size_axis,
    ticks,
    value_axis,
    write,
)
from reports.findings.model import Plot, Series
from reports.svg import clean
from reports.theme import LIGHT, SERIES, SHAPES, THEMED, Form
from reports.words import describe, hover, place, printable
from suite.units import format_value

SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "frobench",  # identifiers depend on the drawing alone
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "text.color": LIGHT["muted"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
}


def draw(plot: Plot, form: Form, prefix: str) -> str:
    """Return the plot as an inline SVG element; `prefix` keeps its identifiers apart."""
    painters = {"curve": _curve, "points": _curve, "dots": _dots, "stack": _stack}
    raw = io.StringIO()
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has the font, not we
        figure: Any = painters[plot.kind](plot, form).figure
        drawing: Any = FigureCanvasSVG(figure)
        drawing.print_svg(raw, metadata={"Date": None})
    return clean(
        raw.getvalue(),
        prefix=f"{prefix}-{form.name}",
        label=describe(plot),
        colours=THEMED,
        hover={f"series-{i}": hover(plot, series) for i, series in enumerate(plot.series)}
        | ({"whole": hover(plot, plot.whole)} if plot.whole else {}),
    )


def _curve(plot: Plot, form: Form) -> Axes:
    """Draw a line for each series, its intervals as a band with whiskers; or its points alone."""
    labels = [format_value(tick, plot.y.unit) for tick in ticks(*limits(plot))]
    left = 10 + form.glyph * max(map(len, labels))
    axes = canvas(form, form.height, (left, 16, 32, 46))
    value_axis(axes, "y", plot)
    size_axis(axes, plot, form)
    for index, series in enumerate(plot.series):
        x = [float(point.x) for point in series.points]
        value, low, high = _ends(series)
        joined = plot.kind == "curve"
        if joined:
            axes.fill_between(x, low, high, color=_colour(index), alpha=0.2, linewidth=0)
        axes.vlines(x, low, high, color=_colour(index), linewidth=1.5)
        axes.plot(x, value, linewidth=2 if joined else 0, **_mark(index, form))
    if plot.reference is not None:
        note_line(axes, plot.reference, plot.reference_label, form)
    matched = len(plot.lines) == len(plot.series) > 1
    for index, line in enumerate(plot.lines):
        bound_line(axes, line, _colour(index) if matched else LIGHT["muted"], form)
    axes.annotate(
        printable(plot.y.label),
        (0, 1),
        xycoords="axes fraction",
        xytext=(-left, 16),
        textcoords="offset pixels",
        fontsize=form.font,
    )
    return axes


def _dots(plot: Plot, form: Form) -> Axes:
    """Draw a dot with a whisker for each number, its value beside it."""
    axes, places = category_axis(plot, form, len(plot.series))
    for index, series in enumerate(plot.series):
        y = [places[place(point.x)] - LINE * index for point in series.points]
        _dot_line(axes, series, y, plot.y.unit, form, _mark(index, form))
    if plot.reference is not None:
        axes.axvline(plot.reference, color=LIGHT["muted"], linewidth=1.2, dashes=(4, 3), zorder=1)
    return axes


def _stack(plot: Plot, form: Form) -> Axes:
    """Lay parts end to end, above the whole; a part below zero has a number but no length."""
    axes, places = category_axis(plot, form, 2 if plot.whole else 1)
    starts = dict.fromkeys(places, 0.0)
    for index, series in enumerate(plot.series):
        names = [place(point.x) for point in series.points]
        lengths = [max(0.0, point.y.value) for point in series.points]
        axes.barh(
            [places[name] for name in names],
            lengths,
            left=[starts[name] for name in names],
            height=15,
            color=_colour(index),
            edgecolor=LIGHT["paper"],
            linewidth=1,
            gid=f"series-{index}",
        )
        starts |= {name: starts[name] + length for name, length in zip(names, lengths, strict=True)}
    if plot.whole:
        y = [places[place(point.x)] - LINE for point in plot.whole.points]
        axes.hlines(y, 0, _ends(plot.whole)[0], color=LIGHT["ink"], linewidth=1.2)
        mark = _mark(1, form) | {"color": LIGHT["ink"], "gid": "whole"}
        _dot_line(axes, plot.whole, y, plot.y.unit, form, mark)
    return axes


def _dot_line(  # noqa: PLR0913, PLR0917 - what is drawn, where, and how
    axes: Axes, series: Series, y: list[float], unit: str, form: Form, mark: dict[str, Any]
) -> None:
    value, low, high = _ends(series)
    axes.hlines(y, *axes.get_xlim(), color=LIGHT["rule"], linewidth=0.8, zorder=0)
    axes.hlines(y, low, high, color=mark["color"], linewidth=2)
    axes.plot(value, y, linestyle="none", **mark)
    for height, number in zip(y, value, strict=True):
        write(axes, format_value(number, unit), (1, height), form, (10, -form.font * 0.36))


def _ends(series: Series) -> tuple[list[float], list[float], list[float]]:
    """Return values and interval ends; where there is no interval it has no length."""
    value = [point.y.value for point in series.points]
    low = [point.y.value if point.y.low is None else point.y.low for point in series.points]
    high = [point.y.value if point.y.high is None else point.y.high for point in series.points]
    return value, low, high


def _colour(index: int) -> str:
    return SERIES[index % len(SERIES)]


def _mark(index: int, form: Form) -> dict[str, Any]:
    return {
        "color": _colour(index),
        "marker": SHAPES[index % len(SHAPES)],
        "markersize": form.font * 0.58,
        "markeredgecolor": LIGHT["paper"],
        "markeredgewidth": 1,
        "clip_on": False,
        "gid": f"series-{index}",
    }
