# SPDX-License-Identifier: MIT
"""Is it noticed where inputs lie, what is in them, and whether caches hold them?"""

import pytest
import torch

from frobench import Device, Measure, cases
from tests.instruments.sabotage.planting import (
    N,
    factors,
    measure_as_product,
    measure_on_each,
    measure_product,
    measure_sum,
)


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
    monkeypatch.setattr(
        Device, "uniform", lambda device, *shape: torch.ones(shape).to(device.handle)
    )
    measure_product(measure, accelerator)


@cases("quick", caught=["plain-inputs"])
def bench_identity(measure: Measure, accelerator: Device, caught: str) -> None:
    """Multiply by the identity."""
    a, b = accelerator.uniform(N, N), torch.eye(N).to(accelerator.handle)
    measure_as_product(measure, lambda: a @ b, a, b)


@cases("quick", caught=["wrong-result"])
def bench_empty(measure: Measure, accelerator: Device, caught: str) -> None:
    """Multiply zeros, so that there is nothing to be wrong about."""
    a, b = accelerator.uniform(N, N), torch.zeros(N, N).to(accelerator.handle)
    measure_as_product(measure, lambda: a @ b, a, b)


@cases("quick", caught=["no-work"])
def bench_cached(measure: Measure, accelerator: Device, caught: str) -> None:
    """Return the product of the first call at every later one."""
    a, b = factors(accelerator)
    known: dict[str, torch.Tensor] = {}

    def body() -> torch.Tensor:
        if not known:
            known["product"] = a @ b
        return known["product"]

    measure_as_product(measure, body, a, b)


@cases("quick", caught=["warm-cache"], cache=["cold"])
def bench_claimed(measure: Measure, accelerator: Device, caught: str, cache: str) -> None:
    """Call caches cold that nobody empties."""
    measure_sum(measure, accelerator)
