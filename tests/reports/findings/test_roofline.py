# SPDX-License-Identifier: MIT
"""Rooflines of runs whose truth is known: ceilings, ridge points, and which part of them is got.

The launch with the most moves 2 TB/s and computes 40 TFLOP/s, so that the ridge lies at 20 FLOP for
each byte; the median launch takes a quarter longer, and two products get a quarter and 80%.
"""

import pytest

from frobench.reports.charts.plots import draw
from frobench.reports.findings.roofline import Roofline, rooflines
from tests.reports.findings.table import run
from tests.reports.tables import rows

COPY = "+ copies/within | cuda:0 | size=16777216 | 20.97152 | bytes=33554432"
PEAK = "+ attainable_peak/product | cuda:0 | dtype=float32 | 31250 | flops=1e12 search=alone"
PRODUCT = "+ square | cuda:0 | n=5 dtype=float32 | 2500 | flops=5e9 bytes=1e9"
LARGE = "+ square | cuda:0 | n=400 dtype=float32 | 15625 | flops=4e11 bytes=1e9"


def found(*lines: str) -> list[Roofline]:
    (row,) = rows("\n".join(["## matmul", "# products", *lines]))
    return rooflines(run(row))


def test_each_product_is_compared_with_the_ceiling_at_its_intensity() -> None:
    (roof,) = found(COPY, PEAK, PRODUCT, LARGE)
    assert [dot.intensity for dot in roof.dots] == [5.0, 400.0]
    assert [dot.part.value for dot in roof.dots] == pytest.approx([0.25 * 0.8, 0.8 * 0.8])


def test_the_roof_follows_the_bandwidth_to_the_ridge_and_then_the_peak() -> None:
    (roof,) = found(COPY, PEAK, PRODUCT, LARGE)
    (line,) = roof.plot.lines
    assert [point.x for point in line.points] == pytest.approx([2.5, 20.0, 800.0])
    assert [point.y.value for point in line.points] == pytest.approx([5e12, 4e13, 4e13])
    assert "float32: 40 TFLOP/s" in draw(roof.plot)


@pytest.mark.parametrize(
    "lines",
    [
        [PEAK, PRODUCT],
        [COPY, PRODUCT],
        [COPY.replace("16777216", "16777215"), PEAK, PRODUCT],
        [COPY, PEAK.replace("float32", "bfloat16"), PRODUCT],
        [COPY, PEAK, PRODUCT.replace("square", "square_with_copies")],
    ],
    ids=["no bandwidth", "no peak", "in caches", "another precision", "copies included"],
)
def test_without_both_ceilings_or_a_product_below_them_there_is_none(lines: list[str]) -> None:
    assert found(*lines) == []


@pytest.mark.parametrize(
    ("launches", "title"),
    [("", "bfloat16 ceiling"), (" launches=1,0.5,0.25,0.125", "ceilings of the")],
)
def test_the_title_is_of_the_leading_precision_if_that_is_conclusive(
    launches: str, title: str
) -> None:
    fast, half = PEAK.replace("31250", "15625"), LARGE.replace("float32", "bfloat16")
    (roof,) = found(COPY, PEAK, fast.replace("float32", "bfloat16") + launches, PRODUCT, half)
    assert title in roof.plot.result
