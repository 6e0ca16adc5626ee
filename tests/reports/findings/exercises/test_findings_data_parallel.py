# SPDX-License-Identifier: MIT
"""What data parallelism gives and costs, from steps whose times are known."""

from collections.abc import Callable
from typing import Any

import pytest

from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import (
    WOBBLE,
    answer,
    by_name,
    case,
    left_out,
    plain,
    plot,
    value,
)

GPU, PAIR, HALVES = "cuda:0", "cuda:0+cuda:1", "cpu/0+cpu/1"
FOUR = "cuda:0+cuda:1+cuda:2+cuda:3"
BATCHES = (1, 64, 2048)


def alone(batch: int) -> float:
    """Take 100 µs and a microsecond for each sample."""
    return 100e-6 + batch * 1e-6


def parted(batch: int) -> float:
    """Take 400 µs more, and half of the time for the samples."""
    return 500e-6 + batch * 0.5e-6


def quarter(batch: int) -> float:
    return 1e-3 + batch * 0.25e-6


def steps(
    function: str, seconds: Callable[[int], float], device: str, size: str = "medium", many: int = 1
) -> list[Case]:
    """Build steps of so many seconds each, that many to a sample."""
    name, shape = f"bench_{function}", dict[str, Any](size=size)
    return [
        case(name, many * seconds(n), device, work=Work(items=float(many * n)), **shape, batch=n)
        for n in BATCHES
    ]


def parts(**seconds: float) -> list[Case]:
    """Build parts of a forward pass of the largest batch."""
    work, large = Work(items=float(BATCHES[-1])), dict[str, Any](size="medium", batch=BATCHES[-1])
    return [
        case("bench_forward_parts", each, PAIR, work=work, part=part, **large)
        for part, each in seconds.items()
    ]


def forward(seconds: float) -> Case:
    """Build a forward pass of the largest batch on one device."""
    work = Work(items=float(BATCHES[-1]))
    return case("bench_forward", seconds, GPU, work=work, size="medium", batch=BATCHES[-1])


def pair() -> list[Case]:
    return [
        *steps("one_device", alone, GPU),
        *steps("by_hand", parted, PAIR),
        *steps("data_parallel", lambda batch: 2 * parted(batch), PAIR),
    ]


def test_several_devices_are_held_against_one() -> None:
    section = answer("data_parallel", pair(), accelerators=2)
    lead = section.findings[0]
    assert lead.name == f"speed-up-by_hand-{PAIR}-medium"
    assert value(section, lead.name) == pytest.approx(alone(2048) / parted(2048))
    said = plain(lead)
    assert said.startswith("1.409")
    assert "] the speed of one NVIDIA H200 by hand, a batch of 2,048." in said
    assert lead.rule_of_thumb == "Split batches of 2,048."
    slow = by_name(section)[f"speed-up-data_parallel-{PAIR}-medium"]
    assert "0.70" in plain(slow)


def test_the_batch_from_which_several_devices_are_worth_it_is_found_between_those_measured() -> (
    None
):
    section = answer("data_parallel", pair(), accelerators=2)
    assert value(section, f"threshold-by_hand-{PAIR}-medium") == pytest.approx(800)
    never = by_name(section)[f"threshold-data_parallel-{PAIR}-medium"]
    assert never.value is None
    assert "At no size measured, up to a batch of 2,048" in plain(never)


def test_four_devices_are_held_against_one() -> None:
    cases = [*pair(), *steps("by_hand", quarter, FOUR)]
    section = answer("data_parallel", cases, accelerators=4)
    name = f"speed-up-by_hand-{FOUR}-medium"
    assert value(section, name) == pytest.approx(alone(2048) / quarter(2048))


def test_processes_are_held_against_one_process() -> None:
    cases = [
        *steps("one_device", lambda batch: 9 * alone(batch), GPU),
        *steps("one_process", alone, PAIR),
        *steps("distributed", parted, PAIR, many=10),
    ]
    section = answer("data_parallel", cases, accelerators=2)
    name = f"speed-up-distributed-{PAIR}-medium"
    assert value(section, name) == pytest.approx(alone(2048) / parted(2048))


def test_a_way_is_ranked_by_its_step_however_many_are_in_a_sample() -> None:
    cases = [*steps("by_hand", alone, PAIR), *steps("distributed", parted, PAIR, many=10)]
    best = by_name(answer("data_parallel", cases, accelerators=2))[f"best-{PAIR}-medium"]
    assert "as fast with DistributedDataParallel as by hand" in plain(best)
    assert best.value.value == pytest.approx(alone(2048) / parted(2048))


def test_halves_of_the_cpu_are_held_against_one_half_and_named_so() -> None:
    cases = [*steps("one_process", alone, HALVES), *steps("distributed", parted, HALVES)]
    reason = "needs two accelerators; 0 measured here"
    none = left_out("bench_by_hand", "skipped", reason, device="none", size="medium", batch=1)
    section = answer("data_parallel", cases, [none])
    lead = section.findings[0]
    assert lead.name == f"speed-up-distributed-{HALVES}-medium"
    assert " the speed of one half with DistributedDataParallel, a batch" in plain(lead)
    assert value(section, f"threshold-distributed-{HALVES}-medium") == pytest.approx(800)
    found = by_name(section)
    assert found["speed-up-accelerators"].answer == f"Not measured: {reason}."
    assert not any(name.startswith(("best", "loss", "sum")) for name in found)


def test_the_best_way_is_named_with_what_it_gains_over_the_next() -> None:
    section = answer("data_parallel", pair(), accelerators=2)
    best = by_name(section)[f"best-{PAIR}-medium"]
    assert value(section, best.name) == pytest.approx(2)
    assert plain(best).endswith("] as fast by hand as with nn.DataParallel, a batch of 2,048.")
    assert best.rule_of_thumb == "Train by hand."


def test_ways_that_cannot_be_told_apart_are_not_ranked() -> None:
    one = [factor * parted(2048) for factor in WOBBLE]
    other = [factor * (0.9 if launch % 2 else 1.1) for launch, factor in enumerate(one)]
    work = Work(items=2048.0)
    cases = [
        case(f"bench_{way}", seconds, PAIR, work=work, size="medium", batch=2048)
        for way, seconds in (("by_hand", one), ("data_parallel", other))
    ]
    best = by_name(answer("data_parallel", cases, accelerators=2))[f"best-{PAIR}-medium"]
    assert best.answer.startswith("No measurable difference: ")


def test_what_is_lost_is_what_a_share_of_one_device_s_time_leaves() -> None:
    times = {"replicate": 3e-3, "scatter": 1e-3, "parallel_apply": 4e-3, "gather": 2e-3}
    cases = [
        *pair(),
        forward(6e-3),
        *parts(**times, whole=9.8e-3),
    ]
    section = answer("data_parallel", cases, accelerators=2)
    lost = by_name(section)[f"loss-{PAIR}-medium"]
    assert value(section, lost.name) == pytest.approx((9.8 - 3) / 9.8)
    bars = plot(section, f"parts-{PAIR}-medium")
    assert {one.label: one.points[0].y.value for one in bars.series} == pytest.approx(times)
    assert bars.whole.points[0].y.value == pytest.approx(9.8e-3)


def test_a_build_without_the_primitives_is_the_reason_that_is_given() -> None:
    reason = "no primitives for nn.DataParallel here: module 'torch._C' has no attribute '_scatter'"
    cases = [*steps("one_device", alone, GPU), *steps("by_hand", parted, PAIR)]
    gone = [
        left_out(f"bench_{name}", "skipped", reason, device=PAIR, size="medium", batch=64, **more)
        for name, more in (("data_parallel", {}), ("forward_parts", {"part": "gather"}))
    ]
    found = by_name(answer("data_parallel", cases, gone, accelerators=2))
    assert found[f"speed-up-data_parallel-{PAIR}-medium"].answer == f"Not measured: {reason}."
    assert (
        reason in found[f"best-{PAIR}-medium"].answer
        or "only way" in found[f"best-{PAIR}-medium"].answer
    )


def test_each_network_and_group_has_its_lines_the_largest_network_first() -> None:
    cases = [*pair(), *steps("one_device", alone, GPU, "small")]
    cases += steps("by_hand", parted, PAIR, "small")
    cases += [*steps("one_device", alone, GPU, "large"), *steps("by_hand", parted, PAIR, "large")]
    section = answer("data_parallel", cases, accelerators=2)
    assert section.findings[0].name == f"speed-up-by_hand-{PAIR}-large"
    medium, small = (plot(section, f"speed-up-{PAIR}-{size}") for size in ("medium", "small"))
    assert [line.label for line in medium.series] == ["by hand", "with nn.DataParallel"]
    assert [line.label for line in small.series] == ["by hand"]
    assert [point.y.value for point in small.series[0].points] == pytest.approx(
        [alone(batch) / parted(batch) for batch in BATCHES]
    )
