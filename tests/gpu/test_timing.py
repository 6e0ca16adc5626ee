# SPDX-License-Identifier: MIT
# mypy: disable-error-code="no-untyped-call"
"""What the harness times, against CUDA's events and against kernels of a known length."""

import random
import statistics
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from frobench.suite.machine.sensors.sensor import seal
from frobench.suite.machine.vendors import sources
from frobench.suite.machine.vendors.vendor import Identity

if TYPE_CHECKING:
    from frobench.suite.kit.device import Device

CYCLES = [10**7 * times for times in (1, 2, 3, 4)]
"""Lengths of the kernels: 5 to 20 ms at 2 GHz."""
LONG = 4 * 10**7
"""Cycles in which everything of a test is launched."""
ROUNDS = 9
NEAR = 0.02

Times = dict[int, float]


def sleep(cycles: int) -> None:
    """Keep the GPU in one kernel for so many cycles of its clock."""
    import torch

    torch.cuda._sleep(cycles)


def between_events(work: Callable[[], object]) -> float:
    """Return the seconds that the GPU takes for work, by events recorded here."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in "12")
    torch.cuda.synchronize()
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) / 1000


@pytest.fixture(scope="module")
def sleeps(gpu: "Device") -> dict[str, Times]:
    """Return the median seconds of each kernel, timed in turn by the samples and by events."""
    from frobench.suite.measure.timed_loop import Sampler

    samplers = {cycles: Sampler(partial(sleep, cycles), [gpu]) for cycles in CYCLES}
    ways: dict[str, Callable[[Sampler], float]] = {
        "host": lambda sampler: sampler.took(),
        "span": lambda sampler: sampler.span()["span"],
        "events": lambda sampler: between_events(sampler.body),
    }
    seen: dict[str, dict[int, list[float]]] = {way: {c: [] for c in CYCLES} for way in ways}
    for _ in range(50):  # until the clock is where it stays
        samplers[CYCLES[-1]].took()
    for _ in range(ROUNDS):
        for cycles in random.sample(CYCLES, len(CYCLES)):
            for way, took in ways.items():
                seen[way][cycles].append(took(samplers[cycles]))
    return {
        way: {cycles: statistics.median(times) for cycles, times in by_cycles.items()}
        for way, by_cycles in seen.items()
    }


def test_the_general_wait_is_proved_and_events_are_there(gpu: "Device") -> None:
    assert gpu.wait == "torch.accelerator.synchronize"
    assert gpu.has_events
    assert 0 < gpu.ready_reading() < 1e-3


@pytest.mark.parametrize("way", ["host", "span"])
def test_times_are_linear_in_cycles_and_as_events_say(sleeps: dict[str, Times], way: str) -> None:
    slope, start = statistics.linear_regression(CYCLES, [sleeps[way][c] for c in CYCLES])
    for cycles in CYCLES:
        assert sleeps[way][cycles] == pytest.approx(start + slope * cycles, rel=NEAR)
        assert sleeps[way][cycles] == pytest.approx(sleeps["events"][cycles], rel=NEAR)


def test_cycles_pass_at_the_rate_of_the_sensor(gpu: "Device", sleeps: dict[str, Times]) -> None:
    (sensor,) = sources({gpu.name: Identity(seal(str(gpu.uuid), ""))}, "")[1].sensors()
    clocks = []
    for _ in range(ROUNDS):
        sleep(5 * LONG)
        clocks.append(float(str(sensor.read()["sm_clock_hz"])))
        gpu.synchronize()
    slope, _ = statistics.linear_regression(CYCLES, [sleeps["host"][c] for c in CYCLES])
    assert 1 / slope == pytest.approx(statistics.median(clocks), rel=NEAR)
