# SPDX-License-Identifier: MIT
"""Who lays a ruler on a chart, and reads it by its ticks, gets the numbers that it was made of."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import linear_regression
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from frobench.reports.charts import axes, plots, screen
from frobench.reports.charts.axes import hover, interval
from frobench.reports.charts.plots import draw
from frobench.reports.findings.finding import RATIO, Axis, Plot, PlotKind, Point, Series
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_point

STEADY = settings(derandomize=True, deadline=None, max_examples=60)
CLOSE = 1.0
"""Pixels, or tenths of percent of the width: five roundings of coordinates."""
Place = tuple[float, float]
Ruler = Callable[[float], float]
"""From a value to its place."""
PREFIXES = {"": 1.0, "n": 1e-9, "\N{MICRO SIGN}": 1e-6, "m": 1e-3, "G": 1e9, "T": 1e12}


class Ink(NamedTuple):
    """A shape of a chart or a text, and where it is, from the left in tenths of percent."""

    classes: str
    text: str
    places: list[Place]


def read(drawn: str) -> list[Ink]:
    """Return all that is drawn, of rectangles the line in their middle."""
    shapes: list[Ink] = []
    for one in ET.fromstring(drawn):  # noqa: S314 - drawn here
        for shape in one if "viewBox" in one.attrib else [one]:
            looks = [inner.get("class") for inner in shape.iter() if inner.get("class")]
            title = shape.find(".//title")
            text = (shape.text if title is None else title.text) or ""
            shapes.append(Ink(looks[0] or "" if looks else "", text, _places(shape)))
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
    return [(10 * float(x), float(y)) for x, y in ends or [(x, y)]]


def assert_equal(drawn: Iterable[Ink], expected: Iterable[Ink]) -> None:
    """Assert that all is drawn that is expected, at its place, and nothing else."""
    both = [sorted(each, key=lambda one: one[:2]) for each in (drawn, expected)]
    named, truth = ([one[:2] for one in each] for each in both)
    assert named == truth
    found, places = ([c for one in each for at in one.places for c in at] for each in both)
    assert found == pytest.approx(places, abs=CLOSE)


def number(label: str) -> float:
    return float(label.rstrip(RATIO).replace(",", ""))


def amount(label: str, plot: Plot) -> float:
    """Return the number of a tick, whose prefix is its own or in the chart's subtitle."""
    shown, _, own = label.replace("\N{NO-BREAK SPACE}", " ").partition(" ")
    named = own or axes.subtitle(plot).rpartition(", ")[2]
    prefix = "" if plot.y.unit == RATIO else named.removesuffix(plot.y.unit)
    return number(shown) * PREFIXES[prefix]


def ruler(places: Mapping[float, float]) -> Ruler:
    """Return where a value lies, by the places of three ticks or more."""
    assert len(places) >= 3
    scales: list[Ruler] = [float, *([math.log10] if min(places) > 0 else [])]
    fits: list[tuple[float, int, Ruler]] = []
    for scale in scales:
        slope, origin = linear_regression([*map(scale, places)], [*places.values()])
        place = partial(_along, scale, origin, slope)
        fits.append((max(abs(place(one) - at) for one, at in places.items()), len(fits), place))
    off, _, best = min(fits)
    assert off < CLOSE
    return best


def _along(scale: Ruler, origin: float, length: float, value: float) -> float:
    return origin + scale(value) * length


@some.composite
def charts(draw_: some.DrawFn, labels: Sequence[str] = "abc") -> Plot:
    """Return a plot of any kind whose values have intervals and lie near or far apart."""
    kind: PlotKind = draw_(some.sampled_from(["curve", "points", "dots", "stack"]))
    unit = draw_(some.sampled_from(["s", "FLOP/s", RATIO]))
    typical = 1.0 if unit == RATIO else draw_(some.sampled_from([2e-6, 3e-2, 4e9]))
    far = draw_(some.sampled_from([1.3, 6.0, 1e3]))
    over_sizes = kind in {"curve", "points"}
    xs: list[float | str] = [2.0**n for n in range(4, 8)] if over_sizes else ["one", "two", "three"]
    each = some.floats(1.0, far).map(lambda factor: typical * factor)
    ends = some.sampled_from([around, lambda value: Estimate(value, None, None, 3)])
    if kind == "stack":
        ends |= some.just(lambda value: Estimate(-value, -1.2 * value, -0.9 * value, 8))

    def series(label: str) -> Series:
        return Series(label, tuple(Point(x, draw_(ends)(draw_(each))) for x in xs))

    lines = tuple(map(series, labels[: draw_(some.integers(1, len(labels)))]))
    bounds = draw_(some.integers(0, len(lines))) if over_sizes else 0
    return Plot(
        "p",
        "Title",
        kind,
        Axis("n"),
        Axis("Amount", unit),
        lines,
        draw_(some.sampled_from([None, 1.1 * typical])),
        "level",
        series("whole") if kind == "stack" and draw_(some.booleans()) else None,
        tuple(map(series, "xyz"[:bounds])),
    )


def around(value: float) -> Estimate:
    return Estimate(value, 0.9 * value, 1.2 * value, 8)


def over_sizes(plot: Plot, x: Ruler, y: Ruler) -> Iterator[Ink]:
    """Yield the lines of a plot, its points, and what bounds them."""
    for at, one in enumerate(plot.series, start=1):
        along = [(x(float(p.x)), y(p.y.value)) for p in one.points]
        ends = [(x(float(p.x)), *map(y, interval(p.y))) for p in one.points]
        cased = [(f"k{at} whisker", [(left, low), (left, high)]) for left, low, high in ends]
        if plot.kind == "curve":
            highs = [(left, high) for left, _, high in reversed(ends)]
            yield Ink(f"f{at} band", "", [(left, low) for left, low, _ in ends] + highs)
            cased.append((f"k{at}", along))
        for looks, places in cased:
            yield from (Ink(looks, "", places), Ink("casing", "", places))
        for title, place in zip(hover(plot, one), along, strict=True):
            yield Ink(f"f{at} dot", title, [place])
    for at, line in enumerate(plot.lines, start=1):
        along = [(x(float(p.x)), y(p.y.value)) for p in line.points]
        matched = len(plot.lines) == len(plot.series) > 1
        yield Ink(f"level k{at}" if matched else "level", "", along)
        yield Ink("", line.label, [(along[-1][0], along[-1][1] - 5)])


@STEADY
@given(charts().filter(lambda plot: plot.kind in {"curve", "points"}))
def test_over_sizes_all_lies_at_its_values_between_the_ticks(plot: Plot) -> None:
    shown = read(draw(plot))
    level = axes.level(plot)
    name = plot.reference_label if level is not None else ""
    (below,) = (one.places[0][1] for one in shown if one.text == plot.x.label)
    texts = [one for one in shown if one.text and not one.classes]
    ticks = [one for one in texts if one.text not in {plot.x.label, name, *"xyz"}]
    heights = {amount(one.text, plot): one for one in ticks if one.places[0][0] == 0}
    sizes = {number(one.text): one for one in ticks if one.places[0][1] == below - 19}
    y = ruler({value: one.places[0][1] - 4 for value, one in heights.items()})
    x = ruler({size: one.places[0][0] for size, one in sizes.items()})
    if plot.kind == "curve":
        assert [*sizes] == [p.x for p in plot.series[0].points][::-1]
        assert (x(16), x(128)) == pytest.approx((30, 970), abs=CLOSE)
    expected = [*heights.values(), *sizes.values(), Ink("", plot.x.label, [(1000, below)])]
    expected += [Ink("grid", "", [(0, y(value)), (1000, y(value))]) for value in heights]
    if level is not None:
        first, last = (
            min(abs(y(one.points[end].y.value) - y(level)) for one in plot.series)
            for end in (0, -1)
        )
        expected.append(Ink("level", "", [(0, y(level)), (1000, y(level))]))
        expected.append(Ink("", name, [(1000 if last > first else 0, y(level) - 5)]))
    expected += over_sizes(plot, x, y)
    assert_equal(shown, expected)


def in_rows(plot: Plot, x: Ruler, rows: Mapping[str, float]) -> Iterator[Ink]:
    """Yield the bars or points of a plot with the values behind them."""
    ends = dict.fromkeys(rows, 0.0)
    shown = [(str(at), one) for at, one in enumerate(plot.series, start=1)]
    shown += [("whole", plot.whole)] if plot.whole else []
    for at, (looks, one) in enumerate(shown):
        for title, point in zip(hover(plot, one), one.points, strict=True):
            name, value, span = str(point.x), point.y.value, interval(point.y)
            if plot.kind == "stack" and one is not plot.whole:
                y, begin, ends[name] = rows[name], ends[name], ends[name] + max(value, 0.0)
                yield Ink(f"f{looks} dot", title, [(x(begin), y), (x(ends[name]), y)])
                continue
            y = rows[name] + plots.BAR * (1 if plot.whole else at)
            is_bar = axes.limits(plot)[0] == 0 and one is not plot.whole
            yield Ink(f"f{looks} dot", title, [(x(end), y) for end in ([0, value][-1 - is_bar :])])
            yield Ink("ci" if is_bar else f"k{looks}", "", [(x(end), y) for end in span])
            text = format_point(point.y, plot.y.unit)
            yield Ink("name", text, [(x(max(value, span[1])), y + 4)])


@STEADY
@given(charts().filter(lambda plot: plot.kind in {"dots", "stack"}))
def test_in_rows_the_best_first_all_lies_at_its_values_beside_its_name(plot: Plot) -> None:
    shown = read(draw(plot))
    first = {str(p.x): p.y.value for p in (plot.whole or plot.series[0]).points}
    names = sorted(first, key=first.__getitem__, reverse=plot.y.unit == "FLOP/s")
    bars = 1 + bool(plot.whole) if plot.kind == "stack" else len(plot.series)
    step = plots.NAME + plots.BAR * bars + plots.GAP
    rows = {name: step * at + plots.NAME + plots.BAR / 2 for at, name in enumerate(names)}
    bottom = step * len(names)
    ticks = {amount(one.text, plot): one for one in shown if one.text and not one.classes}
    x = ruler({value: one.places[0][0] for value, one in ticks.items()})
    expected = [*in_rows(plot, x, rows)]
    if plot.kind == "stack":
        longest = max(at[0] for one in expected if one.classes != "name" for at in one.places)
        assert not longest or longest == pytest.approx(600 / 1.08, abs=CLOSE)
    expected += [Ink("name", name, [(0, y - 13)]) for name, y in rows.items()]
    expected += [Ink("", one.text, [(x(value), bottom + 15)]) for value, one in ticks.items()]
    expected += [Ink("grid", "", [(x(value), 0), (x(value), bottom)]) for value in ticks]
    if (level := axes.level(plot)) is not None:
        expected.append(Ink("level", "", [(x(level), 0), (x(level), bottom)]))
    assert_equal(shown, expected)


def test_ceilings_and_products_of_a_roofline_lie_at_their_rates_and_intensities() -> None:
    peaks = {"bfloat16": 8e14, "float32": 1e14}
    intensities = [4.0, 64.0, 1024.0, 2e4]
    ceilings = [
        Series(name, tuple(Point(x, around(min(peak, 2e12 * x))) for x in (4.0, peak / 2e12, 2e4)))
        for name, peak in peaks.items()
    ]
    products = [
        Series(name, tuple(Point(x, around(0.7 * min(peak, 2e12 * x))) for x in intensities))
        for name, peak in peaks.items()
    ]
    axis = Axis("FLOP per byte"), Axis("Rate", "FLOP/s")
    plot = Plot("roofline", "Roofline", "points", *axis, tuple(products), lines=tuple(ceilings))
    shown = read(screen.roofline(plot, {"bfloat16": "bf16 800"}, "memory"))
    texts = [(number(one.text), one) for one in shown if one.text[:1].isdigit()]
    rates = {1e12 * rate: one for rate, one in texts if one.places[0][0] == 0}
    across = {size: one for size, one in texts if one.places[0][0] > 0}
    y = ruler({rate: one.places[0][1] - 4 for rate, one in rates.items()})
    x = ruler({size: one.places[0][0] for size, one in across.items()})
    expected = [*rates.values(), *across.values(), Ink("zero", "", [(0, 246), (1000, 246)])]
    expected += [Ink("grid", "", [(0, y(rate)), (1000, y(rate))]) for rate in rates]
    names = zip(ceilings, products, ("bf16 800", "float32"), strict=True)
    for at, (ceiling, product, name) in enumerate(names, start=1):
        corners = [(x(float(p.x)), y(p.y.value)) for p in ceiling.points]
        expected += [Ink(f"k{at}", "", [*ends]) for ends in pairwise(corners)]
        dots = [(x(float(p.x)), y(p.y.value)) for p in product.points]
        expected += [Ink(f"f{at} dot", "", [place]) for place in dots]
        expected.append(Ink(f"lab l{at}", name, [(1000, corners[-1][1] + 4)]))
    expected.append(Ink("lab", "memory", [(0, y(8e12) + 20)]))
    expected.append(Ink("", "FLOP per byte", [(1000, 282)]))
    assert_equal(shown, expected)
