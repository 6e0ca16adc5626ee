# SPDX-License-Identifier: MIT
"""What a driver tells of a device is stored in SI units, and what it refuses with a reason."""

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from frobench.suite.machine import torch_facts
from frobench.suite.stored.types import Accelerator
from tests.instruments.devices.simulated_nvml import Gpu, Install

UUID = "8932f937-d72c-4106-c12f-20bd9faed9f6"
TOLD: dict[str, Any] = {
    "driver": "580.95.05",
    "power_limit_watts": 600.0,
    "power_limit_default_watts": 700.0,
    "max_clock_hz": 1.98e9,
    "max_memory_clock_hz": 3.201e9,
    "ecc": True,
    "persistence": True,
    "mig": False,
    "pcie_generation": 4,
    "pcie_width": 8,
    "pcie_generation_max": 5,
    "pcie_width_max": 16,
    "numa_node": 1,
    "processes": 1,
}


def _gpu(uuid: str = UUID, **facts: Any) -> Gpu:  # noqa: ANN401 - of a `Gpu`
    return Gpu(uuid=f"GPU-{uuid}", **facts)


Described = Callable[[], tuple[Accelerator, dict[str, str]]]


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> Described:
    """Return what describes a device that torch knows by name and UUID alone, with reasons."""
    card = SimpleNamespace(name="NVIDIA H200", uuid=UUID)
    monkeypatch.setattr(torch_facts, "_properties", lambda _: card)

    def describe() -> tuple[Accelerator, dict[str, str]]:
        unknown: dict[str, str] = {}
        return torch_facts.accelerator("cuda:0", "", unknown), unknown

    return describe


def test_the_drivers_facts_are_in_watts_and_hertz(gpus: Install, described: Described) -> None:
    gpu = _gpu(
        power_limit=600_000,
        generation=4,
        width=8,
        numa_node=1,
        mig=(0, 1),
        processes=[(os.getpid(), 2**20), (os.getpid() + 1, None)],
    )
    gpus(Gpu(uuid="GPU-other"), gpu)
    told, unknown = described()
    assert {name: getattr(told, name) for name in TOLD} == TOLD
    assert unknown.keys() == {"multiprocessors"}


def test_a_fact_that_is_refused_has_the_drivers_reason_and_takes_no_other_along(
    gpus: Install, described: Described
) -> None:
    gpus(_gpu(refuses={"nvmlDeviceGetEccMode": pynvml.NVML_ERROR_NOT_SUPPORTED}))
    _, unknown = described()
    assert unknown.pop("ecc") == "NVML: Not Supported"
    assert unknown.keys() == {"multiprocessors"}


def test_a_limit_and_a_clock_of_0_are_unknown(gpus: Install, described: Described) -> None:
    gpus(_gpu(power_limit=0, max_clocks=dict.fromkeys(range(4), 0)))
    told, unknown = described()
    assert (told.power_limit_watts, told.power_limit_default_watts) == (None, 700.0)
    zeros = {"power_limit_watts", "max_clock_hz", "max_memory_clock_hz"}
    assert {name for name, why in unknown.items() if why == "its driver says 0"} == zeros


def test_without_a_driver_every_fact_has_a_reason(gpus: Install, described: Described) -> None:
    def reasons() -> set[str]:
        return {described()[1][name] for name in TOLD}

    assert reasons() == {"NVML: NVML Shared Library Not Found"}
    library = gpus(Gpu(uuid="GPU-other"))
    assert reasons() == {"NVML lists no GPU with this UUID, as for a part of one"}
    library.refuses["nvmlInitWithFlags"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    assert reasons() == {"NVML: Driver Not Loaded"}
