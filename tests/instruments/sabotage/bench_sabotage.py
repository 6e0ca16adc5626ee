# SPDX-License-Identifier: MIT
"""Is it noticed what a body does wrongly, where it works, and who waits for it by which clock?"""

import threading
from functools import cache, partial
from typing import Any

import pytest
import torch

from frobench import Device, Lane, Measure, cases
from frobench.suite.concurrency import Interval
from frobench.suite.kit.lanes import MILLISECOND
from frobench.suite.measure.timed_loop import Sampler
from tests.instruments.sabotage.planting import (
    N,
    measure_on_each,
    measure_product,
    measure_sum,
    simulated,
)

# Where inputs lie, what is in them, and whether caches hold them


@cases("quick", caught=["idle-device"])
def bench_on_the_host(measure: Measure, accelerator: Device, caught: str) -> None:
    """Leave the tensors on the host."""
    measure_sum(measure, Device("cpu"))


@cases("quick", caught=["idle-device"])
def bench_on_one_device(measure: Measure, devices: list[Device], caught: str) -> None:
    """Leave the second device's tensors on the first."""
    measure_on_each(measure, [devices[0], devices[0]])


@cases("quick", caught=["plain-inputs"])
def bench_ones(
    measure: Measure, accelerator: Device, caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Multiply ones."""
    monkeypatch.setattr(Device, "uniform", lambda one, *shape: torch.ones(shape).to(one.handle))
    measure_product(measure, accelerator)


@cases("quick", caught=["plain-inputs"])
def bench_identity(measure: Measure, accelerator: Device, caught: str) -> None:
    """Multiply by the identity."""
    measure_product(measure, accelerator, b=torch.eye(N).to(accelerator.handle))


@cases("quick", caught=["wrong-result"])
def bench_empty(measure: Measure, accelerator: Device, caught: str) -> None:
    """Multiply zeros, so that there is nothing to be wrong about."""
    measure_product(measure, accelerator, b=torch.zeros(N, N).to(accelerator.handle))


@cases("quick", caught=["no-work"])
def bench_cached(measure: Measure, accelerator: Device, caught: str) -> None:
    """Return the product of the first call at every later one."""
    measure_product(measure, accelerator, cache(torch.matmul))


@cases("quick", caught=["warm-cache"], cache=["cold"])
def bench_claimed(measure: Measure, accelerator: Device, caught: str, cache: str) -> None:
    """Claim cold caches without emptying them."""
    measure_sum(measure, accelerator)


# What goes wrong altogether with a case, its device or its clock


@cases("quick", caught=["failed-case"])
def bench_memory(measure: Measure, accelerator: Device, caught: str) -> None:
    """Take more memory than there is."""
    measure_product(measure, accelerator, lambda a, _: torch.empty(10**12, device=a.device))


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
    monkeypatch.setattr("frobench.suite.measure.timed_loop.MOST_READINGS", 1000)  # soon enough
    monkeypatch.setattr("frobench.suite.launch.case.Sampler", partial(Sampler, clock=lambda: 1.0))
    measure_product(measure, accelerator)


@cases("quick", caught=["uneven-devices"])
def bench_slow_device(
    measure: Measure, devices: list[Device], caught: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work on two devices; the second has half the speed."""
    monkeypatch.setattr(simulated(devices[1].name), "speed", 0.5)
    measure_on_each(measure, devices)


@cases("quick", caught=["costly-harness"])
def bench_costly_clock(measure: Measure, device: Device, caught: str) -> None:
    """Read a clock that takes a tenth of a millisecond, around a body of one millisecond."""
    # The clock is set for the whole process, as it would be: its cost shows in an empty body.
    if device.is_accelerator:
        pytest.skip("is about what waits for no device")
    measure_sum(measure, device, pause=0.001, before=int)  # so that each sample is one call


# What does less than it should, or does it wrongly


@cases("quick", caught=["wrong-result"])
def bench_half(measure: Measure, accelerator: Device, caught: str) -> None:
    """Leave half of the work out."""
    half = N // 2
    measure_product(measure, accelerator, lambda a, b: torch.cat([a[:half] @ b] * 2))


@cases("quick", caught=["wrong-result"])
def bench_element(measure: Measure, accelerator: Device, caught: str) -> None:
    """Lose one element."""
    kept = torch.ones(N, N)
    kept[N // 2, N // 3] = 0
    mask = kept.to(accelerator.handle)
    measure_product(measure, accelerator, lambda a, b: (a @ b) * mask)


@cases("quick", caught=["wrong-result"])
def bench_shape(measure: Measure, accelerator: Device, caught: str) -> None:
    """Return fewer rows."""
    measure_product(measure, accelerator, lambda a, b: (a @ b)[1:])


@cases("quick", caught=["wrong-result"])
def bench_tf32(measure: Measure, accelerator: Device, caught: str) -> None:
    """Round float32 to TF32 in the product."""
    measure_product(measure, accelerator, lambda a, b: to_tf32(a) @ to_tf32(b))


@cases("quick", caught=["wrong-result"])
def bench_bfloat16(measure: Measure, accelerator: Device, caught: str) -> None:
    """Multiply in bfloat16 what is float32."""
    measure_product(measure, accelerator, lambda a, b: (a.bfloat16() @ b.bfloat16()).float())


def to_tf32(tensor: torch.Tensor) -> torch.Tensor:
    """Keep ten bits behind the point, as tensor cores do."""
    return (tensor.view(torch.int32) & ~0x1FFF).view(torch.float32)


# Devices that are not waited for, or not watched where they work


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
    measure_product(measure, accelerator, lambda a, b: (a @ b).to("cpu", non_blocking=True).clone())


@cases("quick", caught=["failed-case"])
def bench_hang(measure: Measure, accelerator: Device, caught: str) -> None:
    """Never end."""  # the last case of the last file: after it, nothing has to be taken up again
    measure_product(measure, accelerator, lambda *_: threading.Event().wait())
