# SPDX-License-Identifier: MIT
"""What the detour over the CPU costs, from times that are known."""

import pytest

from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import (
    LAUNCHES,
    answer,
    by_name,
    case,
    left_out,
    plot,
    value,
)

SIZES = (64, 4096, 4**10)
GPU = "cuda:0"
NO_GPU = left_out("bench_create_then_move", "skipped", "no accelerator", device="none", n=64)


def created(
    function: str, fixed: float, rate: float, device: str = GPU, kind: str = "randn"
) -> list[Case]:
    """Build creations of several sizes: a fixed time, and so many numbers a second."""
    return [
        case(function, fixed + n / rate, device, work=Work(bytes=4 * n), n=n, values=kind)
        for n in SIZES
    ]


def ready(function: str, fixed: float, rate: float, device: str = GPU) -> list[Case]:
    """Build moves of several sizes of what is ready."""
    return [case(function, fixed + n / rate, device, n=n) for n in SIZES]


def test_the_detour_is_a_ratio_for_the_largest() -> None:
    cases = created("bench_create", 10e-6, 1e12)
    cases += created("bench_create_then_move", 30e-6, 1e9)
    section = answer("placement", cases, accelerators=1)
    lead = section.findings[0]
    assert lead.name == "detour-randn"
    there, moved = (10e-6 + 4**10 / 1e12, 30e-6 + 4**10 / 1e9)
    assert value(section, "detour-randn") == pytest.approx(moved / there)
    assert "on the NVIDIA H200." in lead.answer
    assert lead.rule_of_thumb == "Create tensors with device=."


def test_without_an_accelerator_the_cpu_answers_and_the_rest_says_why_not() -> None:
    cases = created("bench_create", 1e-6, 1e9, "cpu") + created(
        "bench_create", 1e-6, 1e10, "cpu", "full"
    )
    section = answer("placement", cases, [NO_GPU])
    assert section.findings[0].name == "create-randn-cpu"
    assert value(section, "create-randn-cpu") == pytest.approx(1e-6 + 4**10 / 1e9)
    full = by_name(section)["create-full-cpu"].answer
    assert " to write 1,048,576 equal numbers on the CPU." in full
    for name in ("detour-randn", "detour-full", "move"):
        assert by_name(section)[name].answer == "Not measured: no accelerator."


def test_nothing_is_asked_of_what_a_smaller_profile_leaves_out() -> None:
    section = answer("placement", created("bench_create", 1e-6, 1e9, "cpu"), [NO_GPU])
    assert not any("full" in finding.name for finding in section.findings)
    assert {one.name for one in section.plots} == {"create-randn"}


def test_two_ways_to_move_are_held_against_each_other() -> None:
    cases = ready("bench_move", 20e-6, 1e9)
    cases += ready("bench_empty_then_copy", 25e-6, 0.8e9)
    section = answer("placement", cases, accelerators=1)
    assert value(section, "move") == pytest.approx(1.25)


def test_what_stays_takes_the_thread_a_moment_and_the_device_nothing() -> None:
    cases = [*ready("bench_stay", 15e-6, 1e15), *ready("bench_empty_then_copy", 25e-6, 1e9)]
    for one in cases[: len(SIZES)]:
        one.extra_info.parts["enqueue"] = [0.5e-6] * LAUNCHES
    cases += [*ready("bench_stay", 0.3e-6, 1e15, "cpu")]
    cases += ready("bench_empty_then_copy", 1e-6, 1e9, "cpu")
    section = answer("placement", cases, accelerators=1)
    assert value(section, f"stay-{GPU}") == pytest.approx(0.5e-6)
    assert value(section, "stay-cpu") == pytest.approx(0.3e-6, rel=0.01)


def test_the_detour_and_the_direct_way_are_lines_over_sizes() -> None:
    cases = created("bench_create", 10e-6, 1e12)
    cases += created("bench_create_then_move", 30e-6, 1e9)
    cases += created("bench_create", 1e-6, 1e9, "cpu") + ready("bench_stay", 1e-6, 1e15, "cpu")
    section = answer("placement", cases, accelerators=1)
    assert [line.label for line in plot(section, "create-randn").series] == [
        "on the CPU, then moved to the NVIDIA H200",
        "on the NVIDIA H200",
        "on the CPU",
    ]
    assert [line.label for line in plot(section, "move").series] == [
        "CPU, to, on the device already"
    ]
