# SPDX-License-Identifier: MIT
"""Lines over sizes, or points alone: names are at their ends, intervals are bands."""

from collections.abc import Sequence

from reports.charts import axes, labels
from reports.charts.axes import DASHED, Frame, Scale
from reports.charts.svg import Drawing, joined, number
from reports.charts.words import hover, short_names
from reports.findings.finding import Plot, Series
from reports.web.theme import SERIES, SHAPES, Form
from suite.units import format_point

LINE = 14.0
"""Height of a line of a name, in pixels."""
FAR = 9.0
"""Pixels from a name to the end of its line, above which a stroke joins them."""
SMALLER, LEAST_MARK = 0.18, 0.45
"""How much smaller the marks of each further series are, and the size of the smallest, relative to
those of the first."""
BELOW = 40.0
"""Height of the labels below the frame, in pixels."""


def draw(plot: Plot, form: Form) -> Drawing:
    """Draw a line for each series, its intervals as a band with whiskers; or its points alone."""
    drawing = Drawing(form.width, form.height, form.font)
    low, high = axes.limits(plot)
    shown = axes.tick_labels(axes.ticks(low, high), plot.y.unit).labels
    left = 10 + form.glyph * max(map(len, shown.values()), default=0)
    names = [labels.broken(name, form.letters) for name in _names(plot)]
    beside = 18 + form.glyph * max(len(line) for name in names for line in name)
    frame = Frame(left, form.width - beside, 16, form.height - BELOW)
    y = Scale(low, high, frame.bottom, frame.top, axes.is_far(plot, low, high))
    sizes = axes.sizes(plot)
    inset = 0.0 if plot.kind == "points" else 0.045 * (frame.right - left)
    first, last = sizes[0], sizes[-1]
    x = Scale(first, last, left + inset, frame.right - inset, axes.is_wide(first, last))
    axes.values_across(drawing, frame, y, shown, upright=False)
    axes.along(drawing, frame, x, axes.size_labels(plot, x, form.glyph, form.x_labels))
    axes.name_axis(drawing, frame, plot.x.label)
    _level(drawing, plot, frame, y)
    matched = len(plot.lines) == len(plot.series) > 1
    for index, line in enumerate(plot.lines):
        axes.bound(drawing, line, x, y, _colour(index) if matched else "muted")
    _lines(drawing, plot, x, y)
    _write_names(drawing, names, _last_points(plot.series, x, y), frame)
    return drawing


def _names(plot: Plot) -> list[str]:
    """Return the label at the end of each line: its name, or the value of a single line."""
    if len(plot.series) > 1:
        return short_names(plot.series)
    return [format_point(plot.series[0].points[-1].y, plot.y.unit)]


def _level(drawing: Drawing, plot: Plot, frame: Frame, y: Scale) -> None:
    """Draw the level that values are compared with."""
    level = axes.level(plot)
    if level is not None:
        path = f"M{number(frame.left)} {number(y(level))}H{number(frame.right)}"
        drawing.line(path, "muted", 1.2, dashes=DASHED)
        at_end = axes.level_at_end(plot, y)
        x, anchor = (frame.right, "end") if at_end else (frame.left + 2, "start")
        drawing.text(plot.reference_label, x, y(level) - 5, anchor)


def _lines(drawing: Drawing, plot: Plot, x: Scale, y: Scale) -> None:
    """Draw the bands of all series, and above them whiskers, lines and marks.

    A line has a margin of the background's colour, so that it is visible on the bands of others.
    The marks of each series are smaller than those of the one before, so that all are visible.
    """
    ends = [
        [(x(float(p.x)), y(low), y(p.y.value), y(high)) for p, low, high in axes.ends(series)]
        for series in plot.series
    ]
    if plot.kind == "curve":
        for index, points in enumerate(ends):
            edge = [(at, low) for at, low, _, _ in points]
            edge += [(at, high) for at, _, _, high in points[::-1]]
            drawing.area(joined(edge), _colour(index), 0.2)
    for index, (series, points) in enumerate(zip(plot.series, ends, strict=True)):
        places = [(at, value) for at, _, value, _ in points]
        paths = [("".join(joined([(at, low), (at, high)]) for at, low, _, high in points), 1.5)]
        if plot.kind == "curve":
            paths.append((joined(places), 2.0))
        for colour, wider in (("paper", 2), (_colour(index), 0)):
            for path, width in paths:
                drawing.line(path, colour, width + wider)
        shape = SHAPES[index % len(SHAPES)]
        drawing.marks(shape, places, _colour(index), hover(plot, series), mark_size(index))


def _last_points(series: Sequence[Series], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """Return where each line ends."""
    return [(x(float(line.points[-1].x)), y(line.points[-1].y.value)) for line in series]


def _write_names(
    drawing: Drawing,
    names: Sequence[Sequence[str]],
    places: Sequence[tuple[float, float]],
    frame: Frame,
) -> None:
    """Write the name of each line at its end, or beside it with a stroke between."""
    heights = [LINE * len(lines) + 2 for lines in names]
    middles = labels.spread([at for _, at in places], heights, frame.bottom + LINE)
    for index, (lines, (x, y), middle) in enumerate(zip(names, places, middles, strict=True)):
        begin = frame.right + 10
        if abs(middle - y) > FAR or begin - x > 4 * FAR:
            path = joined([(x + 6, y), (begin - 3, middle)])
            drawing.line(path, _colour(index), 1.0, dashes="1 2")
        for row, line in enumerate(lines):
            at = middle + LINE * (row - (len(lines) - 1) / 2) + 0.35 * drawing.font
            drawing.text(line, begin, at, colour=labels.colour_of(index))


def mark_size(index: int) -> float:
    """Return the size of the marks of a series, relative to those of the first."""
    return max(LEAST_MARK, 1 - SMALLER * index)


def _colour(index: int) -> str:
    return SERIES[index % len(SERIES)]
