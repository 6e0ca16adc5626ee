# SPDX-License-Identifier: MIT
"""All that a chart draws lies at its numbers, under its name: themed, strict, told in words."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from frobench.reports.charts import axes, plots
from frobench.reports.charts.plots import draw, legend
from frobench.reports.findings.finding import RATIO, Axis, Plot, PlotKind, Point, Series
from frobench.reports.web.theme import SHAPES
from frobench.suite.printable import printable
from frobench.suite.stored.types import Estimate
from tests.reports.tables import Row, rows

HOSTILE = "</svg><script>alert(1)</script>$x^2$ \x00\u202e"
LABELS = [HOSTILE.ljust(100, "."), HOSTILE.ljust(101, "."), *"abcd"]
"""Of one more than 100 letters the last are cut."""
Place = tuple[float, float]
Drawn = tuple[str, list[Place]]


class Ink(NamedTuple):
    """A shape of a chart or a text, and where it is, from the left in tenths of percent.

    side : of a text, where it is not to the right of its place; of a square mark #
    """

    classes: str
    text: str
    places: list[Place]
    side: str = ""


def read(drawn: str) -> list[Ink]:
    """Return all that is drawn, of rectangles the line in their middle."""
    shapes: list[Ink] = []
    for one in ET.fromstring(drawn):  # noqa: S314 - drawn here
        for shape in one if "viewBox" in one.attrib else [one]:
            looks = [inner.get("class") for inner in shape.iter() if inner.get("class")]
            title = shape.find(".//title")
            text = (shape.text if title is None else title.text) or ""
            side = {"end": "]", "middle": "^"}.get(shape.get("text-anchor", ""), "")
            side += "#" * (shape.tag == "rect" and "transform" in shape.attrib)
            shapes.append(Ink(looks[0] or "" if looks else "", text, _places(shape), side))
    return shapes


def _places(shape: ET.Element) -> list[Place]:
    if shape.tag == "path":
        pairs = re.findall(r"([-\d.e+]+) ([-\d.e+]+)", shape.attrib["d"])
        return [(float(x), float(y)) for x, y in pairs]
    known = {name: text.removesuffix("%") for name, text in shape.attrib.items()}
    ends = [(known[f"x{end}"], known[f"y{end}"]) for end in "12" if "x1" in known]
    x, y = (float(known.get(name, known.get(f"c{name}", 0))) for name in "xy")
    if shape.tag == "rect" and "transform" not in known:
        middle = y + float(known["height"]) / 2
        return [(10 * x, middle), (10 * (x + float(known["width"])), middle)]
    return [(10 * float(x), float(y)) for x, y in ends] or [(10 * x, y)]


def told(drawn: str) -> str:
    """Return the words for who does not see a chart, and where all is, from the left in percent."""
    words = ET.fromstring(drawn).attrib["aria-label"] if drawn else ""  # noqa: S314 - drawn here
    shapes = [
        f"{one.classes} {one.text}{one.side}".strip()
        + ",".join(f" {x / 10:.0f} {y:.0f}" for x, y in one[2])
        for one in (read(drawn) if drawn else ())
    ]
    return plain("; ".join([words, *shapes])).replace("\N{LEFTWARDS ARROW}", "<")


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ").replace(RATIO, "x")


def around(value: float) -> Estimate:
    return Estimate(value, 0.9 * value, 1.2 * value, 8)


def line(label: str, numbers: Mapping[Any, float]) -> Series:
    """Return points that have intervals, of cases named by the line and the place."""
    return Series(label, tuple(Point(x, around(y), (f"{label} {x}",)) for x, y in numbers.items()))


SIZES = line("one", {16.0: 1e9, 64.0: 5e8}), line("two", {16.0: 2e9, 64.0: 3e9})
FAR = (Series("one", (Point(3.0, Estimate(1e6, None, None, 3)), *line("", {5e3: 1e9}).points)),)
NEAR = (line("one", {"a": 1.5, "b": 1.0}),)
STEPS = (line("sum", {1e3: 1e-3, 1.0: 3e-3}),)
PARTS = line("first", {"a": 1.0, "b": 2.0, "c": -1.0}), line("second", {"a": 2.0, "b": 3.0})
ALL = line("all", {"a": 9.0, "b": 5.5, "c": 7.0})
WAYS = (
    line("sum, on the GPU", {"copy: whole": 1e9, "copy: parts": 4e9}),
    line("sum, on the CPU", {"copy: whole": 2e9, "copy: parts": 3e9}),
)
LONG = (line("", {"building the model with no memory, putting copies of all tensors in": 26221.0}),)
N, WAY, RATE, TITLE = Axis("n"), Axis("way"), Axis("Rate", "FLOP/s"), "Waits in loops"
PLOTS = {
    "lines": Plot("p", TITLE, "curve", N, RATE, SIZES, "least", 1e9, None, SIZES[::-1]),
    "points": Plot("p", TITLE, "points", N, RATE, FAR, "most", 2e7, None, SIZES[:1]),
    "bars": Plot("p", TITLE, "dots", WAY, RATE, WAYS, "most", 3e9),
    "steps": Plot("p", TITLE, "dots", Axis("steps of a loop"), Axis("wait", "s"), STEPS),
    "dots": Plot("p", TITLE, "dots", WAY, Axis("Amount", RATIO), NEAR),
    "long": Plot("p", TITLE, "dots", WAY, Axis("Rate", "tokens/s"), LONG),
    "stack": Plot("p", TITLE, "stack", WAY, Axis("Energy", "J"), PARTS, whole=ALL, result="Low."),
}
TABLE = """
## charts
# lines
= 0; 1; 2; 3; 64; 16; n; least; two; one | 1:0 one, 2:1 two | GFLOP/s
# points
= 0.001; 0.01; 0.1; 1; 1,000; 100; 10; n; most; one |  | GFLOP/s
# bars
= 0; 2; 4; parts; whole; 1.00 GFLOP/s; 4.0 GFLOP/s; 2.0 GFLOP/s; 3.0 GFLOP/s
    | 1:1 on the GPU, 2:1 on the CPU | GFLOP/s
# steps
= 0; 1; 2; 3; 1 step of a loop; 1,000 steps of a loop; 1.00 ms; 3.0 ms |  | ms
# dots
= 0.8x; 1.2x; 1.6x; b; a; 1.5x; 1.00x |  | Amount
# long
= 0; 10,000; 20,000; 30,000; building the model with no memory, putting; copies of all tensors in;
    26,000 tokens/s |  | tokens/s
# stack
= 0; 4; 8; b; c; a; 9.0 J; 5.5 J; 7.0 J | 1:1 first, 2:1 second, whole:0 all | Energy, J
"""


@pytest.mark.parametrize("row", [*rows(TABLE)], ids=lambda row: row.what)
def test_rows_and_marks_are_named_and_the_best_row_is_first(row: Row) -> None:
    plot = PLOTS[row.what]
    texts = [one.text for one in read(draw(plot)) if one.text and not one.classes.endswith("dot")]
    marks = [f"{looks}:{SHAPES.index(mark)} {name}" for looks, mark, name in legend(plot)]
    assert [plain("; ".join(texts)), ", ".join(marks), axes.subtitle(plot)] == row.lines["="][0]


@some.composite
def charts(draw_: some.DrawFn) -> Plot:
    """Return a plot of any kind whose values have intervals and lie near or far apart."""
    kind: PlotKind = draw_(some.sampled_from(["curve", "points", "dots", "stack"]))
    typical, unit = draw_(some.sampled_from([(2e-6, "s"), (3e9, "FLOP/s"), (1.0, RATIO)]))
    far = draw_(some.sampled_from([1.3, 6.0, 1e3]))
    sized = kind in {"curve", "points"}
    places: Sequence[float | str] = (16.0, 32.0, 64.0, 128.0) if sized else ("one", "two", "three")
    ends = some.sampled_from([around, lambda value: Estimate(value, None, None, 3)])
    if kind == "stack":
        ends |= some.just(lambda value: Estimate(-value, -1.2 * value, -0.9 * value, 8))

    def series(label: str) -> Series:
        each = ((x, draw_(some.floats(typical, typical * far))) for x in places)
        return Series(label, tuple(Point(x, draw_(ends)(value)) for x, value in each))

    lines = tuple(map(series, LABELS[: draw_(some.integers(1, 6))]))
    bounds = tuple(map(series, LABELS[: draw_(some.integers(0, len(lines)))])) if sized else ()
    level = draw_(some.sampled_from([("", 1.0), ("least", 1.1 * typical)]))
    whole = series("whole") if kind == "stack" and draw_(some.booleans()) else None
    return Plot("p", TITLE, kind, N, Axis("Amount", unit), lines, *level, whole, bounds)


def ruler(places: Mapping[float, float]) -> Callable[[float], float]:
    """Return where a value lies, by the places of three ticks or more."""
    (first, begin), middle, *_, (last, end) = sorted(places.items())

    def place(scale: Callable[[float], float], value: float) -> float:
        part = (scale(value) - scale(first)) / (scale(last) - scale(first))
        return begin + part * (end - begin)

    is_even = abs(place(float, middle[0]) - middle[1]) < 1
    found = partial(place, float if is_even else math.log10)
    assert [found(value) for value in places] == pytest.approx([*places.values()], abs=1)
    return found


def expected(plot: Plot, beside: Callable[[float | str, int], float]) -> Iterator[Drawn]:
    """Yield the looks of all that is drawn for a number, its values, and where it is beside them.

    beside : returns where the numbers of a place are drawn, from the place and the series
    """
    begun: dict[float, float] = {}
    is_bar = axes.limits(plot)[0] == 0
    for at, one in enumerate(plot.series, start=1):
        bar = at if plot.kind == "dots" else 1
        points = [(beside(p.x, bar), low, p.y.value, high) for p, low, high in axes.ends(one)]
        for where, low, value, high in points:
            if plot.kind == "stack":
                begin = begun.get(where, 0.0)
                begun[where] = begin + max(value, 0.0)
                yield f"f{at} dot", [(begin, where), (begun[where], where)]
                continue
            looks = f"k{at} whisker" if plot.kind != "dots" else "ci" if is_bar else f"k{at}"
            yield looks, [(low, where), (high, where)]
            begins = [(0.0, where)] if plot.kind == "dots" and is_bar else []
            yield f"f{at} dot", [*begins, (value, where)]
            if plot.kind == "dots":
                yield "name", [(max(value, high), where + 4)]
        if plot.kind == "curve":
            band = [(low, where) for where, low, *_ in points]
            yield f"f{at} band", band + [(high, where) for where, *_, high in reversed(points)]
            yield f"k{at}", [(value, where) for where, _, value, _ in points]
    for point, low, high in axes.ends(plot.whole) if plot.whole else []:
        where = beside(point.x, 2)
        yield "kwhole", [(low, where), (high, where)]
        yield "fwhole dot", [(point.y.value, where)]
        yield "name", [(max(point.y.value, high), where + 4)]
    for at, line in enumerate(plot.lines, start=1):
        matched = len(plot.lines) == len(plot.series) > 1
        looks = f"level k{at}" if matched else "level"
        yield looks, [(point.y.value, beside(point.x, at)) for point in line.points]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(charts())
def test_all_lies_at_its_values_by_the_ticks_beside_its_place(plot: Plot) -> None:
    in_rows = plot.kind in {"dots", "stack"}
    values = axes.value_labels(plot, 4 if in_rows else 6).labels
    first = {str(p.x): p.y.value for p in (plot.whole or plot.series[0]).points}
    names = sorted(first, key=first.__getitem__, reverse=plot.y.unit == "FLOP/s")
    bars = 1 + bool(plot.whole) if plot.kind == "stack" else len(plot.series)
    step = plots.NAME + plots.BAR * bars + plots.GAP
    edge, level, full = 30 * (plot.kind == "curve"), axes.level(plot), step * len(names)

    def beside(x: float | str, at: int) -> float:
        if isinstance(x, str):
            return step * names.index(x) + plots.NAME + plots.BAR * (at - 0.5)
        return edge + (1000 - 2 * edge) * (x - 16) / 112

    end = float(full if in_rows else 1000)
    truth: list[Drawn] = [("grid", [(value, 0.0), (value, end)]) for value in values]
    if level is not None:
        truth.append(("level", [(level, 0.0), (level, end)]))
    truth += expected(plot, beside)
    ticks: dict[str, float] = {}
    rows, drawn, names_of_lines, svg = [], [], [], draw(plot)
    for looks, text, at, _ in read(svg):
        places = at if in_rows else [place[::-1] for place in at]
        if not looks and text in values.values():
            ticks.setdefault(text, places[0][0])
        elif text in first:
            rows.append((text, *places[0]))
        elif not looks and places[0][0] < plots.HEIGHT - plots.BELOW:
            names_of_lines.append((text, *places[0]))
        elif looks not in {"", "casing"}:
            drawn.append((looks, places))
    base = 0 if in_rows else 4
    place = ruler({value: ticks[text] - base for value, text in values.items()})
    found, true = sorted(drawn, key=itemgetter(0)), sorted(truth, key=itemgetter(0))
    assert [looks for looks, _ in found] == [looks for looks, _ in true]
    assert [c for _, places in found for at in places for c in at] == pytest.approx(
        [c for _, places in true for value, where in places for c in (place(value), where)], abs=0.4
    )
    assert rows == ([(name, 0, beside(name, 1) - 13) for name in names] if in_rows else [])
    begin, end = (0, 600) if in_rows else (plots.HEIGHT - plots.BELOW, plots.TOP)
    assert [*map(place, axes.limits(plot))] == pytest.approx([begin, end], abs=0.5)
    named = [(printable(one.label), one.points[-1].y.value, 1000.0 - edge) for one in plot.lines]
    if level is not None and not in_rows:  # its name stands where the lines are farther from it
        ends = ([abs(place(p.y.value) - place(level)) for p in one.points] for one in plot.series)
        before, *_, behind = map(min, zip(*ends, strict=True))
        named.insert(0, (plot.reference_label, level, 1000.0 * (behind > before)))
    texts = [text if len(text) <= 100 else f"{text[:99]}\u2026" for text, *_ in named]
    assert [text for text, *_ in names_of_lines] == texts
    assert [c for _, *at in names_of_lines for c in at] == pytest.approx(
        [c for _, value, where in named for c in (place(value) - 5, where)], abs=0.4
    )
    root = ET.fromstring(svg)  # noqa: S314 - drawn here
    assert all(0 <= one.places[0][1] < float(root.attrib["height"]) for one in read(svg))
    # Colours by classes alone, and no style or name that a page could have twice.
    assert not re.findall(r'<script|#[0-9a-f]{6}| (?:style|id|fill|stroke)="', svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", axes.describe(plot))
