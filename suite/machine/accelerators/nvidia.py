# SPDX-License-Identifier: MIT
"""What the driver of NVIDIA's GPUs tells through its library NVML, in SI units.

Every value stands for itself: what the driver refuses has the driver's reason, and takes no
other value along. So does what its Python library lacks: an old one of the same name, `pynvml`,
hides the right one where somebody installed both.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pynvml

from suite.machine.sensors.nvml import ASKS
from suite.machine.sensors.sensor import HELD_BACK, POWER

Reading = Callable[[Any], Any]
"""Reads a value of the GPU with this handle; raises `pynvml.NVMLError`."""


def other_processes(gpu: Any) -> int:
    """Count the processes that compute on a GPU beside this one; what they are is not asked.

    In a container that hides the numbers of processes, this one is not known from others.
    """
    running = pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
    return sum(process.pid != os.getpid() for process in running)


CONSTANT: dict[str, Reading] = {
    "driver": lambda _: pynvml.nvmlSystemGetDriverVersion(),
    "power_limit_watts": lambda gpu: pynvml.nvmlDeviceGetPowerManagementLimit(gpu) / 1000,
    "power_limit_default_watts": (
        lambda gpu: pynvml.nvmlDeviceGetPowerManagementDefaultLimit(gpu) / 1000
    ),
    "max_clock_hz": lambda gpu: _highest(gpu, pynvml.NVML_CLOCK_SM),
    "max_memory_clock_hz": lambda gpu: _highest(gpu, pynvml.NVML_CLOCK_MEM),
    "ecc": lambda gpu: bool(pynvml.nvmlDeviceGetEccMode(gpu)[0]),
    "persistence": lambda gpu: bool(pynvml.nvmlDeviceGetPersistenceMode(gpu)),
    "mig": lambda gpu: bool(pynvml.nvmlDeviceGetMigMode(gpu)[0]),
    "pcie_generation": pynvml.nvmlDeviceGetCurrPcieLinkGeneration,
    "pcie_width": pynvml.nvmlDeviceGetCurrPcieLinkWidth,
    "pcie_generation_max": pynvml.nvmlDeviceGetMaxPcieLinkGeneration,
    "pcie_width_max": pynvml.nvmlDeviceGetMaxPcieLinkWidth,
    "numa_node": lambda gpu: int(pynvml.nvmlDeviceGetNumaNodeId(gpu)),
    "processes": other_processes,
}
"""What is stored of a GPU once a run; all but link and processes stays as it is."""

MOMENTARY: dict[str, Reading] = {
    "memory_used_bytes": lambda gpu: int(pynvml.nvmlDeviceGetMemoryInfo(gpu).used),
    "clock_hz": ASKS["sm_clock_hz"],
    **{name: ASKS[name] for name in ("memory_clock_hz", POWER, "temperature_celsius")},
    **{name: ASKS[name] for name in ("utilization", HELD_BACK)},
}
"""What a GPU does right now, most of it as it is sampled too."""

IDENTITY: dict[str, Reading] = {
    "name": pynvml.nvmlDeviceGetName,
    "memory_bytes": lambda gpu: int(pynvml.nvmlDeviceGetMemoryInfo(gpu).total),
    "capability": (lambda gpu: "{}.{}".format(*pynvml.nvmlDeviceGetCudaComputeCapability(gpu))),
}
"""What a GPU is; torch tells it too."""


@contextmanager
def opened() -> Iterator[None]:
    """Use NVML; raises `pynvml.NVMLError` where there is no driver or it does not answer."""
    pynvml.nvmlInit()
    try:
        yield
    finally:
        pynvml.nvmlShutdown()


def ask(gpu: Any, readings: Mapping[str, Reading]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what the driver tells of a GPU, and the reasons for what it does not tell."""
    facts: dict[str, Any] = {}
    refused = {}
    for fact, read in readings.items():
        try:
            facts[fact] = read(gpu)
        except (pynvml.NVMLError, AttributeError, UnicodeDecodeError) as error:
            refused[fact] = f"NVML: {error}"
    return facts, refused


def _highest(gpu: Any, clock: int) -> float:
    return float(pynvml.nvmlDeviceGetMaxClockInfo(gpu, clock) * 1e6)
