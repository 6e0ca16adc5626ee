# SPDX-License-Identifier: MIT
"""Charts that stand inside a page: themed, strict, told in words, and equal for equal input."""

import re
from typing import Literal
from xml.etree import ElementTree as ET

import pytest

from frobench.reports.charts.axes import describe, ticks
from frobench.reports.charts.plots import draw
from frobench.reports.findings.finding import Axis, Plot, Point, Series
from frobench.reports.web import theme
from frobench.suite.printable import printable
from frobench.suite.stored.types import Estimate


def around(value: float) -> Estimate:
    return Estimate(value, 0.9 * value, 1.1 * value, 8)


def curve(label: str = "float32") -> Plot:
    points = tuple(Point(n, around(1e9 * n)) for n in (16, 64, 256, 1024))
    axes = Axis("size n"), Axis("Rate", "FLOP/s")
    return Plot("rate", "Rate by size", "curve", *axes, (Series(label, points),), 1e10, "a limit")


def by_way(kind: Literal["dots", "stack"], *values: float) -> Plot:
    series = tuple(Series(f"part {v}", (Point("a way", around(v)),)) for v in values)
    whole = Series("whole", (Point("a way", around(sum(values))),)) if kind == "stack" else None
    return Plot("ways", "Ways", kind, Axis("way"), Axis("Time", "s"), series, whole=whole)


PLOTS = [curve(), by_way("dots", 1e-3, 2e-3), by_way("stack", 1e-3, 2e-3, -1e-4)]


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.kind)
def test_a_chart_bears_a_strict_policy_and_follows_the_theme(plot: Plot) -> None:
    drawn = draw(plot)
    assert "style" not in drawn
    assert "<metadata" not in drawn
    assert re.findall(r"#[0-9a-f]{6}|fill=|stroke=", drawn) == []  # classes alone


def titles(drawn: str) -> list[str]:
    root = ET.fromstring(drawn)  # noqa: S314 - drawn here
    return [title.text or "" for title in root.iter("title")]


def test_every_point_has_a_text_to_hover() -> None:
    texts = titles(draw(curve()))
    assert len(texts) == 4
    assert texts[-1].startswith("float32, size n 1,024: 1.02")
    assert "[" in texts[-1]


def test_every_part_of_every_bar_has_its_own_text() -> None:
    bars = [tuple(Point(way, around(v)) for way, v in (("a", 1.0), ("b", 2.0))) for _ in "12"]
    series = tuple(Series(f"part {place}", points) for place, points in enumerate(bars))
    whole = Series("whole", bars[0])
    axes = Axis("way"), Axis("Time", "s")
    plot = Plot("parts", "Parts", "stack", *axes, series, whole=whole)
    texts = titles(draw(plot))
    assert [text.partition(":")[0] for text in texts] == [
        "part 0, way a",
        "part 0, way b",
        "part 1, way a",
        "part 1, way b",
        "whole, way a",
        "whole, way b",
    ]


def test_a_chart_is_told_in_words() -> None:
    drawn = draw(curve())
    assert 'role="img"' in drawn
    assert describe(curve()) in drawn
    first, last = "16.0 GFLOP/s [14.4, 17.6] at 16", "1.02 TFLOP/s [0.92, 1.13] at 1,024"
    assert f"float32: {first}, {last}" in describe(curve())


def test_hostile_names_are_text() -> None:
    label = "</svg><script>alert(1)</script>$x^2$ \x00\u202e"
    drawn = draw(curve(label))
    assert "<script" not in drawn
    assert all("<script>alert(1)</script>$x^2$" in text for text in titles(drawn))
    assert printable("\x00\u202e\n") == "\ufffd\ufffd "


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.1, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.8, 15.0, [1.0, 2.0, 5.0, 10.0]),
        (3e-7, 2e-3, [1e-6, 1e-5, 1e-4, 1e-3]),
        (0.5, 1.2e9, [1.0, 1e2, 1e4, 1e6, 1e8]),
    ],
)
def test_ticks_are_round_and_few(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


GROUNDS = ("paper", "surface", "rule", "range", "good-ground", "warn-ground", "bad-ground")
"""Colours that lie behind others."""


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK])
def test_text_and_marks_stand_out_in_both_themes(colours: dict[str, str]) -> None:
    for name, colour in colours.items():
        if name not in GROUNDS:
            least = 3.0 if name in {"edge", *theme.SERIES} else 4.5
            ground = colours.get(f"{name}-ground", colours["paper"])
            assert min(contrast(colour, one) for one in (colours["paper"], ground)) >= least, name


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK])
def test_marks_stand_out_from_what_lies_behind_them(colours: dict[str, str]) -> None:
    for mark in ("c1", "ink"):  # dots and medians of a strip, on the band of its interval
        assert contrast(colours[mark], colours["rule"]) >= 3.0, mark
    assert contrast(colours["muted"], colours["paper"]) >= 4.5  # all text in a chart


def test_no_colour_is_lost_when_series_outnumber_the_palette() -> None:
    many = by_way("dots", *(1e-3 * k for k in range(1, 10)))
    assert draw(many).count("<title>") == 9
