# SPDX-License-Identifier: MIT
"""A clock that is too coarse for what it measures is named."""

from tests.instruments.faults.judging import made, said, set_samples

# coarse_clock


def test_a_sample_shorter_than_the_clock_can_resolve_is_named() -> None:
    run = made()
    info, seconds = run.benchmarks[0].extra_info, run.benchmarks[0].stats.median
    run.frobench.launches[3].timer_step = seconds * info.iterations[3] / 50
    first, *_ = said(run, "coarse-clock")
    assert first in {"a sample lasts 50 steps of the clock", "a sample lasts 51 steps of the clock"}


def test_a_launch_whose_clock_is_unknown_is_not_judged_by_it() -> None:
    run = made()
    for launch in run.frobench.launches:
        launch.timer_step = 0.0
    assert not said(run, "coarse-clock")


def test_a_coarse_clock_is_named_once_for_the_run_though_samples_are_long() -> None:
    run = made()
    for case in run.benchmarks:
        set_samples(case, [[2.0, 2.1, 2.2]] * 8)
    run.frobench.launches[2].timer_step = 0.0156
    assert said(run, "coarse-clock") == ["the clock's smallest step is 15.6 ms"]


# costly_harness


def test_a_case_that_takes_hardly_longer_than_the_harness_is_named() -> None:
    run = made()
    case = run.benchmarks[0]
    case.extra_info.iterations = [1] * 8
    for launch in run.frobench.launches:
        launch.empty_body["cpu"] = case.stats.median / 5
    first, *_ = said(run, "costly-harness")
    assert first == "the harness takes 20% of a sample"


def test_calls_repeated_in_a_sample_share_the_harness() -> None:
    run = made()
    del run.benchmarks[1:]
    case = run.benchmarks[0]
    case.extra_info.iterations = [10] * 8
    for launch in run.frobench.launches:
        launch.empty_body["cpu"] = case.stats.median / 5
    assert not said(run, "costly-harness")
