# SPDX-License-Identifier: MIT
"""Plots and stray strings in words: text alternatives, hover texts, names short and safe."""

import hashlib
import re
from collections.abc import Sequence
from textwrap import wrap

from frobench.reports.findings.finding import Plot, Series
from frobench.suite.printable import printable
from frobench.suite.units import format_estimate, format_value

MOST_LINES = 3
"""Of a name; the table beside its chart has the whole."""
_UNSAFE = re.compile(r"[^A-Za-z0-9.+-]+")
_BEGINNING = re.compile("[,:] ")
"""Ends what several names may begin with."""


def spell_x(x: float | str, unit: str = "") -> str:
    """Spell a size, in a unit if it has one, or a category as axes and tables show it."""
    return printable(x) if isinstance(x, str) else format_value(x, unit or "n")


def describe(plot: Plot) -> str:
    """Say what a plot shows: its text alternative, before the table."""
    shown = (*plot.series, *plot.lines)
    series = "; ".join(f"{printable(line.label)}: {_outline(plot, line)}" for line in shown)
    return f"{printable(plot.title)}. {plot.y.label} by {plot.x.label}. {series}."


def _outline(plot: Plot, series: Series) -> str:
    ends = dict.fromkeys((series.points[0], series.points[-1]))
    spelled = ((format_estimate(p.y, plot.y.unit), spell_x(p.x, plot.x.unit)) for p in ends)
    return ", ".join(f"{value} at {where}" for value, where in spelled)


def hover(plot: Plot, series: Series) -> list[str]:
    """Spell each point of a series."""
    return [
        f"{printable(series.label)}, {plot.x.label} {spell_x(point.x, plot.x.unit)}: "
        f"{format_estimate(point.y, plot.y.unit)}"
        for point in series.points
    ]


def short_names(series: Sequence[Series]) -> list[str]:
    """Name series by what tells them apart: without the words that all begin with."""
    return shortened([printable(line.label) for line in series])


def shortened(names: list[str]) -> list[str]:
    """Leave out the words that all names begin with, up to a comma or a colon."""
    if len(names) <= 1:
        return names
    beginnings = [match.end() for match in _BEGINNING.finditer(names[0])]
    common = (end for end in beginnings[::-1] if len({name[:end] for name in names}) == 1)
    begin = next(common, 0)
    return [name[begin:] for name in names]


def broken(text: str, letters: int) -> list[str]:
    """Return a text as lines of so many letters at most."""
    lines = wrap(text, letters, max_lines=MOST_LINES, placeholder=" \N{HORIZONTAL ELLIPSIS}")
    return lines or [text]


def slug(name: str) -> str:
    """Return a name that is safe as a file name and in a link, equal only for equal names."""
    safe = _UNSAFE.sub("-", name).strip(".-")[:100]
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return safe if safe and safe == name else f"{safe or 'unnamed'}-{digest}"
