# SPDX-License-Identifier: MIT
"""TF32 that is on and TF32 that is off are told apart by what a benchmark's product is off by."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from frobench.suite.kit.device import Device
    from frobench.suite.stored.types import Check

SIZES = [512, 4096]


def checked(gpu: "Device", n: int, dtype: str, allowed: str) -> "Check":
    """Return the check of a benchmark's product.

    dtype : that the benchmark asks for
    allowed : the precision that torch is allowed as the benchmark begins
    """
    from frobench.suite.kit.abilities import precision
    from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

    benchmarks, seen = load(BENCHMARKS / "bench_matmul.py"), Recorder()
    with precision(allowed):
        if dtype == "tfloat32":
            benchmarks.bench_square_narrow(seen, accelerator=gpu, n=n, dtype=dtype)
        else:
            benchmarks.bench_square(seen, device=gpu, n=n, dtype=dtype)
    return seen.check


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("allowed", ["float32", "tfloat32"])
def test_tf32_is_on_where_a_benchmark_asks_for_it(gpu: "Device", n: int, allowed: str) -> None:
    check = checked(gpu, n, "tfloat32", allowed)
    assert check.passed, check
    assert check.precision == "tfloat32", check


@pytest.mark.parametrize("n", SIZES)
def test_tf32_is_off_where_it_is_not_allowed(gpu: "Device", n: int) -> None:
    check = checked(gpu, n, "float32", "float32")
    assert check.passed, check
    assert check.precision == "float32", check


@pytest.mark.parametrize("n", SIZES)
def test_tf32_in_the_place_of_float32_is_a_wrong_result(gpu: "Device", n: int) -> None:
    check = checked(gpu, n, "float32", "tfloat32")
    assert not check.passed, check
    assert check.precision == "tfloat32", check
    assert check.error > 10 * checked(gpu, n, "float32", "float32").error
