# SPDX-License-Identifier: MIT
"""Speed-ups, crossovers and rates of products whose times are known."""

import pytest
from scipy.optimize import brentq

from frobench.reports.findings.finding import RATIO
from frobench.suite.stored.types import Work
from tests.instruments.runs.exact_runs import (
    WOBBLE,
    answer,
    by_name,
    case,
    cubic,
    flat,
    left_out,
    plain,
    plot,
    square,
)


def test_the_speed_up_is_of_one_size_on_all_machines_and_paired_within_launches() -> None:
    larger = [
        case("bench_square", seconds(4096), device, n=4096, dtype="float32")
        for device, seconds in (("cpu", cubic), ("cuda:0", flat))
    ]
    cases = [*square(cubic, "cpu"), *square(flat, "cuda:0"), *larger]
    found = by_name(answer("matmul", cases, accelerators=1))
    assert found["speed-up"].label.endswith("1,024")
    value = found["speed-up"].value
    assert value.value == pytest.approx(512.0)  # (1024 / 128)^3
    assert value.low == pytest.approx(512.0)  # what moves a launch moves both devices
    assert value.high == pytest.approx(512.0)
    assert found["speed-up"].answer.startswith("512")
    assert plain(found["speed-up"]).endswith("] the CPU's speed in float32 at n = 1,024.")
    assert "Up to n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}64 in" in found["speed-up"].rule_of_thumb
    ends = plain(found["speed-up-at-ends"])
    assert ends.startswith("32,770")
    assert ends.endswith(" in float32 at n = 4,096.")


def test_a_speed_up_at_another_size_is_not_given() -> None:
    small = [one for one in square(cubic, "cpu") if one.params["n"] != 1024]
    late = left_out("bench_square", "skipped", "takes 3 s", device="cpu", n=1024, dtype="float32")
    found = by_name(answer("matmul", small + square(flat, "cuda:0"), [late], accelerators=1))
    assert found["speed-up"].answer == "Not measured: takes 3 s."


def test_the_crossover_is_exact_for_a_launch_and_work_however_far_apart_the_sizes() -> None:
    def device(n: float) -> float:
        return 30e-6 + cubic(n) / 50

    section = answer("matmul", square(cubic, "cpu") + square(device, "cuda:0"), accelerators=1)
    found = by_name(section)["crossover"].value
    assert cubic(found.value) == pytest.approx(device(found.value))


def test_the_interval_of_a_crossover_is_the_two_sizes_that_it_was_measured_between() -> None:
    def device(n: float) -> float:
        return 5e-6 + n**2 / 1e9 + cubic(n) / 50  # memory adds what no interpolation knows

    truth = brentq(lambda n: cubic(n) - device(n), 16, 1024)
    section = answer("matmul", square(cubic, "cpu") + square(device, "cuda:0"), accelerators=1)
    found = by_name(section)["crossover"]
    assert found.value.value != pytest.approx(truth, rel=0.01)
    assert (found.value.low, found.value.high) == (64, 128)
    assert 64 < truth < 128
    assert plain(found).endswith("From somewhere between n = 64 and n = 128.")


def test_the_crossover_lies_where_the_times_are_equal() -> None:
    cases = [
        *square(cubic, "cpu"),
        *square(flat, "cuda:0"),
        *square(lambda n: 8 * flat(n), "cuda:0", function="bench_square_with_copies"),
    ]
    found = by_name(answer("matmul", cases, accelerators=1))
    alone, copies = found["crossover"].value, found["crossover-with-copies"].value
    assert alone.value == pytest.approx(128.0)
    assert copies.value == pytest.approx(256.0)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (1e-9, "From n = 16, the smallest measured, or below"),
        (1e9, "At no size measured, up to n = 1,024"),
    ],
)
def test_a_crossover_outside_the_sizes_is_told_in_words(factor: float, words: str) -> None:
    cases = square(cubic, "cpu") + square(lambda n: factor * flat(n), "cuda:0")
    found = by_name(answer("matmul", cases, accelerators=1))["crossover"]
    assert found.value is None
    assert words in plain(found)


def test_a_crossover_that_some_launches_miss_has_no_number() -> None:
    cases = square(cubic, "cpu")
    cases += [
        case("bench_square", [1e9] * 3 + [flat(n)] * 5, "cuda:0", n=n, dtype="float32")
        for n in (16, 64, 256, 1024)
    ]
    found = by_name(answer("matmul", cases, accelerators=1))["crossover"]
    assert found.value is None
    assert "5 of 8 launches get there" in found.answer


def test_the_best_rate_is_of_the_best_precision() -> None:
    cases = square(cubic, "cpu") + square(lambda n: cubic(n) / 2, "cpu", "bfloat16")
    found = by_name(answer("matmul", cases))["best-rate-cpu"]
    assert found.value.value == pytest.approx(2e11)
    assert "in bfloat16" in found.answer


def test_a_graph_is_held_against_launching_from_python() -> None:
    cases = [
        case("bench_square", 12e-6, "cuda:0", n=16, dtype="float32"),
        case("bench_square_graph", 5e-6, "cuda:0", n=16, dtype="float32"),
    ]
    found = by_name(answer("matmul", cases, accelerators=1))["graph"].value
    assert found.value == pytest.approx(2.4)


def test_cold_caches_are_held_against_warm_ones_size_by_size() -> None:
    late = {64: 3.5, 128: 1.4, 256: 1.06, 1024: 1.03}
    cases = square(cubic, "cpu")
    cases += [case("bench_square_cold", late[n] * cubic(n), "cpu", n=n) for n in late]
    section = answer("matmul", cases)
    found = by_name(section)["cold-product-cpu"]
    assert found.value.low == pytest.approx(3.5)  # what moves a launch moves both alike
    assert plain(found).replace(RATIO, "x") == (
        "3.500x [3.500, 3.500] as long with cold caches at n = 64."
    )
    rule = found.rule_of_thumb.replace("\N{NO-BREAK SPACE}", " ")
    assert rule == "Up to n = 256 keep inputs in the caches."
    (line,) = plot(section, "cold-product").series
    assert {point.x: point.y.value for point in line.points} == pytest.approx(late)


@pytest.mark.parametrize(("wobble", "advised"), [([2.0] * 8, 1), ([1.0] * 6 + [1.2] * 2, 0)])
def test_caches_are_advised_where_they_surely_matter(wobble: list[float], advised: int) -> None:
    seconds = [WOBBLE[launch] * cubic(64) * factor for launch, factor in enumerate(wobble)]
    cases = [*square(cubic, "cpu"), case("bench_square_cold", seconds, "cpu", n=64)]
    assert bool(by_name(answer("matmul", cases))["cold-product-cpu"].rule_of_thumb) == advised


def test_narrow_precisions_stand_beside_the_others() -> None:
    work = Work(flops=2.0 * 1024**3)
    narrow = case("bench_square_narrow", 2e-6, "cuda:0", work=work, n=1024, dtype="int8")
    section = answer("matmul", [*square(flat, "cuda:0"), narrow], accelerators=1)
    assert "in int8" in by_name(section)["best-rate-cuda:0"].answer
    assert [line.label for line in plot(section, "rate-cuda:0").series] == ["float32", "int8"]


def test_a_rate_is_that_of_the_device_in_bursts() -> None:
    work = Work(flops=2.0 * 4096**3)
    one = case("bench_square", 1e-3, "cuda:0", work=work, n=4096, dtype="bfloat16")
    one.extra_info.parts |= {"device": [8e-4] * 8, "sustained": [9e-4] * 8}
    best = by_name(answer("matmul", [one], accelerators=1))["best-rate-cuda:0"]
    assert best.value.value == pytest.approx(2.0 * 4096**3 / 8e-4)
    assert "TFLOP/s" in plain(best).partition(" in bfloat16 at n = 4,096 in bursts")[0]
    assert best.label.endswith("in bursts")


def test_without_a_window_nothing_is_called_sustained() -> None:
    found = by_name(answer("matmul", square(cubic, "cpu") + square(flat, "cuda:0"), accelerators=1))
    assert "sustained" not in found["best-rate-cuda:0"].answer
    assert "bursts" not in found["best-rate-cpu"].answer
