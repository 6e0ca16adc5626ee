# SPDX-License-Identifier: MIT
"""Boundaries, pipelines and independent models whose costs are known."""

import pytest

from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import (
    LAUNCHES,
    WOBBLE,
    answer,
    by_name,
    case,
    left_out,
    plain,
    plot,
    value,
)

GPU, PAIR = "cuda:0", "cuda:0+cuda:1"
FOUR = f"{PAIR}+cuda:2+cuda:3"
MICRO = (1, 2, 4, 8)
ON_GPU, SPLIT = "all on the NVIDIA H200", "split between the CPU and the NVIDIA H200"


def placements(tokens: int, cpu: float, gpu: float, split: float) -> list[Case]:
    """Build the three placements of a forward pass, and the parts of the CPU and of the split."""
    return [
        case("bench_forward", cpu, tokens=tokens),
        case("bench_forward", gpu, GPU, tokens=tokens),
        case("bench_split_forward", split, GPU, tokens=tokens),
        case("bench_embedding", cpu / 4, tokens=tokens),
        case("bench_layers", cpu * 3 / 4, tokens=tokens),
        case("bench_boundary", split / 2, GPU, tokens=tokens),
        case("bench_layers", split / 2 - cpu / 4, GPU, tokens=tokens),
    ]


def pipeline(
    group: str, copy: float = 0.0, small: float = 0.0, *, control: bool = False
) -> list[Case]:
    """Build a pipeline of equal stages, a second in all, whose pieces may each cost more.

    copy : seconds of a copy between stages, for which both wait
    small : seconds that each piece costs each stage beyond its part of the work
    control : whether it also ran strictly in turn
    """
    count, cases = group.count("+") + 1, []
    for micro in MICRO:
        step = 1 / micro / count + small
        cases += [
            case("bench_one_device", micro * count * step, GPU, n=1024, micro=micro),
            case(
                "bench_pipeline",
                (micro + count - 1) * (step + copy),
                group,
                concurrency=1 - 1 / micro if control else None,
                busy=micro * count * step,
                n=1024,
                micro=micro,
            ),
        ]
    return cases


def test_the_fastest_placement_leads() -> None:
    cases = placements(64, 1e-3, 2e-3, 3e-3) + placements(256, 8e-3, 2e-3, 4e-3)
    lead = answer("split_model", cases, accelerators=1).findings[0]
    assert lead.name == "placement"
    assert lead.value.value == pytest.approx(2e-3, rel=0.1)  # launches wobble
    assert f" for a forward pass of 256 words {ON_GPU}." in plain(lead)
    assert lead.rule_of_thumb == f"With 256 words run it {ON_GPU}."


def test_a_single_placement_is_not_compared() -> None:
    alone, other, _, *_ = placements(256, 8e-3, 2e-3, 4e-3)
    lead = answer("split_model", [other], accelerators=1).findings[0]
    assert lead.answer == "Not measured: no two placements have a number of words in common."
    both = answer("split_model", [alone, other], accelerators=1).findings[0]
    assert both.rule_of_thumb == f"With 256 words run it {ON_GPU}."


def test_placements_that_cannot_be_told_apart_are_not_ranked() -> None:
    cases = placements(256, 8e-3, 2e-3, 4e-3)
    cases[2] = case("bench_split_forward", [2e-3 * x for x in WOBBLE[::-1]], GPU, tokens=256)
    placed = by_name(answer("split_model", cases, accelerators=1))["placement"]
    assert placed.value is not None
    assert placed.rule_of_thumb == ""


def test_the_boundary_is_what_splitting_adds() -> None:
    cases = placements(64, 1e-3, 2e-3, 3e-3) + placements(256, 8e-3, 2e-3, 5e-3)
    section = answer("split_model", cases, accelerators=1)
    assert value(section, "boundary") == pytest.approx(3e-3, rel=0.1)


def test_in_training_it_is_a_ratio() -> None:
    cases = [
        case("bench_step", 2e-3, GPU, tokens=64),
        case("bench_split_step", 7e-3, GPU, tokens=64),
    ]
    assert value(answer("split_model", cases, accelerators=1), "training") == pytest.approx(3.5)


def test_the_embedding_is_a_part_of_the_pass() -> None:
    section = answer("split_model", placements(64, 1e-3, 2e-3, 3e-3), accelerators=1)
    assert value(section, "embedding-cpu") == pytest.approx(0.25)


def test_parts_stand_beside_the_whole_of_each_placement() -> None:
    cases = placements(256, 8e-3, 2e-3, 5e-3)
    shown = plot(answer("split_model", cases, accelerators=1), "parts")
    parts = {part.label: {point.x: point.y.value for point in part.points} for part in shown.series}
    for whole in shown.whole.points:
        total = sum(bar.get(whole.x, 0.0) for bar in parts.values())
        assert total == pytest.approx(whole.y.value)
    assert {point.x for point in shown.whole.points} == {"all on the CPU", SPLIT}
    assert list(parts["boundary"]) == [SPLIT]


@pytest.mark.parametrize("group", [PAIR, FOUR])
def test_a_pipeline_of_equal_stages_has_the_bubble_of_theory(group: str) -> None:
    section = answer("split_model", pipeline(group), accelerators=4)
    count = group.count("+") + 1
    assert value(section, f"pipeline-{group}") == pytest.approx(8 * count / (7 + count))
    assert value(section, f"bubble-{group}") == pytest.approx((count - 1) / (7 + count))
    measured, theory = plot(section, f"pipeline-{group}").series
    assert [point.y.value for point in measured.points] == [
        pytest.approx(point.y.value) for point in theory.points
    ]


def test_copies_between_stages_are_part_of_the_bubble_and_small_pieces_are_not() -> None:
    copies = answer("split_model", pipeline(PAIR, copy=1 / 16), accelerators=2)
    assert value(copies, f"bubble-{PAIR}") == pytest.approx(1 - 8 / 9 / 2)
    assert "equal stages must wait for 11.1%" in plain(by_name(copies)[f"bubble-{PAIR}"])
    pieces = answer("split_model", pipeline(PAIR, small=1 / 16), accelerators=2)
    assert value(pieces, f"bubble-{PAIR}") == pytest.approx(1 / 9)


def test_stages_share_what_theory_says() -> None:
    section = answer("split_model", pipeline(FOUR, control=True), accelerators=4)
    assert value(section, f"overlap-{FOUR}") == pytest.approx(7 / 8)


def test_an_older_overlap_and_idle_time_that_was_not_measured_are_not_shown() -> None:
    cases = pipeline(PAIR)
    for one in cases:
        one.extra_info.parts.pop("busy", None)
        one.extra_info.parts["overlap"] = [0.93] * LAUNCHES
    found = by_name(answer("split_model", cases, accelerators=2))
    assert found[f"overlap-{PAIR}"].answer == "Not measured: no control strictly in turn."
    reason = "Not measured: the devices' busy time was not measured."
    assert found[f"bubble-{PAIR}"].answer == reason


def test_launches_that_leave_devices_idle_are_no_busy_time() -> None:
    def launching(function: str, device: str, busy: float | None = None) -> Case:
        """Take as long on one device as on two: the host launches all of it in that time."""
        return case(function, 1.0, device, n=1024, micro=1, busy=busy)

    cases = [launching("bench_one_device", GPU), launching("bench_pipeline", PAIR, 0.46)]
    found = answer("split_model", cases, accelerators=2)
    assert value(found, f"bubble-{PAIR}") == pytest.approx(0.77)


def test_independent_models_are_held_against_a_sequence_on_the_first_device() -> None:
    cases = [
        case("bench_tasks_in_sequence", 2.0, GPU, work=Work(items=2.0), n=1024),
        case("bench_tasks_at_once", 1.25, FOUR, work=Work(items=4.0), n=1024),
    ]
    assert value(answer("split_model", cases, accelerators=4), f"tasks-{FOUR}") == pytest.approx(
        3.2
    )


def test_without_accelerators_it_says_so_and_the_cpu_still_answers() -> None:
    reason = "needs two accelerators; 0 measured here"
    none = [
        left_out(f"bench_{name}", "skipped", reason, device="none")
        for name in ("pipeline", "tasks_at_once")
    ]
    cpu = [one for one in placements(64, 1e-3, 2e-3, 3e-3) if one.extra_info.device == "cpu"]
    section = answer("split_model", cpu, none)
    found = by_name(section)
    assert section.findings[0].name == "embedding-cpu"
    for name in ("placement", "boundary", "training"):
        assert found[name].answer == "Not measured: no accelerator."
    for name in ("pipeline", "tasks"):
        assert found[name].answer == f"Not measured: {reason}."
    assert [one.name for one in section.plots] == ["parts"]
