# SPDX-License-Identifier: MIT
"""Charts state their result, name what they draw at its place, and show numbers as answers do."""

import pytest

from frobench.reports.charts import axes
from frobench.reports.charts.axes import at
from frobench.reports.findings.finding import RATIO, Axis, Plot, PlotKind, Point, Series
from frobench.suite.stored.types import Estimate
from tests.reports.charts.test_ruler import plain


def test_places_are_named_as_people_do() -> None:
    known = (Axis("size n"), 64.0), (Axis("samples in a batch"), 2.0), (Axis("Size", "B"), 2.0**28)
    named = [plain(at(Plot("p", "P", "dots", axis, Axis("Time", "s"), ()), x)) for axis, x in known]
    assert named == ["n = 64", "2 samples in a batch", "256 MiB"]


@pytest.mark.parametrize(
    ("kind", "unit", "low", "high", "expected"),
    [
        # Ratios near 1, which may begin anywhere.
        ("curve", RATIO, 1.0, 1.0, (0.95, 1.05)),
        ("dots", RATIO, 0.93, 1.04, (0.9168, 1.0532)),
        ("curve", RATIO, 1.06, 1.08, (0.95, 1.09)),
        ("curve", "1", 0.99, 1.99, (0.87, 2.11)),
        ("curve", RATIO, 0.99, 2.0, (0.0, 2.16)),
        ("curve", RATIO, 0.5, 1.0, (0.0, 1.08)),
        # From zero on, or below it, and by the logarithm.
        ("curve", "s", 1.0, 10.0, (1 / 1.35, 13.5)),
        ("dots", "s", 1.0, 29.0, (0.0, 31.32)),
        ("dots", "s", 1.0, 30.0, (1 / 1.35, 40.5)),
        ("curve", "s", -2.0, 1.0, (-2.2, 1.08)),
        ("curve", "s", -20.0, -1.0, (-22.0, 1.0)),
        ("curve", "s", 0.0, 0.0, (0.0, 1.0)),
        ("stack", "s", 1.0, 1.0, (0.0, 1.08)),  # of one bar
    ],
)
def test_an_axis_begins_at_zero_but_for_ratios_near_one_and_what_is_far_apart(
    kind: PlotKind, unit: str, low: float, high: float, expected: tuple[float, float]
) -> None:
    points = tuple(Point(x, Estimate(high, low, high, 8)) for x in (1.0, 2.0)[kind == "stack" :])
    axis, series = Axis("Rate", unit), (Series("CPU", points),)
    plot = Plot("rates", "Rates", kind, Axis("steps"), axis, series, "all" * (unit == "1"))
    assert axes.limits(plot) == pytest.approx(expected)


def test_sizes_are_labelled_from_the_largest_while_half_a_letter_is_left_between() -> None:
    points = tuple(Point(x, Estimate(1, 1, 1, 8)) for x in (1.0, 7.0, 11.0, 17.0, 100.0, 106.0))
    plot = Plot("p", "P", "curve", Axis("n"), Axis("Time", "s"), (Series("", points),))
    named = axes.size_labels(plot, axes.Scale(0, 100, 0, 50), 1.0, 6)
    assert named == {106.0: "106", 17.0: "17", 11.0: "11", 1.0: "1"}


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0.0, 1.1, 4, [0.0, 0.4, 0.8]),
        (0.0, 0.3, 4, [0.0, 0.1, 0.2, 0.3]),
        (45.0, 152.0, 4, [50.0, 100.0, 150.0]),
        (1.0, 9.99, 6, [2.0, 4.0, 6.0, 8.0]),
        (1.0, 10.0, 6, [1.0, 2.0, 5.0, 10.0]),
        (2.0, 2100.0, 6, [3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]),
        (2.0, 2100.0, 4, [10.0, 100.0, 1000.0]),
        (3e-7, 2e-3, 6, [1e-6, 1e-5, 1e-4, 1e-3]),
        (0.5, 1.2e9, 6, [1.0, 1e2, 1e4, 1e6, 1e8]),
        (1.0, 1e9, 4, [1.0, 1e3, 1e6, 1e9]),
        (5.0, 5.0, 6, [5.0]),
    ],
)
def test_ticks_are_round_and_few(low: float, high: float, most: int, expected: list[float]) -> None:
    assert axes.ticks(low, high, most) == pytest.approx(expected)
