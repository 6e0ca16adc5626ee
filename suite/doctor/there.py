# SPDX-License-Identifier: MIT
"""What is there: the host and its accelerators as they are right now.

What cannot be known is `None`, with a reason in the `unknown` table of its part.
"""

import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pynvml
from msgspec import Struct, field

from frobench.suite.doctor.torch_offer import Offer
from frobench.suite.machine.accelerators import hardware
from frobench.suite.machine.accelerators.hardware import VENDORS, Gpu, VendorName
from frobench.suite.machine.accounts import Others
from frobench.suite.machine.limits import ROOT, affinity, free_memory
from frobench.suite.machine.processor import processor
from frobench.suite.machine.sensors import amd, cpu, nvml
from frobench.suite.machine.system import (
    in_container,
    kernel,
    known,
    operating_system,
    stored_variables,
)
from frobench.suite.stored.run import Cpu

SHARED_MEMORY = "dev/shm"
SILENT = (
    pynvml.NVMLError_LibraryNotFound,
    pynvml.NVMLError_DriverNotLoaded,
    pynvml.NVMLError_NoPermission,
)
"""What NVML raises where it is missing, as in some containers: that tells nothing of the GPUs."""


class Host(Struct, kw_only=True):
    """The machine without its accelerators.

    cores : that this process may run on, whatever part of their time it is given
    clock_hz : of the fastest usable core now
    others : cores' worth of time that other programs take of them now
    disk_free_bytes : where the results are written
    masks : variables that hide devices, as a run stores them
    """

    cpu: Cpu
    cores: int
    clock_hz: float | None
    others: float | None
    memory_free_bytes: int
    shared_memory_bytes: int | None
    disk_free_bytes: int
    on_battery: bool | None
    os: str
    kernel: str
    container: bool | None
    python: str
    masks: dict[str, str]
    unknown: dict[str, str]


class Device(Struct, kw_only=True):
    """An accelerator.

    index : its driver's number for it
    fault : why its driver does not speak of it at all
    held_back : what holds its clock down, by NVML's or amdsmi's names
    processes : that compute on it
    """

    vendor: VendorName
    name: str
    index: int | None = None
    fault: str | None = None
    driver: str | None = None
    capability: str | None = None
    memory_bytes: int | None = None
    memory_used_bytes: int | None = None
    clock_hz: float | None = None
    max_clock_hz: float | None = None
    memory_clock_hz: float | None = None
    max_memory_clock_hz: float | None = None
    power_watts: float | None = None
    power_limit_watts: float | None = None
    power_limit_default_watts: float | None = None
    temperature_celsius: float | None = None
    utilization: float | None = None
    held_back: list[str] | None = None
    processes: int | None = None
    pcie_generation: int | None = None
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    numa_node: int | None = None
    ecc: bool | None = None
    mig: bool | None = None
    persistence: bool | None = None
    unknown: dict[str, str] = field(default_factory=dict)


class There(Struct, kw_only=True):
    """The machine as it is right now, and what torch offers, where it was asked."""

    host: Host
    accelerators: list[Device]
    torch: Offer | None

    def is_for(self, device: Device) -> bool:
        """Tell whether torch was built for devices of this vendor, as far as it was asked."""
        return not self.torch or self.torch.builds.get(VENDORS[device.vendor].build) is not None

    def lacks_code(self, device: Device) -> bool:
        """Tell whether torch was not built for devices of this generation."""
        built = self.torch.architectures if self.torch else ()
        capability = device.capability
        return bool(built and capability and not hardware.serves(built, capability))

    @property
    def any_is_usable(self) -> bool:
        """Whether any accelerator can be used."""
        working = [device for device in self.accelerators if device.fault is None]
        return any(self.is_for(device) and not self.lacks_code(device) for device in working)


def look_around(results: Path, root: Path = ROOT, environ: Mapping[str, str] = os.environ) -> There:
    """Describe the machine without torch."""
    others = Others()  # watched while the rest is done
    devices = list(accelerators(hardware.look(root)))
    return There(host=_host(results, root, environ, others), accelerators=devices, torch=None)


def _host(results: Path, root: Path, environ: Mapping[str, str], others: Others) -> Host:
    unknown: dict[str, str] = {}
    described = processor(unknown, root)
    sensor = cpu.sensor(root)
    clock = sensor.read().get("clock_hz")
    folder = next(folder for folder in (results, *results.parents) if folder.exists())
    masks = {mask for vendor in VENDORS.values() for mask in vendor.masks}
    facts: dict[str, tuple[Any, str]] = {
        "clock_hz": (clock, sensor.unknown.get("clock_hz", "")),
        "others": (others.used(), "the system does not account for it"),
        "shared_memory_bytes": (_shared_memory(root), f"there is no /{SHARED_MEMORY}"),
        "on_battery": (_on_battery(), "the system tells of no battery"),
    }
    return Host(
        cpu=described,
        cores=len(affinity()),
        memory_free_bytes=free_memory(root),
        disk_free_bytes=shutil.disk_usage(folder).free,
        os=operating_system(),
        kernel=kernel(),
        container=in_container(root),
        python=platform.python_version(),
        masks={name: set_to for name, set_to in stored_variables(environ).items() if name in masks},
        **known(facts, "", unknown),
        unknown=unknown,
    )


def accelerators(system: hardware.System) -> Iterator[Device]:
    """Describe what the system shows, NVIDIA's and AMD's GPUs as their drivers do if they speak."""
    yield from _nvidias([gpu for gpu in system.gpus if gpu.vendor == "NVIDIA"])
    yield from _amds([gpu for gpu in system.gpus if gpu.vendor == "AMD"])
    for gpu in system.gpus:
        if gpu.vendor not in {"NVIDIA", "AMD"}:
            yield _device(gpu, {}, {})


def add_torch_facts(devices: list[Device], offer: Offer) -> None:
    """Add what torch knows of Intel's and Apple's devices, which no other library lists."""
    vendor: VendorName = "Apple" if offer.builds.get("MPS") else "Intel"
    of_vendor = [device for device in devices if device.vendor == vendor]
    if not of_vendor:
        of_vendor = [_device(Gpu(vendor, name), {}, {}) for name, _ in offer.unlisted]
        devices += of_vendor
    if len(of_vendor) == len(offer.unlisted):  # else a mask hides some, and which is not known
        for device, (name, memory) in zip(of_vendor, offer.unlisted, strict=True):
            device.name, device.memory_bytes = name, memory
            device.unknown.pop("memory_bytes", None)


def _nvidias(gpus: list[Gpu]) -> Iterator[Device]:
    try:
        with nvml.opened():
            count = pynvml.nvmlDeviceGetCount()
            for index in range(count):
                gpu = gpus[index] if len(gpus) == count else Gpu("NVIDIA", "NVIDIA GPU")
                with suppress(pynvml.NVMLError_NoPermission):  # of a job that was given the others
                    yield _nvidia(gpu, index)
    except pynvml.NVMLError as error:
        reason = f"NVML: {error}"
        facts = {} if isinstance(error, SILENT) else {"fault": reason}
        for gpu in gpus:
            yield _device(gpu, facts, dict.fromkeys(Device.__struct_fields__, reason))


def _nvidia(gpu: Gpu, index: int) -> Device:
    """Describe a GPU; raises `pynvml.NVMLError_NoPermission` if it is another's."""
    try:
        facts, reasons = nvml.ask(pynvml.nvmlDeviceGetHandleByIndex(index), nvml.PRESENT)
        fault = reasons.get("name")
    except pynvml.NVMLError_NoPermission:
        raise
    except pynvml.NVMLError as error:
        fault = f"NVML: {error}"
    if fault is not None:
        facts, reasons = {"fault": fault}, {}
    return _device(gpu, facts | {"index": index}, reasons)


def _amds(gpus: list[Gpu]) -> Iterator[Device]:
    addresses = {str(n): gpu.folder.stem for n, gpu in enumerate(gpus) if gpu.folder is not None}
    sensors = amd.sensors(list(addresses), addresses) if gpus else []
    for gpu, sensor in zip(gpus, sensors, strict=True):
        readings = {name.removeprefix("sm_"): value for name, value in sensor.read().items()}
        facts = {name: readings[name] for name in Device.__struct_fields__ if name in readings}
        yield _device(gpu, facts, sensor.unknown)


def _device(gpu: Gpu, facts: dict[str, Any], reasons: dict[str, str]) -> Device:
    device = Device(
        **{"vendor": gpu.vendor, "name": gpu.name} | hardware.complete(gpu.folder, facts)
    )
    otherwise = device.fault or f"the kernel does not tell it of {gpu.vendor}'s devices"
    for name in Device.__struct_fields__:
        if getattr(device, name) is None and name != "fault":
            device.unknown[name] = reasons.get(name, otherwise)
    return device


def _shared_memory(root: Path) -> int | None:
    with suppress(OSError):
        return shutil.disk_usage(root / SHARED_MEMORY).total
    return None


def _on_battery() -> bool | None:
    ask: Any = getattr(psutil, "sensors_battery", lambda: None)  # not on every system
    battery = ask()
    plugged = battery.power_plugged if battery else None
    return None if plugged is None else not plugged
