# SPDX-License-Identifier: MIT
"""A machine that does not hold its speed over the run is named."""

import pytest

from frobench.suite import checks
from tests.instruments.faults.judging import made, resample, said

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
