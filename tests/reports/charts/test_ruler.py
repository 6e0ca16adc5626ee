# SPDX-License-Identifier: MIT
"""Who lays a ruler on a chart, and reads it by its ticks, gets the numbers that it was made of."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import linear_regression
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from frobench.reports.charts import axes, screen
from frobench.reports.charts.plots import draw
from frobench.reports.charts.screen import Bar
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, PlotKind, Point, Series
from frobench.suite.stored.types import Estimate

STEADY = settings(derandomize=True, deadline=None, max_examples=40)
CLOSE = 0.8
"""Pixels, or tenths of percent of the width: four roundings of coordinates."""
Place = Callable[[float], float]
"""From a value to its place."""


class Mark(NamedTuple):
    """A shape of a chart: where it begins and ends, from the left in tenths of percent."""

    tag: str
    classes: str
    x: float
    y: float
    x2: float
    y2: float
    text: str


def marks(drawn: str) -> list[Mark]:
    """Return the shapes of a chart that are not stretched, in their order."""
    found = []
    for one in ET.fromstring(drawn):  # noqa: S314 - drawn here
        known = one.attrib
        x, y = (known.get(name, known.get(f"{name}1", known.get(f"c{name}", "0"))) for name in "xy")
        across, down = tenths(x), float(y)
        ends = tenths(known.get("x2", x)), float(known.get("y2", y))
        if one.tag == "rect":
            ends = across + tenths(known["width"]), down + float(known["height"])
        inner = one.find("path")
        shown = known.get("class", "") if inner is None else inner.attrib.get("class", "")
        title = one.find(".//title")
        text = (one.text if title is None else title.text) or ""
        found.append(Mark(one.tag, shown, across, down, *ends, text))
    return found


def tenths(coordinate: str) -> float:
    return 10 * float(coordinate.removesuffix("%"))


def number(label: Mark) -> float:
    return float(label.text.replace(",", ""))


def ruler(places: Mapping[float, float]) -> Place:
    """Return where a value lies, by the places of three ticks or more."""
    scales: list[Place] = [float, *([math.log10] if min(places) > 0 else [])]
    fits: list[tuple[float, int, Place]] = []
    for scale in scales:
        slope, origin = linear_regression([*map(scale, places)], [*places.values()])
        place = partial(_along, scale, origin, slope)
        fits.append((max(abs(place(one) - at) for one, at in places.items()), len(fits), place))
    off, _, best = min(fits)
    assert off < CLOSE
    return best


def _along(scale: Place, origin: float, length: float, value: float) -> float:
    return origin + scale(value) * length


def ticks_of(shown: Sequence[Mark], labels: Mapping[float, str], side: str) -> dict[float, float]:
    """Return the places of ticks: of each the line that its text stands at."""
    lines = [getattr(one, side) for one in shown if one.classes in {"grid", "zero"}]
    value = {label: number for number, label in labels.items()}
    found: dict[float, float] = {}
    for text in (one for one in shown if one.tag == "text" and one.text in value):
        at = text.x if side == "x" else text.y - 4
        for line in lines:
            if abs(line - at) <= CLOSE:
                found.setdefault(value[text.text], line)
    return found


@some.composite
def plots(draw_: some.DrawFn) -> Plot:
    """Return a plot of any kind whose values have intervals and lie near or far apart."""
    kind: PlotKind = draw_(some.sampled_from(["curve", "points", "dots", "stack"]))
    unit = draw_(some.sampled_from(["s", "FLOP/s", RATIO]))
    typical = 1.0 if unit == RATIO else draw_(some.sampled_from([2e-6, 3e-2, 4e9]))
    far = draw_(some.sampled_from([1.3, 6.0, 1e3]))
    over_sizes = kind in {"curve", "points"}
    xs: list[float | str] = [2.0**n for n in range(4, 8)] if over_sizes else ["one", "two", "three"]
    each = some.floats(1.0, far).map(lambda factor: around(typical * factor))
    series = tuple(
        Series(f"series {at}", tuple(Point(x, draw_(each)) for x in xs))
        for at in range(draw_(some.integers(1, 3)))
    )
    return Plot("p", "Title", kind, Axis("n"), Axis("Amount", unit), series)


def around(value: float) -> Estimate:
    return Estimate(value, 0.9 * value, 1.2 * value, 8)


@STEADY
@given(plots())
def test_marks_bars_and_intervals_lie_at_their_values(plot: Plot) -> None:
    shown = marks(draw(plot))
    over_sizes = plot.kind in {"curve", "points"}
    labels = axes.value_labels(plot, 6 if over_sizes else 4).labels
    ticks = ticks_of(shown, labels, "y" if over_sizes else "x")
    place = ruler(ticks)
    drawn = {one.text: one for one in shown if one.classes.endswith(" dot")}
    starts = dict.fromkeys(("one", "two", "three"), 0.0)
    for series in plot.series:
        titles = axes.hover(plot, series)
        for point, title in zip(series.points, titles, strict=True):
            mark, value = drawn[title], point.y.value
            if over_sizes:
                assert mark.y == pytest.approx(place(value), abs=CLOSE)
            elif plot.kind == "stack":
                begin = starts[str(point.x)]
                starts[str(point.x)] += value
                assert (mark.x, mark.x2) == pytest.approx(
                    (place(begin), place(begin + value)), abs=2 * CLOSE
                )
            elif 0 in ticks:  # else a bar would have no meaning
                assert mark.tag == "rect"
                assert (mark.x, mark.x2) == pytest.approx((place(0), place(value)), abs=CLOSE)
            else:
                assert mark.x == pytest.approx(place(value), abs=CLOSE)
    if plot.kind == "dots":
        spans = [one for one in shown if one.tag == "line" and one.classes[:1] in {"c", "k"}]
        ends = [(p.y.low or 0, p.y.high or 0) for s in plot.series for p in s.points]
        assert sorted((one.x, one.x2) for one in spans) == [
            pytest.approx((place(low), place(high)), abs=CLOSE) for low, high in sorted(ends)
        ]


@STEADY
@given(plots().filter(lambda plot: plot.kind in {"curve", "points"}))
def test_sizes_lie_in_their_order_between_the_sides_each_above_its_label(plot: Plot) -> None:
    shown = marks(draw(plot))
    drawn = {one.text: one.x for one in shown if one.classes.endswith(" dot")}
    labels = {one.text: one.x for one in shown if one.tag == "text"}
    for series in plot.series:
        across = [drawn[title] for title in axes.hover(plot, series)]
        assert 0 <= across[0] < across[1] < across[2] < across[3] <= 1000
        if plot.kind == "curve":
            told = [labels.get(axes.spell_x(point.x)) for point in series.points]
            assert told[-1] is not None
            pairs = [pair for pair in zip(told, across, strict=True) if pair[0] is not None]
            assert all(label == pytest.approx(mark, abs=CLOSE) for label, mark in pairs)


AMOUNTS = some.floats(1.0, 1e3)


@STEADY
@given(AMOUNTS, AMOUNTS, some.lists(AMOUNTS, max_size=3))
def test_a_bar_its_interval_its_datasheet_and_other_runs_lie_at_their_values(
    value: float, sheet: float, others: list[float]
) -> None:
    rates = [other * 1e9 for other in others]
    made = Bar(around(value * 1e9), "B/s", "Memory", sheet * 1e9, "datasheet", rates)
    shown = marks(screen.bar(made))
    factor = 1e12 if value >= 1000 else 1e9
    texts = [one for one in shown if one.tag == "text" and one.y > 60]
    lines = [one.x for one in shown if one.classes in {"grid", "zero"}]
    assert [text.x for text in texts] == pytest.approx(lines, abs=CLOSE)
    place = ruler({number(text) * factor: text.x for text in texts})
    (bar,) = (one for one in shown if one.classes == "f1")
    assert (bar.x, bar.x2) == pytest.approx((place(0), place(value * 1e9)), abs=CLOSE)
    (interval,) = (one for one in shown if one.classes == "ci")
    ends = place(0.9e9 * value), place(1.2e9 * value)
    assert (interval.x, interval.x2) == pytest.approx(ends, abs=CLOSE)
    (limit,) = (one for one in shown if one.classes == "sheet")
    assert limit.x == pytest.approx(place(sheet * 1e9), abs=CLOSE)
    dots = [one.x for one in shown if one.classes == "spec"]
    assert dots == pytest.approx([place(rate) for rate in rates], abs=CLOSE)


@STEADY
@given(some.floats(0.2, 5.0).filter(lambda ratio: abs(ratio - 1) > 0.01))
def test_a_ratio_and_its_interval_lie_to_their_side_of_one(ratio: float) -> None:
    lead = Finding("name", "What?", "Much.", around(ratio), RATIO)
    shown = marks(screen.chart(lead, [], {}, {}))
    (one,) = (mark.x for mark in shown if mark.classes == "zero")
    (dot,) = (mark.x for mark in shown if mark.classes == "f1")
    (bar,) = (mark for mark in shown if mark.classes == "fr")
    unit = (dot - one) / (ratio - 1)
    assert unit > 0
    assert (bar.x - one, bar.x2 - one) == pytest.approx(
        ((0.9 * ratio - 1) * unit, (1.2 * ratio - 1) * unit), abs=20 * CLOSE
    )
    assert all(0 <= place <= 1000 for place in (one, dot, bar.x, bar.x2))


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
    shown = marks(screen.roofline(plot, {}, "memory"))
    texts = [one for one in shown if one.tag == "text" and one.text[0].isdigit()]
    rates = {1e12 * number(one): one.y - 4 for one in texts if one.y < screen.FRAME}
    across = {number(one): one.x for one in texts if one.y > screen.FRAME}
    up, along = ruler(rates), ruler(across)
    lines = [one for one in shown if one.tag == "line" and one.classes[:1] == "k"]
    dots = [one for one in shown if one.classes.endswith(" dot")]
    corners = [(p, q) for series in ceilings for p, q in pairwise(series.points)]
    for line, (p, q) in zip(lines, corners, strict=True):
        ends = along(float(p.x)), up(p.y.value), along(float(q.x)), up(q.y.value)
        assert (line.x, line.y, line.x2, line.y2) == pytest.approx(ends, abs=2 * CLOSE)
    every = [point for series in products[::-1] for point in series.points]
    for dot, point in zip(dots, every, strict=True):
        place = along(float(point.x)), up(point.y.value)
        assert (dot.x, dot.y) == pytest.approx(place, abs=2 * CLOSE)
