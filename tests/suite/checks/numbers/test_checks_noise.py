# SPDX-License-Identifier: MIT
"""Numbers that cannot be trusted far are named, and so are devices that are not alike."""

import pytest

from frobench.suite import checks
from frobench.suite.stored.types import Telemetry
from tests.instruments.faults.judging import made, on_accelerators, only, resample, said

# noisy_case


def test_a_case_whose_launches_differ_too_much_is_untrustworthy() -> None:
    run = resample(made(noise=0.001), lambda launch: 1.2 ** (launch % 2), cases=1)
    found = only(checks.conclude(run), "noisy-case")
    assert found.case == run.benchmarks[0].fullname
    assert found.message == "launches differ by 14%, wide interval: 2.8 µs [2.6, 3.1]"
    assert found.severity == "warning"


def test_differences_below_the_threshold_are_trusted() -> None:
    run = resample(made(noise=0.001), lambda launch: 1.08 ** (launch % 2))
    assert not said(run, "noisy-case")


@pytest.mark.parametrize(
    ("launches", "messages"),
    [
        (3, []),
        (4, ["launches differ by 30%: 3.19 µs (no interval: 4 launches)"]),
        (5, ["launches differ by 37%: 2.56 µs (no interval: 5 launches)"]),
    ],
)
def test_noise_shows_in_four_launches_though_they_have_no_interval(
    launches: int, messages: list[str]
) -> None:
    run = made(launches=launches, noise=0.001)
    resample(run, lambda launch: 1.5 ** (launch % 2), cases=1)
    assert said(run, "noisy-case") == messages


def test_most_cases_of_a_noisy_machine_are_named() -> None:
    run = made(noise=0.15)
    noisy = [c.case for c in checks.conclude(run) if c.code == "noisy-case"]
    assert len(noisy) == len(set(noisy)) > 0.9 * len(run.benchmarks)


# uneven_devices


@pytest.mark.parametrize(("balance", "named"), [(0.5, True), (0.69, True), (0.75, False)])
def test_a_slow_device_beside_a_fast_one_is_named(balance: float, named: bool) -> None:  # noqa: FBT001 - a parameter
    run, case = on_accelerators(2)
    case.extra_info.parts["balance"] = [balance] * 6
    message = f"the first device to be done takes {balance:.0%} of the last one's time"
    assert said(run, "uneven-devices") == [message] * named


def test_devices_that_are_uneven_now_and_then_are_not_named() -> None:
    run, case = on_accelerators(2)
    case.extra_info.parts["balance"] = [0.3, 0.3, 0.3, 0.95, 0.9, None]
    assert said(run, "uneven-devices")
    case.extra_info.parts["balance"] = [0.3, 0.3, 0.8, 0.95, 0.9, None]
    assert not said(run, "uneven-devices")


def test_devices_that_work_for_microseconds_are_not_compared() -> None:
    run, case = on_accelerators(2)
    case.extra_info.parts |= {"balance": [0.5] * 6, "span": [3e-4] * 6}
    assert not said(run, "uneven-devices")


def test_the_halves_of_a_processor_are_not_compared() -> None:
    run = made()
    pairs = [case for case in run.benchmarks if len(case.extra_info.devices) > 1]
    for case in pairs:
        case.extra_info.parts |= {"balance": [0.5] * 8, "span": [1e-2] * 8}
    assert pairs
    assert not said(run, "uneven-devices")


# busy_runner


@pytest.mark.parametrize(
    ("cores", "seconds", "named"),
    [(0.021, 90.0, False), (0.031, 90.0, True), (0.06, 2.0, False), (0.08, 2.0, True)],
)
def test_a_runner_that_takes_time_from_the_cases_is_named(
    cores: float, seconds: float, *, named: bool
) -> None:
    run = made()  # starting a launch may take 0.1 s, which is much of a short one
    launch = run.frobench.launches[4]
    launch.runner_cores, launch.seconds = cores, seconds
    assert said(run, "busy-runner") == [f"the runner used {cores:.2f} cores in launch 5"] * named


def test_what_reading_sensors_takes_is_not_held_against_the_runner() -> None:
    run = made()
    run.frobench.telemetry = Telemetry(
        begun=0.0, step=1.0, series={}, held_back={}, launches=[], unknown={}, cost=0.01
    )
    run.frobench.launches[4].runner_cores = 0.029
    assert not said(run, "busy-runner")
