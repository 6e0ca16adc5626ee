# SPDX-License-Identifier: MIT
"""What the driver of NVIDIA's GPUs tells through its library NVML, in SI units.

Every value stands for itself: what the driver refuses has the driver's reason, and takes no
other value along.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pynvml

Reading = Callable[[Any], Any]
"""Reads a value of the GPU with this handle; raises `pynvml.NVMLError`."""

EVENTS: dict[int, str] = {
    pynvml.nvmlClocksThrottleReasonGpuIdle: "GpuIdle",
    pynvml.nvmlClocksThrottleReasonApplicationsClocksSetting: "ApplicationsClocksSetting",
    pynvml.nvmlClocksThrottleReasonSwPowerCap: "SwPowerCap",
    pynvml.nvmlClocksThrottleReasonHwSlowdown: "HwSlowdown",
    pynvml.nvmlClocksThrottleReasonSyncBoost: "SyncBoost",
    pynvml.nvmlClocksThrottleReasonSwThermalSlowdown: "SwThermalSlowdown",
    pynvml.nvmlClocksThrottleReasonHwThermalSlowdown: "HwThermalSlowdown",
    pynvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown: "HwPowerBrakeSlowdown",
    pynvml.nvmlClocksThrottleReasonDisplayClockSetting: "DisplayClockSetting",
    pynvml.nvmlClocksThrottleReasonBoardLimit: "BoardLimit",
    pynvml.nvmlClocksThrottleReasonReliability: "Reliability",
}
"""What holds a clock down, by its bit, with NVML's own names.

The last two have lost their place in NVML's list, not in its library: older drivers set them.
"""


def other_processes(gpu: Any) -> int:  # noqa: ANN401 - pynvml's handle
    """Count the processes that compute on a GPU beside this one; what they are is not asked.

    In a container that hides the numbers of processes, this one is not known from others.
    """
    running = pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
    return sum(one.pid != os.getpid() for one in running)


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
    "numa_node": pynvml.nvmlDeviceGetNumaNodeId,
    "processes": other_processes,
}
"""What is stored of a GPU once a run; all but link and processes stays as it is."""

MOMENTARY: dict[str, Reading] = {
    "memory_used_bytes": lambda gpu: int(pynvml.nvmlDeviceGetMemoryInfo(gpu).used),
    "clock_hz": lambda gpu: _clock(gpu, pynvml.NVML_CLOCK_SM),
    "memory_clock_hz": lambda gpu: _clock(gpu, pynvml.NVML_CLOCK_MEM),
    "power_watts": lambda gpu: pynvml.nvmlDeviceGetPowerUsage(gpu) / 1000,
    "temperature_celsius": (
        lambda gpu: float(pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU))
    ),
    "utilization": lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu / 100,
    "events": lambda gpu: named(event_reasons(gpu)),
}
"""What a GPU does right now."""

IDENTITY: dict[str, Reading] = {
    "name": pynvml.nvmlDeviceGetName,
    "memory_bytes": lambda gpu: int(pynvml.nvmlDeviceGetMemoryInfo(gpu).total),
    "capability": (lambda gpu: "{}.{}".format(*pynvml.nvmlDeviceGetCudaComputeCapability(gpu))),
}
"""What a GPU is; torch tells it too."""


@contextmanager
def library() -> Iterator[None]:
    """Use NVML; raises `pynvml.NVMLError` where there is no driver or it does not answer."""
    pynvml.nvmlInit()
    try:
        yield
    finally:
        pynvml.nvmlShutdown()


def ask(
    gpu: Any,  # noqa: ANN401 - pynvml's handle
    readings: Mapping[str, Reading],
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what the driver tells of a GPU, and the reasons for what it does not tell."""
    told: dict[str, Any] = {}
    reasons = {}
    for fact, read in readings.items():
        try:
            told[fact] = read(gpu)
        except pynvml.NVMLError as error:
            reasons[fact] = f"NVML: {error}"
    return told, reasons


def event_reasons(gpu: Any) -> int:  # noqa: ANN401 - pynvml's handle
    """Return the bits of what holds the clock down; older drivers know them by another name."""
    try:
        return int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(gpu))
    except pynvml.NVMLError_FunctionNotFound:
        return int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu))


def named(reasons: int) -> list[str]:
    """Return the names of the bits; one that is not known is told by its number."""
    bits = [1 << place for place in range(reasons.bit_length()) if reasons >> place & 1]
    return [EVENTS.get(bit, f"{bit:#x}") for bit in bits]


def _highest(gpu: Any, clock: int) -> float:  # noqa: ANN401 - pynvml's handle
    return float(pynvml.nvmlDeviceGetMaxClockInfo(gpu, clock) * 1e6)


def _clock(gpu: Any, clock: int) -> float:  # noqa: ANN401 - pynvml's handle
    return float(pynvml.nvmlDeviceGetClockInfo(gpu, clock) * 1e6)
