# SPDX-License-Identifier: MIT
"""What the planted faults have in common: honest products, and a CPU that takes its time."""

import random
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import torch

from frobench import Device, Lane, Measure, Work, close_to, freivalds, worst

N = 48
"""Edge of the matrices: a product takes the simulated device about a millisecond."""

host = import_module("simulated_accelerator.host")  # as the device itself knows it


def simulated(name: str) -> Any:  # noqa: ANN401 - of a package that types do not reach
    """Return what simulates a device."""
    return import_module("simulated_accelerator.device").machine.device(name)


def spend(seconds: float) -> None:
    """Keep the host busy for about so long."""
    host.wait_until(perf_counter() + seconds * random.lognormvariate(0.0, 0.01))


def factors(device: Device) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw two matrices."""
    return device.uniform(N, N), device.uniform(N, N)


def measure_product(
    measure: Measure,
    device: Device,
    product: Callable[[torch.Tensor, torch.Tensor], object] = torch.matmul,
    b: torch.Tensor | None = None,
) -> None:
    """Measure what claims to be the product of two matrices; `b` may give the second."""
    one, other = factors(device)
    other = other if b is None else b
    measure(lambda: product(one, other), work=Work(flops=2 * N**3), check=freivalds(one, other))


def measure_sum(
    measure: Measure,
    device: Device,
    *,
    pause: float = 0.003,
    cold: bool = False,
    before: Callable[[], object] | None = None,
) -> None:
    """Measure a sum of two vectors.

    pause : seconds that a CPU spends besides; its own work takes no simulated time, and is too
        little for more than one thread
    """
    a, b = device.uniform(N**2), device.uniform(N**2)

    def body() -> torch.Tensor:
        spend(0.0 if device.is_accelerator else pause)
        return a + b

    check = close_to(a.cpu().double() + b.cpu().double(), 1e-6, "the sum")
    measure(body, work=Work(bytes=3 * a.nbytes), check=check, cold=cold, before=before)


def measure_on_each(
    measure: Measure, devices: list[Device], *, in_turn: bool = False, pause: float = 0.0
) -> None:
    """Measure a product on each of two devices.

    in_turn : wait for the first before the second is given anything
    pause : seconds that the host spends before that
    """
    pairs = [factors(device) for device in devices]
    lanes = [Lane(device) for device in devices]

    def body() -> list[torch.Tensor]:
        products: list[torch.Tensor] = []
        for lane, (a, b) in zip(lanes, pairs, strict=True):
            if products:
                spend(pause)
            with lane:
                products.append(a @ b)
            if in_turn:
                lane.device.synchronize()
        return products

    measure(
        body,
        work=Work(flops=4 * N**3),
        check=lambda found: worst(
            freivalds(*pair)(product) for pair, product in zip(pairs, found, strict=True)
        ),
        lanes=lanes,
    )
