# SPDX-License-Identifier: MIT
"""A machine that does not hold its speed, over the run or within a launch, is named."""

from random import Random

import pytest
from msgspec.structs import replace
from scipy.stats import kendalltau

from frobench.suite import checks
from frobench.suite.checks import courses
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import keep, made, resample, said, samples, set_samples

# drift


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (1.01, "the last launches were 6.2% slower than the first"),
        (0.99, "the last launches were 5.8% faster than the first"),
    ],
)
def test_a_machine_that_does_not_hold_its_speed_drifts(step: float, message: str) -> None:
    run = resample(made(noise=0.001), lambda launch: step**launch)
    assert said(run, "drift") == [message]


def test_one_case_that_drifts_is_no_drift_of_the_machine() -> None:
    assert not said(resample(made(noise=0.001), lambda launch: 1.01**launch, cases=1), "drift")


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (1.1, "from launch 6 on, times were 10.0% slower than before"),
        (0.9, "from launch 6 on, times were 10.0% faster than before"),
    ],
)
def test_a_step_in_mid_run_is_named(after: float, message: str) -> None:
    steps = [1.0] * 5 + [after] * 5
    run = resample(made(noise=0.0001, launches=10), lambda launch: steps[launch])
    drifting = [one for one in checks.conclude(run) if one.code == "drift"]
    assert [one.message for one in drifting] == [message]
    assert "95% interval may cover the median in fewer than 95%" in drifting[0].advice


@pytest.mark.parametrize("launches", [6, 7])
def test_a_step_over_so_few_launches_may_be_chance(launches: int) -> None:
    run = made(noise=0.01, launches=launches)
    assert not said(resample(run, lambda launch: 1.1 if launch >= 3 else 1.0), "drift")


@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_launches_without_any_noise_have_no_course_but_a_step(factor: float) -> None:
    run = resample(made(noise=0.0), lambda launch: factor if launch >= 4 else 1.0)
    assert bool(said(run, "drift")) is (factor > 1)


def test_launches_that_jump_without_a_trend_are_no_drift() -> None:
    jumps = [1.0, 1.05, 0.98, 1.03, 1.06, 1.0, 1.04, 1.05]
    assert not said(resample(made(), lambda launch: jumps[launch]), "drift")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("count", [6, 7, 12, 40])
def test_the_chance_of_a_trend_is_that_of_kendalls_test(seed: int, count: int) -> None:
    random = Random(seed)  # noqa: S311 - no secret
    series = [random.gauss(0.1 * place, 1) for place in range(count)]
    expected = kendalltau(range(count), series, method="exact").pvalue
    assert courses.chance_of_trend(series) == pytest.approx(expected, rel=1e-9)


# unsteady_clock


def throttled(run: Run, slower: float, after: float = 0.4, launches: range = range(100)) -> Run:
    """Slow the cases down that come late in a launch."""
    last = len(run.benchmarks)
    for case in run.benchmarks:
        places = case.extra_info.order
        late = [place > after * last and n in launches for n, place in enumerate(places)]
        slowed = [
            [s * (slower if hot else 1.0) for s in one]
            for one, hot in zip(samples(case), late, strict=True)
        ]
        set_samples(case, slowed)
    return run


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (1.3, "late in a launch cpu is 30.0% slower than early in it"),
        (0.8, "late in a launch cpu is 20.0% faster than early in it"),
    ],
)
def test_cases_that_depend_on_their_place_in_a_launch_are_named(
    factor: float, message: str
) -> None:
    run = made(noise=0.0)
    keep(run, lambda case: case.extra_info.device == "cpu")
    assert said(throttled(run, factor), "unsteady-clock") == [message]


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_throttling_shows_through_noise(noise: float) -> None:
    run = throttled(made(noise=noise), 1.5)
    first, *_ = said(run, "unsteady-clock")
    assert first.startswith("late in a launch cpu is ")


def test_only_the_device_that_throttles_is_named() -> None:
    run = made(accelerators=1)
    hot = [case for case in run.benchmarks if case.extra_info.device == "cuda:0"]
    throttled(replace(run, benchmarks=hot), 1.4)
    (message,) = said(run, "unsteady-clock")
    assert message.startswith("late in a launch cuda:0 is ")


def test_three_cases_in_six_launches_are_enough() -> None:
    run = made(noise=0.001, launches=6)
    del run.benchmarks[3:]
    orders = [(1, 2, 3), (2, 3, 1), (3, 1, 2)] * 2
    for number, case in enumerate(run.benchmarks):
        case.extra_info.order = [order[number] for order in orders]
    assert said(throttled(run, 1.4, after=0.5), "unsteady-clock")


@pytest.mark.parametrize("launches", [1, 5])
def test_few_launches_do_not_tell_a_place_from_a_case(launches: int) -> None:
    assert not said(throttled(made(launches=launches), 1.5), "unsteady-clock")


def test_a_few_percent_are_no_throttling() -> None:
    assert not said(throttled(made(), 1.04), "unsteady-clock")


def test_a_neighbour_in_some_launches_is_no_throttling() -> None:
    run = throttled(made(), 1.5, launches=range(3))
    assert not said(run, "unsteady-clock")


def test_a_single_case_has_no_place() -> None:
    run = made()
    del run.benchmarks[1:]
    run.benchmarks[0].extra_info.order = [1] * 8
    assert not said(run, "unsteady-clock")
