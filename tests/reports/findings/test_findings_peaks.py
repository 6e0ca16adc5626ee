# SPDX-License-Identifier: MIT
"""Which part of its datasheet's and its link's rate a device reaches, in sentences."""

from copy import deepcopy

import pandas as pd
import pytest
from msgspec.structs import replace

from frobench.reports.findings import peaks
from frobench.suite.stored.types import Run, Sensed, Work
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import WOBBLE, answer, by_name, case

GPU = "cuda:0"
RATE = pd.Series([0.87 * 989e12] * 8)


@pytest.fixture(scope="module")
def made() -> Run:
    """Make a run on one H200."""
    return factory.run(accelerators=1)


@pytest.fixture
def run(made: Run) -> Run:
    """Return that run, for a test to change."""
    return deepcopy(made)


def called(run: Run, name: str) -> Run:
    """Return the run on another accelerator."""
    part = run.frobench
    [known] = part.environment.accelerators
    environment = replace(part.environment, accelerators=[replace(known, name=name)])
    return replace(run, frobench=replace(part, environment=environment))


def product(run: Run, dtype: str = "bfloat16", device: str = GPU, highest: float = 0.0) -> str:
    """Return the name of a product in a precision, and let its clock be seen, up to so much."""
    one = next(
        one
        for one in run.benchmarks
        if one.name.startswith("bench_square[") and one.params["device"] == device
    )
    one.params["dtype"] = dtype
    values = {"sm_clock_hz": (345e6, 345e6, highest)} if highest else {}
    one.extra_info.telemetry = {device: Sensed(readings=3, values=values)}
    return one.fullname


def test_a_rate_is_held_against_the_peak_of_its_precision(run: Run) -> None:
    assert peaks.of_peak(run, product(run), RATE) == (
        ", 87.00% [87.00, 87.00] of the datasheet's dense bfloat16 peak "
        "(989 TFLOP/s at a boost clock of 1.83 GHz)"
    )


def test_the_peak_is_that_of_the_highest_clock_that_was_seen(run: Run) -> None:
    slower = product(run, highest=1.755e9)
    assert peaks.of_peak(run, slower, RATE) == (
        ", 90.72% [90.72, 90.72] of the datasheet's dense bfloat16 peak "
        "(948 TFLOP/s at the 1.755 GHz that were seen)"
    )
    faster = product(run, highest=1.98e9)
    assert "(1.07 PFLOP/s at the 1.98 GHz that were seen)" in peaks.of_peak(run, faster, RATE)


@pytest.mark.parametrize(
    ("highest", "part"), [(345e6, 0.05), (0.49 * 1.83e9, 0.05), (0.86 * 1.83e9, 1.0)]
)
def test_a_clock_that_cannot_be_the_products_is_not_taken_for_it(
    run: Run, highest: float, part: float
) -> None:
    beside = product(run, highest=highest)
    found = peaks.of_peak(run, beside, RATE * part)
    assert found.endswith("at a boost clock of 1.83 GHz)")


def test_half_of_the_boost_clock_is_believed(run: Run) -> None:
    slow = product(run, highest=0.51 * 1.83e9)
    assert "933.3 MHz that were seen" in peaks.of_peak(run, slow, RATE / 2)


def test_a_peak_without_a_clock_is_as_printed_whatever_clock_was_seen(run: Run) -> None:
    other = called(run, "NVIDIA GB200")
    other.frobench.environment.accelerators[0].memory_bytes = None
    other.frobench.environment.accelerators[0].multiprocessors = None
    found = peaks.of_peak(other, product(other, highest=1.2e9), RATE)
    assert found.endswith("peak (2.5 PFLOP/s)")


def test_the_part_varies_with_the_rate(run: Run) -> None:
    rate = pd.Series([factor * 500e12 for factor in WOBBLE])
    assert peaks.of_peak(run, product(run), rate).startswith(", 51% [")


def test_nothing_is_said_where_nothing_is_known(run: Run) -> None:
    assert peaks.of_peak(run, product(run, "float32", "cpu"), RATE) == ""
    other = called(run, "NVIDIA A40")
    assert peaks.of_peak(other, product(other, "int8"), RATE) == ""
    other = called(run, "Another")
    assert peaks.of_peak(other, product(other, "float32"), RATE) == ""


def test_float16_that_accumulates_in_float16_has_no_peak_here(run: Run) -> None:
    flags = run.frobench.environment.software.flags
    flags[peaks.HALF_ACCUMULATOR] = True
    assert peaks.of_peak(run, product(run, "float16"), RATE) == ""
    assert peaks.of_peak(run, product(run), RATE) != ""


def test_copies_are_held_against_what_limits_them(run: Run) -> None:
    rate = pd.Series([31.5e9] * 8)
    for function in ("bench_to_device", "bench_to_host"):
        part = peaks.of_copy(run, GPU, function, rate)
        assert part.startswith(", 49.99% [")
        assert part.endswith("of the link's rate in one direction (63 GB/s, PCIe 5.0 x16)")
    within = peaks.of_copy(run, GPU, "bench_within", rate * 100)
    assert within.startswith(", 65.62% [")
    assert within.endswith("of the datasheet's memory bandwidth (4.8 TB/s)")
    assert peaks.of_copy(run, "cuda:0+cuda:1", "bench_between", rate) == ""
    assert peaks.of_copy(run, "cpu", "bench_within", rate) == ""


def test_the_best_rate_names_the_peak() -> None:
    flops = 2.0 * 1024**3
    work = Work(flops=flops)
    one = case("bench_square", flops / 494.5e12, GPU, work=work, n=1024, dtype="bfloat16")
    found = by_name(answer("matmul", [one], accelerators=1))[f"best-rate-{GPU}"].answer
    assert "in bursts, 50% [" in found
