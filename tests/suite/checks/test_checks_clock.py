# SPDX-License-Identifier: MIT
"""A clock that is too coarse for what it measures is named, however it hides."""

from random import Random

import pytest

from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import made, said, samples, set_samples

STEP = 3.1e-8
"""What the clock of the factory's runs shows."""


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


# quantised_samples


def stepped(step: float, *, noise: float = 0.05, cases: int = 40, launches: int = 6) -> Run:
    """Return a run whose clock moves in steps that it did not show."""
    run = made(noise=noise, launches=launches)
    del run.benchmarks[cases:]
    random = Random(2)  # noqa: S311 - no secret
    for case in run.benchmarks:
        by_launch = []
        for launch, calls in zip(samples(case), case.extra_info.iterations, strict=True):
            now, seen = random.random(), []
            for sample in launch:
                long = sample * calls if step == 0 else 7.3 * step * sample / case.stats.median
                before, now = now, now + long
                seen.append((_read(now, step) - _read(before, step)) / calls)
            by_launch.append([round(sample, 12) for sample in seen])
        set_samples(case, by_launch)
    return run


def _read(now: float, step: float) -> float:
    return now // step * step if step else now


@pytest.mark.parametrize("step", [1e-5, 1e-3, 0.0156])
def test_a_clock_of_hidden_steps_is_named_once(step: float) -> None:
    (message,) = said(stepped(step), "quantised-samples")
    shown = {1e-5: "10 µs", 1e-3: "1 ms", 0.0156: "15.6 ms"}[step]
    assert message.startswith(f"samples come in steps of {shown}, and those of ")
    assert message.endswith(" cases last less than 100")


def test_two_cases_in_two_launches_show_the_steps() -> None:
    run = stepped(1e-3, cases=2, launches=2)
    assert said(run, "quantised-samples")


def test_samples_that_hardly_vary_show_the_steps_by_their_jumps() -> None:
    assert said(stepped(1e-3, noise=0.001), "quantised-samples")


@pytest.mark.parametrize("noise", [0.001, 0.02, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_samples_of_a_fine_clock_share_no_step(noise: float, seed: int) -> None:
    run = made(noise=noise, seed=seed)
    assert not said(run, "quantised-samples")


def test_the_steps_that_the_clock_shows_are_not_hidden() -> None:
    run, chance = made(), Random(3)  # noqa: S311 - no secret
    for case in run.benchmarks:
        case.extra_info.iterations = [1] * 8
        set_samples(case, [[chance.randint(130, 140) * STEP for _ in range(30)] for _ in range(8)])
    assert not said(run, "quantised-samples")


def test_samples_without_spread_show_no_steps() -> None:
    run = made()
    for number, case in enumerate(run.benchmarks, start=1):
        case.extra_info.iterations = [1] * 8
        set_samples(case, [[number * 1e-3] * 5] * 8)
    assert not said(run, "quantised-samples")


def test_launches_of_two_modes_without_spread_show_no_steps() -> None:
    run = made()
    for case in run.benchmarks:
        case.extra_info.iterations = [1] * 8
        set_samples(case, [[1e-3 * (1 + launch % 2)] * 5 for launch in range(8)])
    assert not said(run, "quantised-samples")


def test_steps_that_round_by_less_than_a_percent_do_no_harm() -> None:
    run, chance = made(), Random(4)  # noqa: S311 - no secret
    for case in run.benchmarks:
        case.extra_info.iterations = [1] * 8
        set_samples(case, [[chance.randint(150, 160) * 1e-3 for _ in range(9)] for _ in range(8)])
    assert not said(run, "quantised-samples")


def test_few_samples_fall_on_steps_by_chance() -> None:
    run = stepped(1e-3, cases=1, launches=1)
    assert sum(map(len, samples(run.benchmarks[0]))) < 20
    assert not said(run, "quantised-samples")


def test_a_run_without_a_clock_is_not_judged_by_it() -> None:
    run = stepped(1e-3)
    for launch in run.frobench.launches:
        launch.timer_step = 0.0
    assert not said(run, "quantised-samples")


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
