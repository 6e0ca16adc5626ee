# SPDX-License-Identifier: MIT
"""Times that cannot be true are named, and those that only look odd are not."""

import pytest

from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import (
    keep,
    made,
    name_again,
    on_accelerators,
    said,
    samples,
    set_samples,
)

LAUNCHES = 6


# unsynchronised


def test_a_host_that_did_not_wait_is_named() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["span"] = [9e-3] * LAUNCHES
    assert said(run, "unsynchronised") == ["the devices worked for 9 ms, the host waited 4 ms"]


def test_one_launch_is_enough_to_see_that_the_host_did_not_wait() -> None:
    run, case = on_accelerators(1, launches=1)
    case.extra_info.parts["span"] = [9e-3]
    assert said(run, "unsynchronised")


def test_a_host_that_waited_for_one_device_of_two_is_named() -> None:
    run, case = on_accelerators(2)
    case.extra_info.parts["span"] = [5e-3] * LAUNCHES
    assert said(run, "unsynchronised")


def test_device_time_within_the_noise_of_the_host_is_none() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["span"] = [4.4e-3] * LAUNCHES
    assert not said(run, "unsynchronised")


def test_a_few_disturbed_launches_do_not_make_a_case_unsynchronised() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["span"] = [9e-3, 9e-3, 9e-3, 3.9e-3, 3.9e-3, 3.9e-3]
    assert not said(run, "unsynchronised")


def test_host_samples_as_slow_as_the_device_excuse_it() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["span"] = [9e-3] * LAUNCHES
    set_samples(case, [[4e-3, 4e-3, 9.1e-3]] * LAUNCHES)  # a neighbour disturbs either kind
    assert not said(run, "unsynchronised")


def tiny(devices: int, events: float) -> Run:
    """Return a run of a case that queues 5 µs on each device, and each of two events takes more."""
    run, case = on_accelerators(1)
    case.extra_info.devices = [f"cuda:{index}" for index in range(devices)]
    name_again(run, case)
    set_samples(case, [[8e-6 * devices] * 4] * LAUNCHES)  # 3 µs for waiting
    case.extra_info.parts["span"] = [(5e-6 + 2 * events) * devices] * LAUNCHES
    return run


@pytest.mark.parametrize("devices", [1, 2, 8])
def test_events_of_tiny_work_may_cost_more_than_it_on_every_device(devices: int) -> None:
    assert not said(tiny(devices, 8e-6), "unsynchronised")
    assert said(tiny(devices, 30e-6), "unsynchronised")


def test_a_sample_of_several_calls_is_compared_as_a_whole() -> None:
    run, case = on_accelerators(1)
    case.extra_info.iterations = [3] * LAUNCHES
    case.extra_info.parts["span"] = [9e-3] * LAUNCHES  # a call's, where calls overlap
    assert not said(run, "unsynchronised")


def test_workers_on_the_cpu_are_not_taken_for_devices() -> None:
    run = made()
    keep(run, lambda case: "in_turn" in case.name)
    for case in run.benchmarks:
        case.extra_info.parts["span"] = [2 * max(one) for one in samples(case)]
    assert not said(run, "unsynchronised")


# events_miss_work


def test_events_beside_the_work_are_named() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["span"] = [5e-5] * LAUNCHES
    assert said(run, "events-miss-work") == [
        "the host waited 3.9 ms, the events show 50 µs of work"
    ]


@pytest.mark.parametrize("span", [2.1e-3, 3.9e-3])
def test_events_around_most_of_the_work_are_not(span: float) -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["span"] = [span] * LAUNCHES
    assert not said(run, "events-miss-work")


def test_a_body_that_waits_by_itself_leaves_the_host_nothing_to_wait_for() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts = {"enqueue": [3.99e-3] * LAUNCHES, "span": [5e-5] * LAUNCHES}
    assert not said(run, "events-miss-work")


def test_waiting_costs_what_it_costs_without_work() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["span"] = [5e-5] * LAUNCHES
    for launch in run.frobench.launches:
        launch.empty_body["cuda:0"] = 2e-3
    assert not said(run, "events-miss-work")


def test_without_the_cost_of_waiting_nothing_is_said_of_events() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["span"] = [5e-5] * LAUNCHES
    for launch in run.frobench.launches:
        launch.empty_body = {}
    assert not said(run, "events-miss-work")


def test_queueing_that_varies_hides_no_events_beside_the_work() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts = {"enqueue": [2e-3] * LAUNCHES, "span": [5e-4] * LAUNCHES}
    set_samples(case, [[3e-3, 4e-3, 4e-3, 5e-3]] * LAUNCHES)  # of which 2 ms are waiting
    assert said(run, "events-miss-work") == ["the host waited 2 ms, the events show 500 µs of work"]


def test_a_core_that_is_taken_away_in_most_samples_is_no_missing_work() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts = {"enqueue": [1e-4] * LAUNCHES, "span": [1e-3] * LAUNCHES}
    set_samples(case, [[1.15e-3, 5e-3, 5e-3, 5e-3]] * LAUNCHES)
    assert not said(run, "events-miss-work")


# overlap_in_turn


def test_overlap_where_devices_work_in_turn_is_named() -> None:
    run = made()
    control = next(case for case in run.benchmarks if "in_turn" in case.name)
    assert not said(run, "overlap-in-turn")
    control.extra_info.parts["overlap"] = [None, 0.0, 0.0, 0.3, *[0.0] * 4]
    assert said(run, "overlap-in-turn") == ["overlap of 30% where there can be none"]
    del control.extra_info.parts["overlap"]
    control.extra_info.parts["concurrency"][3] = 0.2
    assert said(run, "overlap-in-turn") == ["overlap of 20% where there can be none"]


@pytest.mark.parametrize(("seconds", "named"), [(0.9e-4, False), (3e-4, True)])
def test_lanes_that_seem_to_share_time_in_turn_are_named_beyond_what_clocks_differ_by(
    seconds: float,
    named: bool,  # noqa: FBT001 - a parameter
) -> None:
    run = made()
    case = next(case for case in run.benchmarks if "two_at_once" in case.name)
    parts = case.extra_info.parts
    count = len(parts["entries"])
    parts |= {"shareable": [1e-3] * count, "shared_in_turn": [seconds] * count}
    parts["concurrency"] = [0.0] * count
    assert said(run, "overlap-in-turn") == (["overlap of 26% where there can be none"] * named)


# first_call_counted


def slow_firsts(launches: int, slow: int, factor: float = 2.0, count: int = 5) -> Run:
    """Return a run of a case whose first sample is the slow one in some launches."""
    run, case = on_accelerators(1, launches)
    by_launch = [
        [4e-3 * (factor if launch < slow else 1.0), *[4.1e-3] * (count - 1)]
        for launch in range(launches)
    ]
    set_samples(case, by_launch)
    return run


@pytest.mark.parametrize(("launches", "slow"), [(3, 3), (6, 5), (8, 7), (12, 10)])
def test_first_samples_that_pay_for_something_are_named(launches: int, slow: int) -> None:
    message = "the first sample lasts 2.0 times as long as any other"
    assert said(slow_firsts(launches, slow), "first-call-counted") == [message]


@pytest.mark.parametrize(("launches", "slow"), [(1, 1), (2, 2), (3, 2), (6, 4), (8, 6)])
def test_first_samples_that_are_slow_now_and_then_are_chance(launches: int, slow: int) -> None:
    assert not said(slow_firsts(launches, slow), "first-call-counted")


def test_a_first_sample_a_little_slower_than_the_rest_is_usual() -> None:
    assert not said(slow_firsts(8, 8, factor=1.45), "first-call-counted")


@pytest.mark.parametrize("count", [2, 4])
def test_a_launch_of_few_samples_does_not_say_which_one_is_odd(count: int) -> None:
    assert not said(slow_firsts(8, 8, count=count), "first-call-counted")


def test_where_any_sample_may_be_slow_the_first_is_not_special() -> None:
    run, case = on_accelerators(1)
    set_samples(case, [[9e-3, 4e-3, 4e-3, 4e-3, 8e-3]] * LAUNCHES)
    assert not said(run, "first-call-counted")


def test_first_calls_of_the_other_version_count_too() -> None:
    run, case = on_accelerators(1)
    set_samples(case, [[4e-3] * 5] * LAUNCHES)
    case.extra_info.against = [8e-3, *[4e-3] * 4] * LAUNCHES
    message = "the other version: the first sample lasts 2.0 times as long as any other"
    assert said(run, "first-call-counted") == [message]


@pytest.mark.parametrize("launches", [1, 6])
def test_a_case_that_was_not_warmed_up_is_named(launches: int) -> None:
    run, case = on_accelerators(1, launches)
    case.extra_info.warmup = [1e-5] * launches
    message = "sampled after a warm-up shorter than a call"
    assert said(run, "first-call-counted") == [message]


def test_a_warm_up_of_two_calls_is_one() -> None:
    run, case = on_accelerators(1)
    case.extra_info.warmup = [6e-3] * LAUNCHES  # the calls were quicker than the samples
    assert not said(run, "first-call-counted")


def test_samples_of_many_calls_may_be_longer_than_the_warm_up() -> None:
    run, case = on_accelerators(1)
    case.extra_info.iterations = [100] * LAUNCHES
    assert not said(run, "first-call-counted")


# result_not_ready


@pytest.mark.parametrize(
    ("reading", "ready", "named"),
    [
        (0.02, 2e-5, True),
        (2.5e-5, 2e-5, False),
        (5.2e-3, 5e-3, False),  # where reading is dear
        (1.5e-4, 2e-5, False),  # the host woke up late
        (1e-3, 2e-5, False),  # a quarter of a sample is no work that was missed
    ],
)
def test_a_result_that_is_computed_when_it_is_read_is_named(
    reading: float,
    ready: float,
    named: bool,  # noqa: FBT001 - a parameter
) -> None:
    run, case = on_accelerators(1)
    for launch in run.frobench.launches:
        launch.ready_reading = {"cuda:0": ready}
    case.extra_info.parts["reading"] = [reading] * LAUNCHES
    assert bool(said(run, "result-not-ready")) == named


def test_two_launches_that_read_late_may_be_disturbed() -> None:
    run, case = on_accelerators(1)
    for launch in run.frobench.launches:
        launch.ready_reading = {"cuda:0": 2e-5}
    late: list[float | None] = [2e-5] * LAUNCHES
    case.extra_info.parts["reading"] = [0.02, 0.02, *late[2:]]
    assert not said(run, "result-not-ready")


def test_nothing_is_said_where_no_ready_value_was_read() -> None:
    run, case = on_accelerators(1)
    case.extra_info.parts["reading"] = [0.02] * LAUNCHES
    assert not said(run, "result-not-ready")
