# SPDX-License-Identifier: MIT
"""NVIDIA's GPUs, read through the driver's library NVML, in SI units.

A value that the driver refuses has the driver's reason, and takes no other value along; so has
what an old Python library lacks, which hides the right one of the same name, `pynvml`.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import combinations
from typing import Any

import pynvml

from frobench.suite.machine.sensors.sensor import (
    ENERGY,
    HELD_BACK,
    MEAN_POWER,
    POWER,
    Sensor,
    seal,
    silent,
)

Ask = Callable[[Any], Any]
"""Reads a value of the GPU with this handle; raises `pynvml.NVMLError`."""

_PREFIX = "nvmlClocksThrottleReason"
_ALIAS = "UserDefinedClocks"
REASONS: dict[int, str] = {
    bit: name.removeprefix(_PREFIX)
    for name, bit in vars(pynvml).items()
    if name.startswith(_PREFIX) and bit.bit_count() == 1 and not name.endswith(_ALIAS)
}
"""What may hold a clock back, by its bit; the newer names with `Event` lack two bits."""
LAST_OF_THIS_MOMENT = (8, 0)
"""The last capability whose power usage is that of the moment, by NVML's reference."""
MOST_LINKS = 18
"""NVLinks that a GPU can have."""
ANCESTORS = {
    pynvml.NVML_TOPOLOGY_INTERNAL: "on one board",
    pynvml.NVML_TOPOLOGY_SINGLE: "one PCIe switch",
    pynvml.NVML_TOPOLOGY_MULTIPLE: "several PCIe switches",
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: "one host bridge",
    pynvml.NVML_TOPOLOGY_NODE: "one memory node",
    pynvml.NVML_TOPOLOGY_SYSTEM: "between memory nodes",
}
"""What lies between two GPUs that have no links of their own."""


def reasons(mask: int) -> list[str]:
    """Name every bit that is set; one without a name by its number."""
    bits = (1 << bit for bit in range(mask.bit_length()))
    return [REASONS.get(bit, f"{bit:#x}") for bit in bits if mask & bit]


def _held_back(gpu: Any) -> list[str]:
    try:
        return reasons(int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(gpu)))
    except (pynvml.NVMLError_FunctionNotFound, AttributeError):  # from before the new name
        return reasons(int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu)))


def _other_processes(gpu: Any) -> int:
    # In a container that hides the numbers of processes, this process counts too.
    running = pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
    return sum(process.pid != os.getpid() for process in running)


def _clock(function: Callable[[Any, int], int], kind: int) -> Ask:
    return lambda gpu: function(gpu, kind) * 1e6


ASKS: dict[str, Ask] = {
    "sm_clock_hz": _clock(pynvml.nvmlDeviceGetClockInfo, pynvml.NVML_CLOCK_SM),
    "memory_clock_hz": _clock(pynvml.nvmlDeviceGetClockInfo, pynvml.NVML_CLOCK_MEM),
    POWER: lambda gpu: pynvml.nvmlDeviceGetPowerUsage(gpu) / 1000,
    ENERGY: lambda gpu: pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000,
    "temperature_celsius": (
        lambda gpu: float(pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU))
    ),
    "fan": lambda gpu: pynvml.nvmlDeviceGetFanSpeed(gpu) / 100,
    "utilization": lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu / 100,
    "pcie_replays": lambda gpu: float(pynvml.nvmlDeviceGetPcieReplayCounter(gpu)),
    HELD_BACK: _held_back,
}
"""What is sampled; NVML counts megahertz, milliwatts, millijoules and percent."""
CONSTANT: dict[str, Ask] = {
    "driver": lambda _: pynvml.nvmlSystemGetDriverVersion(),
    "power_limit_watts": lambda gpu: pynvml.nvmlDeviceGetPowerManagementLimit(gpu) / 1000,
    "power_limit_default_watts": (
        lambda gpu: pynvml.nvmlDeviceGetPowerManagementDefaultLimit(gpu) / 1000
    ),
    "max_clock_hz": _clock(pynvml.nvmlDeviceGetMaxClockInfo, pynvml.NVML_CLOCK_SM),
    "max_memory_clock_hz": _clock(pynvml.nvmlDeviceGetMaxClockInfo, pynvml.NVML_CLOCK_MEM),
    "ecc": lambda gpu: bool(pynvml.nvmlDeviceGetEccMode(gpu)[0]),
    "persistence": lambda gpu: bool(pynvml.nvmlDeviceGetPersistenceMode(gpu)),
    "mig": lambda gpu: bool(pynvml.nvmlDeviceGetMigMode(gpu)[0]),
    "pcie_generation": pynvml.nvmlDeviceGetCurrPcieLinkGeneration,
    "pcie_width": pynvml.nvmlDeviceGetCurrPcieLinkWidth,
    "pcie_generation_max": pynvml.nvmlDeviceGetMaxPcieLinkGeneration,
    "pcie_width_max": pynvml.nvmlDeviceGetMaxPcieLinkWidth,
    "numa_node": lambda gpu: int(pynvml.nvmlDeviceGetNumaNodeId(gpu)),
    "processes": _other_processes,
}
"""What is stored of a GPU once a run."""
PRESENT: dict[str, Ask] = {
    **CONSTANT,
    "name": pynvml.nvmlDeviceGetName,
    "memory_bytes": lambda gpu: int(pynvml.nvmlDeviceGetMemoryInfo(gpu).total),
    "memory_used_bytes": lambda gpu: int(pynvml.nvmlDeviceGetMemoryInfo(gpu).used),
    "capability": lambda gpu: "{}.{}".format(*pynvml.nvmlDeviceGetCudaComputeCapability(gpu)),
    "clock_hz": ASKS["sm_clock_hz"],
    **{name: ASKS[name] for name in ("memory_clock_hz", POWER, "temperature_celsius")},
    **{name: ASKS[name] for name in ("utilization", HELD_BACK)},
}
"""What a GPU is, and what it does right now."""


@contextmanager
def opened() -> Iterator[None]:
    """Use NVML; raises `pynvml.NVMLError` if no driver answers."""
    pynvml.nvmlInit()
    try:
        yield
    finally:
        pynvml.nvmlShutdown()


def of_each(ask: Ask) -> list[Any]:
    """Return what the driver tells of each GPU that it lists, `None` where it refuses."""
    answers: list[Any] = []
    with suppress(pynvml.NVMLError), opened():
        answers += [None] * pynvml.nvmlDeviceGetCount()
        for index in range(len(answers)):
            with suppress(pynvml.NVMLError):  # lost, or another's
                answers[index] = ask(pynvml.nvmlDeviceGetHandleByIndex(index))
    return answers


def ask(gpu: Any, asks: Mapping[str, Ask]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what the driver tells of a GPU, and the reasons for what it refuses."""
    sensor = Sensor("", {name: partial(read, gpu) for name, read in asks.items()}, source="NVML")
    return dict(sensor.read()), sensor.unknown


def driver_facts(uuid: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what is stored of the GPU with torch's UUID, and the reasons for what is not."""
    try:
        with opened():
            return ask(pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}"), CONSTANT)
    except pynvml.NVMLError as error:
        return {}, dict.fromkeys(CONSTANT, f"NVML: {error}")


def links_between(uuids: Mapping[str, str]) -> dict[str, str] | str:
    """Return what the driver says lies between each two GPUs, by their names, or why not."""
    try:
        with opened():
            handle = pynvml.nvmlDeviceGetHandleByUUID
            gpus = [(name, handle(f"GPU-{uuid}")) for name, uuid in uuids.items()]
            return {
                f"{name}-{other}": _between(gpu, peer)
                for (name, gpu), (other, peer) in combinations(gpus, 2)
            }
    except pynvml.NVMLError as error:
        return f"NVML: {error}"


def _between(first: Any, second: Any) -> str:
    # Links lead to the other GPU or to a switch that all are on; which of them is not asked.
    links = min(_links(first), _links(second))
    level = pynvml.nvmlDeviceGetTopologyCommonAncestor(first, second)
    bus = ANCESTORS.get(level, f"level {level}")
    return f"{links} NVLinks, {bus}" if links else bus


def _links(gpu: Any) -> int:
    active = 0
    with suppress(pynvml.NVMLError):  # no such link
        for link in range(MOST_LINKS):
            active += pynvml.nvmlDeviceGetNvLinkState(gpu, link)
    return active


def sensors(seals: Mapping[str, str], salt: str) -> list[Sensor]:
    """Return a sensor for each device by torch's name.

    seals : of the devices' UUIDs (see `seal`), since a mask changes torch's numbers
    """
    gpus: dict[str, Any] = {}
    try:
        pynvml.nvmlInit()
        for index in range(pynvml.nvmlDeviceGetCount()):
            with suppress(pynvml.NVMLError):  # lost or forbidden: the others may be read
                gpu = pynvml.nvmlDeviceGetHandleByIndex(index)
                gpus[seal(pynvml.nvmlDeviceGetUUID(gpu).removeprefix("GPU-"), salt)] = gpu
    except pynvml.NVMLError as error:
        return silent(seals, f"NVML: {error}")
    watched: list[Sensor] = []
    for device, sealed in seals.items():
        if sealed in gpus:
            asks = {name: ask for name, ask in ASKS.items() if name != POWER}
            asks |= _power(gpus[sealed])
            bound = {name: partial(ask, gpus[sealed]) for name, ask in asks.items()}
            watched.append(Sensor(device, bound, source="NVML"))
        else:
            watched += silent([device], "NVML lists no GPU with this UUID, as for a part of one")
    return watched


def _power(gpu: Any) -> dict[str, Ask]:
    """Return how the power of this moment is read, else the mean of the past second."""
    try:
        _power_now(gpu)
    except (pynvml.NVMLError, AttributeError):  # an older driver or device
        with suppress(pynvml.NVMLError, AttributeError):
            if tuple(pynvml.nvmlDeviceGetCudaComputeCapability(gpu)) <= LAST_OF_THIS_MOMENT:
                return {POWER: ASKS[POWER]}
        return {MEAN_POWER: ASKS[POWER]}
    return {POWER: _power_now}


def _power_now(gpu: Any) -> float:
    (field,) = pynvml.nvmlDeviceGetFieldValues(gpu, [pynvml.NVML_FI_DEV_POWER_INSTANT])
    if field.nvmlReturn != pynvml.NVML_SUCCESS:
        raise pynvml.NVMLError(field.nvmlReturn)
    return float(field.value.uiVal / 1000)
