# SPDX-License-Identifier: MIT
"""NVIDIA's sensors, read through the driver's NVML."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pynvml

from suite.machine.sensors.sensor import (
    ENERGY,
    HELD_BACK,
    MEAN_POWER,
    POWER,
    Reading,
    Sensor,
    seal,
    silent,
)

_PREFIX = "nvmlClocksThrottleReason"
_ALIAS = "UserDefinedClocks"
REASONS: dict[int, str] = {
    bit: name.removeprefix(_PREFIX)
    for name, bit in vars(pynvml).items()
    if name.startswith(_PREFIX) and bit.bit_count() == 1 and not name.endswith(_ALIAS)
}
"""What may hold a clock back, by its bit; the newer names with `Event` lack two of them."""

LAST_OF_THIS_MOMENT = (8, 0)
"""The last compute capability whose power usage is that of the moment, as NVML's reference says."""
ASKS: dict[str, Callable[[Any], Reading]] = {
    "sm_clock_hz": lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM) * 1e6,
    "memory_clock_hz": lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_MEM) * 1e6,
    POWER: lambda gpu: pynvml.nvmlDeviceGetPowerUsage(gpu) / 1000,
    ENERGY: lambda gpu: pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000,
    "temperature_celsius": (
        lambda gpu: float(pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU))
    ),
    "fan": lambda gpu: pynvml.nvmlDeviceGetFanSpeed(gpu) / 100,
    "utilization": lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu / 100,
    "pcie_replays": lambda gpu: float(pynvml.nvmlDeviceGetPcieReplayCounter(gpu)),
    HELD_BACK: lambda gpu: reasons(mask(gpu)),
}
"""How each quantity is read; NVML counts megahertz, milliwatts, millijoules and percent."""


def sensors(seals: Mapping[str, str], salt: str) -> list[Sensor]:
    """Return a sensor for each device by torch's name, found among the driver's by its UUID.

    seals : of the devices' UUIDs (see `seal`), since torch's numbers are not the driver's where
        a mask is set
    """
    try:
        pynvml.nvmlInit()
        handles = dict(_handles(salt))
    except pynvml.NVMLError as error:
        return silent(seals, f"NVML: {error}")
    watched: list[Sensor] = []
    for device, sealed in seals.items():
        if sealed in handles:
            gpu = handles[sealed]
            others = {name: ask for name, ask in ASKS.items() if name != POWER}
            asks = {name: partial(ask, gpu) for name, ask in (others | _power(gpu)).items()}
            watched.append(Sensor(device, asks, source="NVML"))
        else:
            watched += silent([device], "NVML lists no GPU with this UUID, as for a part of one")
    return watched


def _power(gpu: Any) -> dict[str, Callable[[Any], Reading]]:
    """Return how the power of this moment is read, or else the mean of the past second."""
    try:
        _power_now(gpu)
    except (pynvml.NVMLError, AttributeError):  # an older driver or device
        return {MEAN_POWER if _averages(gpu) else POWER: ASKS[POWER]}
    return {POWER: _power_now}


def _power_now(gpu: Any) -> float:
    (field,) = pynvml.nvmlDeviceGetFieldValues(gpu, [pynvml.NVML_FI_DEV_POWER_INSTANT])
    if field.nvmlReturn != pynvml.NVML_SUCCESS:
        raise pynvml.NVMLError(field.nvmlReturn)
    return float(field.value.uiVal / 1000)


def _averages(gpu: Any) -> bool:
    """Tell whether a GPU is of a generation that tells the mean power of the past second."""
    try:
        capability = tuple(pynvml.nvmlDeviceGetCudaComputeCapability(gpu))
    except (pynvml.NVMLError, AttributeError):
        return True
    return capability > LAST_OF_THIS_MOMENT


def reasons(mask: int) -> list[str]:
    """Name every bit that is set; one without a name by its number."""
    bits = (1 << bit for bit in range(mask.bit_length()))
    return [REASONS.get(bit, f"{bit:#x}") for bit in bits if mask & bit]


def _handles(salt: str) -> Iterator[tuple[str, Any]]:
    for index in range(pynvml.nvmlDeviceGetCount()):
        try:
            gpu = pynvml.nvmlDeviceGetHandleByIndex(index)
            yield seal(pynvml.nvmlDeviceGetUUID(gpu).removeprefix("GPU-"), salt), gpu
        except pynvml.NVMLError:  # lost, or not ours to see: the others may be read
            continue


def mask(gpu: Any) -> int:
    """Return what holds a GPU's clock back now, a bit for each reason."""
    try:
        return int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(gpu))
    except (pynvml.NVMLError_FunctionNotFound, AttributeError):  # from before the new name
        return int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu))
