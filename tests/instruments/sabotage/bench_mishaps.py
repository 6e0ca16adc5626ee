# SPDX-License-Identifier: MIT
"""Is it noticed when a case, its device or its clock goes wrong altogether?"""

from functools import partial

import pytest
import torch

from frobench import Device, Measure, cases
from frobench.suite.measure.timed_loop import Sampler
from tests.instruments.sabotage.planting import (
    factors,
    measure_as_product,
    measure_on_each,
    measure_product,
    measure_sum,
    simulated,
)


@cases("quick", caught=["failed-case"])
def bench_memory(measure: Measure, accelerator: Device, caught: str) -> None:
    """Take more memory than there is."""
    a, b = factors(accelerator)
    measure_as_product(measure, lambda: torch.empty(10**12, device=accelerator.handle), a, b)


@cases("quick", caught=["failed-case"])
def bench_settings(measure: Measure, accelerator: Device, caught: str) -> None:
    """Leave another number of threads behind."""
    measure_product(measure, accelerator)
    torch.set_num_threads(torch.get_num_threads() + 1)


@cases("quick", caught=["failed-case"])
def bench_nothing(measure: Measure, accelerator: Device, caught: str) -> None:
    """Measure nothing."""


@cases("quick", caught=["failed-case"])
def bench_clock_stopped(
    measure: Measure, accelerator: Device, caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read a clock that stands still."""
    most = "frobench.suite.measure.timed_loop.MOST_READINGS"
    monkeypatch.setattr(most, 1000)  # as good as for ever
    monkeypatch.setattr("frobench.suite.launch.case.Sampler", partial(Sampler, clock=lambda: 1.0))
    measure_product(measure, accelerator)


@cases("quick", caught=["uneven-devices"])
def bench_slow_device(
    measure: Measure, devices: list[Device], caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work on two devices, the second of which has half the speed."""
    monkeypatch.setattr(simulated(devices[1].name), "speed", 0.5)
    measure_on_each(measure, devices)


@cases("quick", caught=["costly-harness"])
def bench_costly_clock(measure: Measure, device: Device, caught: str) -> None:
    """Read a clock that takes a tenth of a millisecond, around a body of one millisecond."""
    # The clock is set for the whole process, as it would be: its cost shows in an empty body.
    if device.is_accelerator:
        pytest.skip("is about what waits for no device")
    measure_sum(measure, device, pause=0.001, before=do_nothing)


def do_nothing() -> None:
    """Be called before each sample, which then is one call."""
