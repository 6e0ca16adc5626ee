# SPDX-License-Identifier: MIT
"""Charts state their result, name what they draw at its place, and show numbers as answers do."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from frobench.reports.charts import axes
from frobench.reports.charts.axes import at
from frobench.reports.charts.plots import LETTERS, draw
from frobench.reports.findings.finding import RATIO, Axis, Plot, Point, Series
from frobench.suite.stored.types import Estimate
from tests.reports.charts.test_ruler import around


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
    plot = Plot("few", "Few", "curve", Axis(label, unit), Axis("Time", "s"), ())
    assert at(plot, x).replace("\N{NO-BREAK SPACE}", " ") == place


@pytest.mark.parametrize(("low", "high"), [(0.93, 1.04), (0.99, 1.7)])
def test_ratios_near_one_get_a_range_of_their_own_and_a_line_at_one(
    low: float, high: float
) -> None:
    points = tuple(Point(x, Estimate(1.0, low, high, 8)) for x in (1.0, 2.0))
    axis, series = Axis("Times as long", RATIO), (Series("CPU", points),)
    plot = Plot("by-steps", "A step", "curve", Axis("steps"), axis, series)
    bottom, top = axes.limits(plot)
    assert 0.8 < bottom <= low
    assert high <= top < 2
    assert axes.level(plot) == 1.0
    assert 'class="level"' in draw(plot)


def test_a_long_name_of_a_row_is_broken_and_a_number_has_the_digits_of_its_interval() -> None:
    name = "building the model without memory, putting copies of all tensors in"
    points = (Point(name, around(26221.0)), Point("other", around(5881.0)))
    axis, series = Axis("Rate", "tokens/s"), (Series("CPU", points),)
    root = ET.fromstring(draw(Plot("ways", "Ways", "dots", Axis("way"), axis, series)))  # noqa: S314
    texts = [(one.text or "", one.attrib["x"], float(one.attrib["y"])) for one in root.iter("text")]
    lines = [(text, y) for text, x, y in texts if x in {"0", "0%"} and text in name]
    assert " ".join(text for text, _ in lines) == name
    assert all(len(text) <= LETTERS for text, _ in lines)
    assert all(after[1] - before[1] >= 12 for before, after in pairwise(lines))
    assert {"26,000 tokens/s", "5,900 tokens/s"} <= {text for text, *_ in texts}
