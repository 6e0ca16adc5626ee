# SPDX-License-Identifier: MIT
"""NVIDIA's GPUs, read through the driver's library NVML, in SI units.

A value that the driver refuses has the driver's reason, and takes no other value along; so has
what an old Python library lacks, which hides the right one of the same name, `pynvml`.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pynvml

from frobench.suite.machine.host import read
from frobench.suite.machine.sensors.sensor import MEAN_POWER, POWER, Ask, Sensor, seal
from frobench.suite.machine.vendors.vendor import Examined, Gpu, Identity, Reader, Vendor

_PREFIX = "nvmlClocksThrottleReason"
REASONS: dict[int, str] = {
    bit: name.removeprefix(_PREFIX)
    for name, bit in vars(pynvml).items()
    if name.startswith(_PREFIX) and bit.bit_count() == 1 and not name.endswith("UserDefinedClocks")
}
"""What may hold a clock back, by its bit; the newer names with `Event` lack two bits."""
LAST_OF_THIS_MOMENT = (8, 0)
"""The last capability whose power usage is that of the moment, by NVML's reference."""
SILENT = (
    pynvml.NVMLError_LibraryNotFound,
    pynvml.NVMLError_DriverNotLoaded,
    pynvml.NVMLError_NoPermission,
)
"""What NVML raises where it is missing, as in some containers. The GPUs may be fine."""


def reasons(mask: int) -> list[str]:
    """Name every bit that is set; one without a name by its number."""
    bits = (1 << bit for bit in range(mask.bit_length()))
    return [REASONS.get(bit, f"{bit:#x}") for bit in bits if mask & bit]


def _held_back(gpu: Any) -> list[str]:
    try:
        return reasons(int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(gpu)))
    except (pynvml.NVMLError_FunctionNotFound, AttributeError):  # from before the new name
        return reasons(int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu)))


def _power(gpu: Any) -> float:
    """Return the power of this moment; raises where the driver knows only a mean."""
    try:
        (field,) = pynvml.nvmlDeviceGetFieldValues(gpu, [pynvml.NVML_FI_DEV_POWER_INSTANT])
        pynvml._nvmlCheckReturn(field.nvmlReturn)  # noqa: SLF001 - raises the error of a code
    except (pynvml.NVMLError, AttributeError):  # an older driver or device
        if tuple(pynvml.nvmlDeviceGetCudaComputeCapability(gpu)) <= LAST_OF_THIS_MOMENT:
            return _mean_power(gpu)
        raise
    return float(field.value.uiVal / 1000)


def _mean_power(gpu: Any) -> float:
    return float(pynvml.nvmlDeviceGetPowerUsage(gpu) / 1000)


def _other_processes(gpu: Any) -> int:
    # In a container that hides the numbers of processes, this process counts too.
    running = pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
    return sum(process.pid != os.getpid() for process in running)


SM, MEMORY = pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM
READERS: dict[str, Reader] = {
    "name": pynvml.nvmlDeviceGetName,
    "uuid": pynvml.nvmlDeviceGetUUID,
    "driver": lambda _: pynvml.nvmlSystemGetDriverVersion(),
    "capability": lambda gpu: "{}.{}".format(*pynvml.nvmlDeviceGetCudaComputeCapability(gpu)),
    "memory_bytes": lambda gpu: int(pynvml.nvmlDeviceGetMemoryInfo(gpu).total),
    "memory_used_bytes": lambda gpu: int(pynvml.nvmlDeviceGetMemoryInfo(gpu).used),
    "sm_clock_hz": lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, SM) * 1e6,
    "max_clock_hz": lambda gpu: pynvml.nvmlDeviceGetMaxClockInfo(gpu, SM) * 1e6,
    "memory_clock_hz": lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, MEMORY) * 1e6,
    "max_memory_clock_hz": lambda gpu: pynvml.nvmlDeviceGetMaxClockInfo(gpu, MEMORY) * 1e6,
    POWER: _power,
    MEAN_POWER: _mean_power,
    "power_limit_watts": lambda gpu: pynvml.nvmlDeviceGetPowerManagementLimit(gpu) / 1000,
    "power_limit_default_watts": (
        lambda gpu: pynvml.nvmlDeviceGetPowerManagementDefaultLimit(gpu) / 1000
    ),
    "energy_joules": lambda gpu: pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000,
    "temperature_celsius": (
        lambda gpu: float(pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU))
    ),
    "fan": lambda gpu: pynvml.nvmlDeviceGetFanSpeed(gpu) / 100,
    "utilization": lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu / 100,
    "held_back": _held_back,
    "processes": _other_processes,
    "ecc": lambda gpu: bool(pynvml.nvmlDeviceGetEccMode(gpu)[0]),
    "persistence": lambda gpu: bool(pynvml.nvmlDeviceGetPersistenceMode(gpu)),
    "mig": lambda gpu: bool(pynvml.nvmlDeviceGetMigMode(gpu)[0]),
    "pcie_generation": pynvml.nvmlDeviceGetCurrPcieLinkGeneration,
    "pcie_width": pynvml.nvmlDeviceGetCurrPcieLinkWidth,
    "pcie_generation_max": pynvml.nvmlDeviceGetMaxPcieLinkGeneration,
    "pcie_width_max": pynvml.nvmlDeviceGetMaxPcieLinkWidth,
    "numa_node": lambda gpu: int(pynvml.nvmlDeviceGetNumaNodeId(gpu)),
}
"""NVML counts megahertz, milliwatts, millijoules and percent."""


class Nvidia(Vendor):
    """NVIDIA's GPUs, of every kind."""

    name, type, build, pci = "NVIDIA", "cuda", "CUDA", "0x10de"
    has_uuid = node_each = True
    guide = "https://www.nvidia.com/drivers"
    driver = ("proc/driver/nvidia/version",)
    oldest_driver: ClassVar = {11: 450, 12: 525, 13: 580}
    """https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html"""
    nodes = "dev/nvidia[0-9]*"
    control = ("dev/nvidiactl", "dev/nvidia-uvm")
    masks = ("CUDA_VISIBLE_DEVICES",)
    container = "--gpus all"
    permit = (
        "`ls -l /dev/nvidia*` shows the group that may: join it, and log in again; in a batch "
        "system, ask it for a GPU"
    )
    set_limit = "sudo nvidia-smi -i {0} -pl WATTS"
    api = "NVML"
    readers = READERS

    def model(self, card: Path, root: Path) -> str:
        """Return what the kernel calls a device, if it says so."""
        facts = read(root / "proc/driver/nvidia/gpus" / card.name / "information")
        model = re.search(r"^Model:\s*(.+)$", facts, re.MULTILINE)
        return model[1] if model else ""

    def handles(self, devices: Mapping[str, Identity], salt: str) -> Mapping[str, Any]:
        """Return the GPU with each UUID, since a mask changes torch's numbers."""
        pynvml.nvmlInit()
        gpus: dict[str | None, Any] = {}
        for index in range(pynvml.nvmlDeviceGetCount()):
            with suppress(pynvml.NVMLError):  # lost or forbidden: the others may be read
                gpu = pynvml.nvmlDeviceGetHandleByIndex(index)
                gpus[seal(pynvml.nvmlDeviceGetUUID(gpu).removeprefix("GPU-"), salt)] = gpu
        missing = "NVML lists no GPU with this UUID, as for a part of one"
        return {device: gpus.get(identity.seal, missing) for device, identity in devices.items()}

    def asks(self, handle: Any, quantities: Collection[str]) -> dict[str, Ask | str]:
        """Return how each quantity is read; where there is no power of this moment, its mean."""
        try:
            if POWER in quantities:
                _power(handle)
        except (pynvml.NVMLError, AttributeError):
            quantities = [*(name for name in quantities if name != POWER), MEAN_POWER]
        return super().asks(handle, quantities)

    def examine(self, gpus: Sequence[Gpu], quantities: Collection[str]) -> Iterator[Examined]:
        """Yield what the driver says of each device that it lists, and of the lost ones."""
        try:
            pynvml.nvmlInit()
            count = pynvml.nvmlDeviceGetCount()
        except pynvml.NVMLError as error:
            reason = f"NVML: {error}"
            silent = Sensor("", dict.fromkeys(quantities, reason))
            fault = None if isinstance(error, SILENT) else reason
            yield from (Examined(gpu, silent, fault=fault) for gpu in gpus)
            return
        for index in range(count):
            gpu = gpus[index] if len(gpus) == count else Gpu(self, "NVIDIA GPU")
            try:
                handle = pynvml.nvmlDeviceGetHandleByIndex(index)
                pynvml.nvmlDeviceGetName(handle)
            except pynvml.NVMLError_NoPermission:  # of a job that was given the others
                continue
            except pynvml.NVMLError as error:
                yield Examined(gpu, number=index, fault=f"NVML: {error}")
            else:
                yield Examined(gpu, Sensor("", self.asks(handle, quantities), "NVML"), index)
