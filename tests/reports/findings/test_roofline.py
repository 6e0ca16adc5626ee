# SPDX-License-Identifier: MIT
"""Rooflines of runs whose truth is known: ceilings, ridge points, and which part of them is got."""

from functools import cache
from statistics import median
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.charts.plots import draw
from frobench.reports.findings.roofline import Roofline, rooflines
from frobench.suite.stored.types import Case, Run, Search, Work
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import LAUNCHES, WOBBLE, case, with_cases

GPU = "cuda:0"
BANDWIDTH, PEAK = 2e12, 4e13
"""Bytes and operations a second in the launch with the most; so the ridge lies at 20 FLOP for each
byte."""
MEDIAN = median(min(WOBBLE) / factor for factor in WOBBLE)
"""The rate of the median launch, as a part of the largest."""


def made(group: str, function: str, seconds: float, work: Work, **params: Any) -> Case:  # noqa: ANN401
    return replace(case(function, seconds, GPU, work=work, **params), group=group)


def copied(size: float = 2.0**28) -> Case:
    return made(
        "copies",
        "bench_within",
        _launch(2 * size / BANDWIDTH),
        Work(bytes=2 * size),
        size=int(size),
    )


def searched(dtype: str = "float32") -> Case:
    seconds, work = _launch(1e12 / PEAK), Work(flops=1e12)
    found = made("attainable_peak", "bench_product", seconds, work, dtype=dtype)
    found.extra_info.search = Search(shape=[1, 1, 1], shapes=1, seconds=1.0, runner_up=None)
    return found


def product(
    intensity: int, part: float, function: str = "bench_square", dtype: str = "float32"
) -> Case:
    """Build a product that gets a part of its ceiling in its fastest launch."""
    flops = 1e9 * intensity
    seconds = _launch(flops / (part * min(PEAK, BANDWIDTH * intensity)))
    work = Work(flops=flops, bytes=1e9)
    return made("matmul", function, seconds, work, n=intensity, dtype=dtype)


def _launch(fastest: float) -> float:
    """Return the time of which the fastest launch takes so much."""
    return fastest / min(WOBBLE)


@cache
def base() -> Run:
    return factory.run(accelerators=1, launches=LAUNCHES, profile="quick")


def found(*cases: Case) -> list[Roofline]:
    return rooflines(with_cases(base(), cases))


def test_each_product_is_held_against_the_ceiling_at_its_intensity() -> None:
    (roof,) = found(copied(), searched(), product(5, 0.25), product(400, 0.8))
    assert [dot.intensity for dot in roof.dots] == [5.0, 400.0]
    parts = [dot.part.value for dot in roof.dots]
    assert parts == pytest.approx([0.25 * MEDIAN, 0.8 * MEDIAN])


def test_the_roof_follows_the_bandwidth_to_the_ridge_and_then_the_peak() -> None:
    (roof,) = found(copied(), searched(), product(5, 0.25), product(400, 0.8))
    (line,) = roof.plot.lines
    assert [point.x for point in line.points] == pytest.approx([2.5, 20.0, 800.0])
    begin, ridge, end = (point.y.value for point in line.points)
    assert begin == pytest.approx(ridge / 8)
    assert ridge == end
    assert "float32: 40 TFLOP/s" in draw(roof.plot)


@pytest.mark.parametrize(
    "cases",
    [
        (searched(), product(5, 0.5)),
        (copied(), product(5, 0.5)),
        (copied(4096), searched(), product(5, 0.5)),
        (copied(), searched("bfloat16"), product(5, 0.5)),
        (copied(), searched(), product(5, 0.5, function="bench_square_with_copies")),
    ],
    ids=["no bandwidth", "no peak", "in caches", "another precision", "copies included"],
)
def test_without_both_ceilings_or_a_product_below_them_there_is_none(cases: tuple[Case]) -> None:
    assert found(*cases) == []


@pytest.mark.parametrize(("noise", "title"), [(1.0, "bfloat16 ceiling"), (4.0, "ceilings of the")])
def test_the_title_is_of_the_leading_precision_unless_that_is_not_conclusive(
    noise: float, title: str
) -> None:
    peaks = [searched(), searched("bfloat16")]
    times = peaks[1].stats.data
    times[:] = [seconds / noise**number / 2 for number, seconds in enumerate(times)]
    (roof,) = found(copied(), *peaks, product(5, 0.9), product(400, 0.5, dtype="bfloat16"))
    assert title in roof.plot.result
