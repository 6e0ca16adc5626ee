# SPDX-License-Identifier: MIT
"""Charts of runs as figures for papers and slides: SVG, PDF and PNG in a folder beside each page.

matplotlib draws them; how they look is in `paper.mplstyle` beside this module.
"""

import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path, PurePosixPath
from textwrap import wrap
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frobench.reports.charts import axes as scales
from frobench.reports.charts.axes import row_titles, short_names, subtitle
from frobench.reports.files.metadata import Publication
from frobench.reports.findings import sections
from frobench.reports.findings.finding import Plot, Series
from frobench.reports.findings.roofline import rooflines
from frobench.reports.making.cache import slug
from frobench.reports.summary.model import Summary
from frobench.reports.table.facts import machine_title
from frobench.reports.web.theme import LIGHT
from frobench.suite import checks
from frobench.suite.printable import printable
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from frobench.suite.units import format_point

FOLDER = "-figures"
"""Behind a page's name, in the name of the folder of its figures."""
_MARKS = re.compile("[_:/+]")
"""What names of exercises and devices have and those of files had better not."""
STYLE = Path(__file__).with_name("paper.mplstyle")
WIDTH = 160.0 / 25.4
"""Width of a figure in inches, 160 mm: a page's column, or half of a slide."""
TITLE_LETTERS, TEXT_LETTERS, NAME_LETTERS = 72, 96, 28
"""Letters in a line of a title, of the text below it, and of the name of a row, at most."""
LINE, BAR, GAP, CURVES = 0.18, 0.2, 0.06, 2.6
"""Heights in inches: of a line of text, of a bar with its interval, of the space between rows, and
of the axes of curves."""
GLYPH = 0.064
"""Width of a small letter, in inches."""
Look = Mapping[str, Any]
"""What `errorbar` takes."""
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": "Frobench"}},
    "pdf": {"metadata": {"CreationDate": None, "Creator": "Frobench", "Producer": None}},
    "png": {"metadata": {"Software": None}, "dpi": 300},
}
"""What each format is written with: no date and no name of a library, so that equal figures are
equal files."""


@dataclass
class Figures:
    """What a site lays beside its pages where figures are asked for.

    out : the folder of the site, where the stored files are beside their pages
    folders : of the figures, once they are made
    """

    out: Path
    folders: list[Path] = field(default_factory=list)

    def __call__(self, runs: Sequence[Summary], _publication: Publication) -> dict[str, bytes]:
        """Return the figures of all runs by their names below the site."""
        made: dict[str, bytes] = {}
        for page in sorted(run.href for run in runs):
            run = store.read((self.out / page).with_suffix(".json"))
            folder = PurePosixPath(page).with_suffix("").as_posix() + FOLDER
            made |= {f"{folder}/{name}": content for name, content in of_run(run)}
            self.folders.append(self.out / folder)
        return made


def of_run(run: Run) -> Iterator[tuple[str, bytes]]:
    """Yield each chart of a run in each format, as named files."""
    credible = checks.credible(checks.judged(run))
    source = (
        f"{machine_title(run)}, {run.datetime[:10]}; bands and whiskers: 95% intervals; Frobench"
    )
    for name, plot in _plots(credible):
        for suffix, content in drawn(plot, source).items():
            yield f"{name}.{suffix}", content


def _plots(run: Run) -> Iterator[tuple[str, Plot]]:
    """Yield the charts of a run with their names, those of answers before the rooflines."""
    taken = Counter[str]()
    named = [
        (f"{section.exercise}-{plot.name}", plot)
        for section in sections(run)
        for plot in section.plots
    ]
    named += [(roof.plot.name, roof.plot) for roof in rooflines(run)]
    for name, plot in named:
        plain = slug(_MARKS.sub("-", name))
        taken[plain] += 1
        yield plain if taken[plain] == 1 else f"{plain}-{taken[plain]}", plot


def drawn(plot: Plot, source: str) -> dict[str, bytes]:
    """Return a plot as a file of each format, by suffix; the same bytes at every call."""
    made = {}
    with style.context(STYLE, after_reset=True), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # what the font lacks is drawn as a box
        figure = paint(plot, source)
        for suffix, options in FORMATS.items():
            file = io.BytesIO()
            figure.savefig(file, format=suffix, **options)
            made[suffix] = file.getvalue()
    return made


def paint(plot: Plot, source: str) -> Figure:
    """Return a plot as a figure; `reports.charts` draws it for pages.

    source : what was measured, and when: the line below the title
    """
    title = wrap(printable(plot.result or plot.title), TITLE_LETTERS)
    text = [*wrap(printable(subtitle(plot)), TEXT_LETTERS), printable(source)]
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    height = (_curves if plot.kind in {"curve", "points"} else _rows)(axes, plot)
    figure.suptitle("\n".join(title), x=0.01, ha="left")
    axes.set_title("\n".join(text), loc="left")
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        beside = max(1, int(WIDTH / GLYPH / (max(map(len, labels)) + 10)))
        figure.legend(handles, labels, loc="outside lower left", ncols=beside)
        height += LINE * ceil(len(labels) / beside)
    figure.set_size_inches(WIDTH, height + LINE * (len(title) + len(text) + 2))
    return figure


def _curves(axes: Axes, plot: Plot) -> float:
    """Draw a line over sizes for each series, its interval as a band; return the height."""
    y, ticks = scales.values(plot, 0.0, 1.0), scales.value_labels(plot).labels
    axes.set_yscale("log" if y.log else "linear")
    axes.set_ylim(y.low, y.high)
    axes.set_yticks([*ticks], [*ticks.values()])
    x = scales.sizes(plot, 0.0, 0.6 * WIDTH)
    sizes = scales.size_labels(plot, x, GLYPH, scales.MOST_TICKS)
    axes.set_xscale("log" if x.log else "linear")
    axes.set_xticks([*sizes], [*sizes.values()])
    axes.minorticks_off()
    axes.grid(visible=True, axis="y")
    axes.set_xlabel(printable(plot.x.label))
    joined = "-" if plot.kind == "curve" else ""
    for series, name in zip(plot.series, _names(plot.series), strict=True):
        at, values, errors = _coordinates(series)
        line = axes.errorbar(at, values, errors, label=name, linestyle=joined)
        if joined:
            _, low, high = zip(*scales.ends(series), strict=True)
            axes.fill_between(at, low, high, color=line[0].get_color(), alpha=0.18, linewidth=0)
    for index, bound in enumerate(plot.lines):
        at, values, _ = _coordinates(bound)
        colour = f"C{index}" if len(plot.lines) == len(plot.series) > 1 else LIGHT["muted"]
        axes.plot(at, values, "--", color=colour, marker="", label=printable(bound.label))
    _level(axes.axhline, plot)
    return CURVES


def _rows(axes: Axes, plot: Plot) -> float:
    """Draw a row for each category, the best first, and return the height in inches.

    Bars begin at zero; where the axis does not, values are dots. Parts of a stack lie end to end,
    above the mark of the whole.
    """
    names = row_titles(plot)
    lines = [wrap(name, NAME_LETTERS) or [name] for name in names.values()]
    x, ticks = scales.values(plot, 0.0, 1.0), scales.value_labels(plot, scales.MOST_TICKS - 1)
    axes.set_xscale("log" if x.log else "linear")
    axes.set_xlim(x.low, x.high)
    axes.set_xticks([*ticks.labels], [*ticks.labels.values()])
    axes.minorticks_off()
    axes.grid(visible=True, axis="x")
    axes.set_yticks(range(len(names)), ["\n".join(line) for line in lines])
    axes.set_ylim(len(names) - 0.5, -0.5)
    bars = (2 if plot.whole else 1) if plot.kind == "stack" else len(plot.series)
    thick = 0.8 / bars
    first = {name: row - thick * (bars - 1) / 2 for row, name in enumerate(names)}
    if plot.kind == "stack":
        _stack(axes, plot, first, thick)
    else:
        named = zip(plot.series, _names(plot.series), strict=True)
        for index, (series, name) in enumerate(named):
            rows = [first[scales.spell_x(point.x)] + thick * index for point in series.points]
            if x.low == 0:
                axes.barh(rows, _coordinates(series)[1], 0.8 * thick, label=name)
                _values(axes, plot, series, rows, {"fmt": "none", "ecolor": LIGHT["ink"]})
            else:
                _values(axes, plot, series, rows, {"linestyle": "", "label": name})
    _level(axes.axvline, plot)
    return sum(max(BAR * bars, LINE * len(line)) + GAP for line in lines)


def _stack(axes: Axes, plot: Plot, rows: Mapping[str, float], thick: float) -> None:
    starts = dict.fromkeys(rows, 0.0)
    for series, name in zip(plot.series, _names(plot.series), strict=True):
        lengths = {scales.spell_x(point.x): max(0.0, point.y.value) for point in series.points}
        at, left = [rows[row] for row in lengths], [starts[row] for row in lengths]
        axes.barh(at, [*lengths.values()], 0.9 * thick, left, label=name)
        starts |= {row: starts[row] + length for row, length in lengths.items()}
    if plot.whole:
        at = [rows[scales.spell_x(point.x)] + thick for point in plot.whole.points]
        look = {"linestyle": "", "color": LIGHT["ink"], "label": printable(plot.whole.label)}
        _values(axes, plot, plot.whole, at, look)


def _values(axes: Axes, plot: Plot, series: Series, rows: Sequence[float], look: Look) -> None:
    """Draw the intervals of a series over its rows, and write its values behind them."""
    _, values, errors = _coordinates(series)
    axes.errorbar(values, rows, xerr=errors, **look)
    for (point, _, high), row in zip(scales.ends(series), rows, strict=True):
        end = min(max(high, point.y.value), axes.get_xlim()[1])
        text = printable(format_point(point.y, plot.y.unit))
        axes.annotate(
            text, (end, row), (5, 0), textcoords="offset points", va="center", annotation_clip=False
        )


def _names(series: Sequence[Series]) -> list[str]:
    """Return the names of several series for the legend; a single one needs none."""
    return short_names(series) if len(series) > 1 else [""] * len(series)


def _coordinates(series: Series) -> tuple[list[Any], list[float], list[list[float]]]:
    """Return places, values, and the lengths of the intervals below and above these."""
    ends = scales.ends(series)
    values = [point.y.value for point, _, _ in ends]
    below = [max(0.0, point.y.value - low) for point, low, _ in ends]
    above = [max(0.0, high - point.y.value) for point, _, high in ends]
    return [point.x for point, _, _ in ends], values, [below, above]


def _level(draw: Callable[..., object], plot: Plot) -> None:
    """Draw the level worth a line of its own, by `axhline` or `axvline`."""
    level = scales.level(plot)
    if level is not None:
        label = printable(plot.reference_label)
        draw(level, color=LIGHT["muted"], linestyle=":", marker="", label=label)
