# SPDX-License-Identifier: MIT
"""What reading norms back costs, from loops whose steps are known."""

import pytest

from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import answer, by_name, case, loop, plot


def loops(device: str) -> list[Case]:
    """Build loops whose step takes 5 µs of launching, 20 of computing, and so on."""
    steps = {
        "bench_launch_only": 5e-6,
        "bench_norm_only": 25e-6,
        "bench_log_kept": 26e-6,
        "bench_log_on_device": 28e-6,
        "bench_item": 35e-6,
        "bench_read_ready": 9e-6,
        "bench_read_ready_log": 2e-6,
    }
    return [loop(function, step, device) for function, step in steps.items()]


def test_norm_logging_gives_the_penalty_and_the_time_of_a_read_back() -> None:
    found = by_name(answer("norm_logging", loops("cpu")))
    penalty, read_back = found["penalty-cpu"].value, found["read-back-cpu"].value
    assert penalty.value == pytest.approx(35 / 28)
    assert penalty.low == pytest.approx(35 / 28)
    assert read_back.value == pytest.approx(7e-6)


@pytest.mark.parametrize(
    ("ratios", "said", "rule"),
    [
        ([1.2] * 8, "1.2", "Keep the log on the device and read it once."),
        ([0.98, 1.02] * 4, "No measurable difference: ", "Read norms back when you like."),
        ([0.98, 1.8] * 4, "No measurable difference: ", ""),
        ([0.9, 2.8] * 4, "1.8", ""),
        ([0.9] * 8, "No cost: 0.9", ""),
    ],
)
def test_what_reading_norms_back_costs_is_said_as_far_as_it_is_conclusive(
    ratios: list[float], said: str, rule: str
) -> None:
    log = case("bench_log_on_device", [1e-3] * 8, work=Work(items=1000), steps=1000)
    each = case("bench_item", [1e-3 * x for x in ratios], work=Work(items=1000), steps=1000)
    found = by_name(answer("norm_logging", [log, each]))["penalty-cpu"]
    assert found.answer.startswith(said)
    assert found.rule_of_thumb == rule


def test_the_parts_of_a_step_are_the_differences_of_loops() -> None:
    section = answer("norm_logging", loops("cpu"))
    parts = {one.label: one.points[0].y.value for one in plot(section, "parts").series}
    assert parts == {
        "launching": pytest.approx(5e-6),
        "computing": pytest.approx(20e-6),
        "keeping the log": pytest.approx(1e-6),
        "reading back": pytest.approx(10e-6),
    }
    found = by_name(section)["parts-cpu"].value
    assert found.value == pytest.approx(10e-6)


def test_the_parts_are_held_against_the_whole() -> None:
    found = by_name(answer("norm_logging", loops("cpu")))["sum-cpu"]
    assert found.value.value == pytest.approx(34 / 35)


def test_an_accelerator_answers_before_the_cpu() -> None:
    section = answer("norm_logging", loops("cpu") + loops("cuda:0"), accelerators=1)
    assert section.findings[0].name == "penalty-cuda:0"
    assert "NVIDIA H200" in section.findings[0].question


def test_a_length_between_none_and_the_smallest_is_the_smallest_or_below() -> None:
    long = case("bench_log_on_device", [28e-3] * 8, work=Work(items=1000), steps=1000)
    short = [28e-5] * 4 + [29.6e-5] * 4  # half of the launches gain from a longer log
    cases = [long, case("bench_log_on_device", short, work=Work(items=10), steps=10)]
    found = by_name(answer("norm_logging", cases))["length-cpu"]
    assert "10 steps, the smallest measured, or below (8 of 8 launches" in found.answer


def test_the_length_of_the_log_stops_mattering_where_its_fixed_cost_is_spread() -> None:
    fixed = 40e-6
    cases = [
        loop("bench_log_on_device", 20e-6 + fixed / steps, steps=steps)
        for steps in (1, 10, 100, 1000)
    ]
    found = by_name(answer("norm_logging", cases))["length-cpu"].value
    assert 30 < found.value < 100
