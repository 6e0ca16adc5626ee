# SPDX-License-Identifier: MIT
"""What the products of the fastest shape count, and that wrong arithmetic fails."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Shape
from tests.instruments.faults.faulty import Fault, changed
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

CPU = Device("cpu")
MODULE = BENCHMARKS / "bench_attainable_peak.py"
SHAPE = Shape(128, 64, 192)


def search(make: Callable[[Shape], Callable[[], Any]]) -> Shape:
    """Find the shape, whose product must be computable."""
    assert make(SHAPE)().shape == (SHAPE.rows, SHAPE.columns)
    return SHAPE


CASES = [
    ("bench_product", "device", "float32", 4),
    ("bench_product_narrow", "accelerator", "tfloat32", 4),
    ("bench_product", "device", "bfloat16", 2),
    ("bench_product_narrow", "accelerator", "float16", 2),
]


@pytest.mark.parametrize(("function", "where", "dtype", "width"), CASES)
def test_declared_work_is_that_of_the_shape(
    function: str, where: str, dtype: str, width: int
) -> None:
    seen = Recorder()
    arguments = {where: CPU, "dtype": dtype, "search": search}
    getattr(load(MODULE), function)(seen, **arguments)
    assert seen.work.flops == seen.products == SHAPE.flops == 2 * 128 * 64 * 192
    assert seen.work.bytes == width * (128 * 64 + 64 * 192 + 128 * 192)
    assert seen.check.passed
    assert seen.commonest is None or seen.commonest < 0.5


def test_whole_numbers_are_kept_in_the_width_of_their_sums() -> None:
    seen = Recorder()
    load(MODULE).bench_product_narrow(seen, accelerator=CPU, dtype="int8", search=search)
    assert seen.work.bytes == 128 * 64 + 64 * 192 + 4 * 128 * 192
    assert seen.check.passed


WRONG = {
    "a factor's columns in another order": "multiply(a.flip(1), b)",
    "half the digits": "multiply(a.bfloat16().to(a.dtype), b)",
    "rows shifted": "multiply(a, b).roll(1, 0)",
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_wrong_arithmetic_does_not_pass_the_check(wrong: str, tmp_path: Path) -> None:
    body = "lambda: "
    fault = Fault("attainable_peak.product", f"{body}multiply(a, b)", body + wrong, {})
    seen = Recorder()
    module = load(changed(fault, tmp_path))
    module.bench_product(seen, device=CPU, dtype="float32", search=search)
    assert not seen.check.passed
