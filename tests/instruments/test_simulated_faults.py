# SPDX-License-Identifier: MIT
"""A simulated accelerator is wrong in the ways that it is told to be, and in no other."""

import math
import statistics
import subprocess
import time

import pytest

from tests.instruments.processes.stage import play_warm, start
from tests.instruments.simulated.simulated_accelerator.machine import Machine
from tests.instruments.simulated.simulated_accelerator.spec import Faults, Spec

WORK = 1e-3


def took(machine: Machine, index: int = 0, at: float = 0.0) -> float:
    """Return the seconds of a millisecond's work that is launched at a moment."""
    device = machine.devices[index]
    device.run("work", device.new_stream(), "compute", WORK, at)
    begin, end = device.account.recent[-1][2:]
    return end - begin


def several(spec: Spec) -> list[float]:
    """Return how long the same work takes a new machine, again and again on each device."""
    machine = Machine(spec)
    return [took(machine, index) for index in (0, 1) for _ in range(3)]


def test_noise_makes_a_whole_process_quicker_or_slower_than_the_next_one() -> None:
    machines = [Machine(Spec(faults=Faults(noise=0.1), seed=1)) for _ in range(400)]
    slowness = [took(machine) / WORK for machine in machines]
    assert statistics.stdev(map(math.log, slowness)) == pytest.approx(0.1, rel=0.2)
    for machine, slow in zip(machines, slowness, strict=True):
        assert took(machine, 1) == pytest.approx(slow * WORK)
        assert machine.spec.launch == pytest.approx(slow * Spec().launch)
        assert machine.spec.synchronise == pytest.approx(slow * Spec().synchronise)


def test_a_machine_that_ages_is_slower_the_later_a_process_begins() -> None:
    now = time.time()
    seconds = [
        took(Machine(Spec(faults=Faults(ageing=1e-6, ageing_since=since))))
        for since in (now - 2e6, now - 1e6, now + 1e6)
    ]
    assert seconds == pytest.approx([3 * WORK, 2 * WORK, WORK], rel=1e-3)


def test_jitter_differs_between_durations_devices_and_processes() -> None:
    spec = Spec(faults=Faults(jitter=0.1))
    both = several(spec) + several(spec)
    assert len(set(both)) == len(both)


def test_jitter_of_a_seed_can_be_repeated() -> None:
    first, again, other = (several(Spec(faults=Faults(jitter=0.1), seed=s)) for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_clock_settles_some_time_after_the_first_launch_and_throttles_later() -> None:
    faults = Faults(ramp_for=0.5, ramp_speed=0.5, throttle_after=2.0, throttle_speed=0.25)
    machine = Machine(Spec(faults=faults))
    seconds = [took(machine, at=10 + later) for later in (0.0, 0.49, 0.51, 1.99, 2.01)]
    assert seconds == pytest.approx([2 * WORK, 2 * WORK, WORK, WORK, 4 * WORK])
    assert took(machine, 1, at=20) == pytest.approx(2 * WORK)  # it has a clock of its own


def test_each_device_has_its_own_speed_whatever_its_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SIM_VISIBLE_DEVICES", "2,0")
    machine = Machine(Spec(devices=3, faults=Faults(speeds=[1.0, 1.0, 0.5])))
    assert [took(machine, index) for index in (0, 1)] == pytest.approx([2 * WORK, WORK])


def test_a_device_that_is_lost_refuses_every_call_and_the_other_does_not() -> None:
    loss = play_warm("oddities", "loss", spec={"virtual": True, "faults": {"lost_after": 10}})[
        "loss"
    ]
    assert loss["used"] == 10 - 1  # the copy was a launch too
    assert loss["refusal"] == ["AcceleratorError", "sim error: device 0 is lost"]
    assert loss["waiting"] == loss["refusal"]
    assert loss["other device"] == []


def test_a_device_that_hangs_is_waited_for_without_end() -> None:
    with start("oddities", "hang", spec={"faults": {"hang_after": 2}}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "launched\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.kill()
