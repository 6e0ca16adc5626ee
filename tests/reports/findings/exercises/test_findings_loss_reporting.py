# SPDX-License-Identifier: MIT
"""What reporting losses costs, from trainings whose times beside a silent one are known."""

from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.findings import sections
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
    run_of,
)

STEPS, BATCH, SILENT = 30, 64, 200e-6
WORK = Work(items=float(STEPS * BATCH))
NOISE = [1.0, 1.04, 0.97, 1.03, 0.96, 1.02, 0.99, 1.01]


def beside(
    function: str,
    more: float,
    device: str = "cpu",
    noise: list[float] | None = None,
    last: float = 0.0,
    **params: Any,  # noqa: ANN401 - whatever a benchmark takes
) -> Case:
    """Build a training whose steps take so much more than those of a silent one.

    last : what the silent one beside it takes, as any training, to read once
    """
    silent = [(STEPS * SILENT + last) * factor for factor in WOBBLE]
    times = [STEPS * (SILENT + more) * factor for factor in WOBBLE]
    if noise:
        times = [one * factor for one, factor in zip(times, noise, strict=True)]
    made = case(function, times, device, work=WORK, network="small", batch=BATCH, **params)
    return replace(made, extra_info=replace(made.extra_info, against=silent))


def read_back(
    cost: float, device: str = "cpu", noise: list[float] | None = None, most: int = 15
) -> list[Case]:
    """Build trainings whose read-backs each cost so much, however many losses they bring."""
    return [
        beside("bench_reading", cost / every, device, noise, cost, every=str(every))
        for every in (5, 15, 1)  # text: in no order
        if every <= most
    ]


def together(function: str, slow: float, group: str) -> list[Case]:
    """Build trainings on several devices, the others so many times as slow beside a reader."""
    cases = []
    for reading, factor in (("nobody", 1.0), ("first", slow)):
        made = case(function, 0.1, group, network="small", batch=BATCH, reading=reading)
        parts: dict[str, list[float | None]] = {"span": [factor * one for one in WOBBLE]}
        cases.append(replace(made, extra_info=replace(made.extra_info, parts=parts)))
    return cases


def answered(cases: list[Case], accelerators: int = 0) -> Any:  # noqa: ANN401 - see `answer`
    return answer("loss_reporting", cases, accelerators=accelerators)


def test_the_slow_down_is_the_ratio_of_pairs() -> None:
    found = by_name(answered(read_back(30e-6)))["slow-down-small-64-cpu"]
    assert found.value.value == pytest.approx(1.15)
    assert found.value.high == pytest.approx(1.15)
    assert len(found.by_launch) == LAUNCHES
    assert "1.15" in plain(found)


def test_read_backs_cost_one_percent_where_their_share_of_a_step_is_that() -> None:
    found = by_name(answered(read_back(20e-6)))["every-small-64-cpu"]
    assert found.value.value == pytest.approx(20e-6 / (0.01 * SILENT))
    assert plain(found) == "From somewhere between once in 5 and once in 15."


@pytest.mark.parametrize(
    ("cost", "noise", "most", "words"),
    [
        (1e-6, None, 15, "From once in 1, the smallest measured, or below."),
        (300e-6, None, 15, "At no size measured, up to once in 15."),
        (20e-6, None, 5, "At no size measured, up to once in 5."),
        (20e-6, NOISE, 15, "At no size measured, up to once in 15 (4 of 8"),
    ],
)
def test_where_no_number_of_steps_can_be_named_the_reason_is_given(
    cost: float, noise: list[float] | None, most: int, words: str
) -> None:
    found = by_name(answered(read_back(cost, noise=noise, most=most)))["every-small-64-cpu"]
    assert found.value is None
    assert plain(found).startswith(words)


def test_without_the_training_that_reads_each_loss_the_reason_is_given() -> None:
    *others, first = read_back(20e-6)
    params = first.params | {"device": "cpu"}
    missing = left_out("bench_reading", "skipped", "takes 882 ms a call", **params)
    section = answer("loss_reporting", others, [missing])
    found = by_name(section)
    for name in ("slow-down", "every"):
        assert found[f"{name}-small-64-cpu"].answer == "Not measured: takes 882 ms a call."
    (line,) = plot(section, "every").series
    assert [point.x for point in line.points] == [5, 15]


def test_a_case_of_another_exercise_gives_no_reason() -> None:
    cases = read_back(20e-6)[:-1]
    missing = left_out("bench_reading", "skipped", "takes 882 ms a call", device="cpu")
    run = run_of("loss_reporting", cases, [missing])
    (own,) = (one for one in run.frobench.outcomes if one.reason == missing.reason)
    for group in ("another", "zebra"):
        run.frobench.outcomes.insert(0, replace(own, group=group, reason=f"that of {group}"))
    found = by_name(sections(run)[0])
    assert found["slow-down-small-64-cpu"].answer == "Not measured: takes 882 ms a call."


def test_a_launch_that_was_disturbed_does_not_name_a_number_of_steps() -> None:
    *others, first = read_back(1e-6)
    disturbed = beside("bench_reading", 1e-6, noise=[1.5, 1.5, *[1.0] * 6], every="1")
    found = by_name(answered([disturbed, *others]))["every-small-64-cpu"]
    assert first.name == disturbed.name
    assert plain(found).startswith(
        "From once in 1, the smallest measured, or below (8 of 8 launches"
    )


def test_ways_to_load_stand_beside_data_on_the_device() -> None:
    more = {"pageable": 60e-6, "pinned": 30e-6, "prefetched": 2e-6, "at_once": 1e-6}
    cases = [
        beside("bench_loading", cost, "cuda:0", memory=memory) for memory, cost in more.items()
    ]
    section = answered(cases, accelerators=1)
    found = by_name(section)["loading-small-64-cuda:0"]
    assert found.value.value == pytest.approx(1.3)
    (dots,) = plot(section, "loading").series
    assert [point.y.value for point in dots.points] == pytest.approx([1.3, 1.15, 1.01, 1.005])


@pytest.mark.parametrize("count", [2, 4])
def test_others_are_compared_by_when_they_were_at_work(count: int) -> None:
    group = "+".join(f"cuda:{index}" for index in range(count))
    cases = together("bench_one_thread", 1.6, group) + together("bench_threads", 1.0, group)
    section = answered(cases, accelerators=count)
    found = by_name(section)
    one, each = (found[f"others-{name}-small-64-{group}"] for name in ("one_thread", "threads"))
    assert one.value.value == pytest.approx(1.6)
    assert each.value.value == pytest.approx(1.0)
    assert "driven by one thread" in one.answer


def test_without_an_accelerator_the_cpu_is_answered_and_the_rest_says_so() -> None:
    found = by_name(answered(read_back(1e-6)))
    for name in ("slow-down", "loading", "others"):
        assert found[name].answer == "Not measured: no accelerator."


def test_with_one_accelerator_others_are_not_measured_for_want_of_a_second() -> None:
    reason = "needs two accelerators; 1 measured here"
    missing = left_out("bench_threads", "skipped", reason, device="none")
    section = answer(
        "loss_reporting",
        read_back(30e-6, "cuda:0"),
        [missing],
        accelerators=1,
        devices=["cpu", "cuda:0"],
    )
    found = by_name(section)
    assert found["others"].answer == f"Not measured: {reason}."
    assert "slow-down" not in found


def test_pairs_that_are_answered_are_not_answered_again() -> None:
    section = answered(read_back(30e-6))
    assert not [one for one in section.findings if one.name.startswith("versions")]


def test_the_slow_down_is_drawn_by_how_rarely_losses_are_read() -> None:
    (line,) = plot(answered(read_back(30e-6)), "every").series
    assert [point.x for point in line.points] == [1, 5, 15]
    assert [point.y.value for point in line.points] == pytest.approx([1.15, 1.03, 1.01])


def test_loading_without_a_silent_twin_is_answered_as_any_benchmark_is() -> None:
    loading = case("bench_loading", 1e-3, "cuda:0", network="small", batch=BATCH, memory="pinned")
    section = answer("loss_reporting", [loading])
    assert [finding.name for finding in section.findings] == ["time-loading-cuda:0"]
