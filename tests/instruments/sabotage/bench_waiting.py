# SPDX-License-Identifier: MIT
"""Is it noticed when devices are not waited for, or not watched where they work?"""

import threading
from typing import Any

import pytest

from frobench import Device, Lane, Measure, cases
from frobench.suite.concurrency import Interval
from frobench.suite.kit.lanes import MILLISECOND
from frobench.suite.measure.timed_loop import Sampler
from tests.instruments.sabotage.planting import (
    factors,
    measure_as_product,
    measure_on_each,
    measure_product,
)


class Hasty(Sampler):
    """Does not wait for the devices after the last call, nor looks at its result."""

    def read_back(self) -> None:
        """Read nothing back."""

    def timed(self, iterations: int = 1) -> tuple[float, float, Any]:
        """Time until the calls returned."""
        _, _, result = super().timed(iterations)
        start = self.clock()
        for _ in range(iterations):
            result = self.body()
        took = self.clock() - start
        return took, took, result


@cases("quick", caught=["unsynchronised"])
def bench_no_waiting(
    measure: Measure, accelerator: Device, caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read the clock before the work is done."""
    monkeypatch.setattr("frobench.suite.launch.case.Sampler", Hasty)
    measure_product(measure, accelerator)


@cases("quick", caught=["failed-case"])
def bench_no_synchronisation(
    measure: Measure, accelerator: Device, caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let every synchronisation do nothing."""
    monkeypatch.setattr(Device, "synchronize", lambda _: None)
    measure_product(measure, accelerator)


@cases("quick", caught=["unsynchronised"])
def bench_one_device(
    measure: Measure, devices: list[Device], caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wait for the first of two devices, where the second begins later."""
    monkeypatch.setattr(measure, "_devices", devices[:1])
    measure_on_each(measure, devices, pause=0.005)


@cases("quick", caught=["events-miss-work"])
def bench_other_stream(
    measure: Measure, accelerator: Device, caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Record events on a stream that the work is not on."""
    idle, record = accelerator.stream(), Device.record
    monkeypatch.setattr(Device, "record", lambda device, event, _=None: record(device, event, idle))
    measure_product(measure, accelerator)


@cases("quick", caught=["overlap-in-turn"])
def bench_in_turn_by_naive_events(
    measure: Measure, devices: list[Device], caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take events of two devices for marks on one clock."""

    def naive(lane: Lane) -> list[Interval]:
        return [(0.0, begin.elapsed_time(end) * MILLISECOND) for begin, end in lane._entries]

    monkeypatch.setattr(Lane, "intervals", naive)
    measure_on_each(measure, devices, in_turn=True)


@cases("quick", caught=["wrong-result"])
def bench_garbage(measure: Measure, accelerator: Device, caught: str) -> None:
    """Use what is read back without waiting until it is there."""
    a, b = factors(accelerator)
    measure_as_product(measure, lambda: (a @ b).to("cpu", non_blocking=True).clone(), a, b)


@cases("quick", caught=["failed-case"])
def bench_hang(measure: Measure, accelerator: Device, caught: str) -> None:
    """Never end."""  # the last case of the last file: after it, nothing has to be taken up again
    a, b = factors(accelerator)
    measure_as_product(measure, threading.Event().wait, a, b)
