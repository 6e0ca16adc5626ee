# SPDX-License-Identifier: MIT
"""Charts state their result, name what they draw at its place, and show numbers as answers do."""

from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree as ET

import pytest

from frobench.reports.charts import axes
from frobench.reports.charts.axes import at
from frobench.reports.charts.plots import LETTERS, draw
from frobench.reports.findings.finding import RATIO, Axis, Plot, Point, Series
from frobench.suite.stored.types import Estimate

TIME = Axis("Time", "s")


def near(value: float, part: float = 0.2) -> Estimate:
    """Return a number whose interval leaves it two digits."""
    return Estimate(value, (1 - part) * value, (1 + part) * value, 8)


def line(label: str, *values: float) -> Series:
    return Series(label, tuple(Point(10.0**at, near(v)) for at, v in enumerate(values)))


def curve(*series: Series, **given: object) -> Plot:
    axis: Axis = given.get("y", TIME)  # type: ignore[assignment]
    return Plot("by-steps", "A step", "curve", Axis("steps"), axis, series)


def rows(unit: str, kind: Literal["dots", "stack"] = "dots", **values: float) -> Plot:
    points = tuple(Point(name, near(value)) for name, value in values.items())
    return Plot("ways", "Ways", kind, Axis("way"), Axis("Time", unit), (Series("CPU", points),))


def texts(plot: Plot) -> list[tuple[str, float, float]]:
    """Return what a chart writes, and where."""
    root = ET.fromstring(draw(plot))  # noqa: S314 - drawn here
    return [
        (one.text or "", float(one.attrib["x"].rstrip("%")), float(one.attrib["y"]))
        for one in root.iter("text")
    ]


@pytest.mark.parametrize(
    ("label", "unit", "x", "place"),
    [
        ("size n", "", 64.0, "n = 64"),
        ("Size", "B", 2.0**28, "256 MiB"),
        ("operations", "", 1.0, "1 operation"),
        ("samples in a batch", "", 64.0, "64 samples in a batch"),
        ("batch", "", 64.0, "batch 64"),
    ],
)
def test_places_are_named_as_people_do(label: str, unit: str, x: float, place: str) -> None:
    plot = Plot("few", "Few", "curve", Axis(label, unit), TIME, ())
    assert at(plot, x).replace("\N{NO-BREAK SPACE}", " ") == place


@pytest.mark.parametrize(("low", "high"), [(0.93, 1.04), (0.99, 1.7)])
def test_ratios_near_one_get_a_range_fitted_to_them_with_a_line_at_one(
    low: float, high: float
) -> None:
    points = (Point(1.0, Estimate(1.0, low, high, 8)), Point(2.0, Estimate(1.0, low, high, 8)))
    plot = curve(Series("CPU", points), y=Axis("Times as long", RATIO))
    bottom, top = axes.limits(plot)
    assert 0.8 < bottom <= low
    assert high <= top < 2
    assert axes.level(plot) == 1.0
    assert 'class="level"' in draw(plot)


def test_a_long_name_of_a_row_is_broken_into_lines_that_have_room() -> None:
    name = "building the model without memory, putting copies of all tensors in"
    points = (Point(name, near(1.0)), Point("other", near(2.0)))
    plot = Plot("ways", "Ways", "dots", Axis("way"), TIME, (Series("CPU", points),))
    lines = [(text, y) for text, x, y in texts(plot) if x == 0 and text in name]
    assert " ".join(text for text, _ in lines) == name
    assert all(len(text) <= LETTERS for text, _ in lines)
    assert all(after[1] - before[1] >= 12 for before, after in pairwise(lines))


def test_the_numbers_beside_bars_have_the_digits_that_their_intervals_support() -> None:
    written = [text for text, _, _ in texts(rows("tokens/s", a=26221.0, b=5881.0))]
    assert {"26,000 tokens/s", "5,900 tokens/s"} <= {*written}
