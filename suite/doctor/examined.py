# SPDX-License-Identifier: MIT
"""The machine as the doctor examines it, without torch."""

import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
from msgspec import Struct, structs

from frobench.suite.doctor.torch_offer import Offer
from frobench.suite.machine import accelerator_facts, host
from frobench.suite.machine.cpu_time import Others
from frobench.suite.machine.sensors import cpu
from frobench.suite.machine.vendors import VENDORS, shown
from frobench.suite.machine.vendors.vendor import Examined
from frobench.suite.stored.types import Accelerator, Cpu

SHARED_MEMORY = "dev/shm"


class Host(Struct, kw_only=True):
    """The processor, and what the machine has of all but accelerators at this moment.

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


class ExaminedAccelerator(Accelerator, kw_only=True):
    """An accelerator as it is right now.

    index : its driver's number for it
    fault : why its driver does not speak of it at all
    held_back : what holds its clock down, by NVML's or amdsmi's names
    unknown : why facts are not known, by name
    """

    index: int | None  # type: ignore[assignment]  # not every driver lists it
    vendor: str
    fault: str | None
    memory_used_bytes: int | None
    clock_hz: float | None
    memory_clock_hz: float | None
    power_watts: float | None
    temperature_celsius: float | None
    utilization: float | None
    held_back: list[str] | None
    unknown: dict[str, str]


class ExaminedMachine(Struct, kw_only=True):
    """The machine as it is right now, and what torch offers, where it was asked."""

    host: Host
    accelerators: list[ExaminedAccelerator]
    torch: Offer | None

    def is_for(self, device: ExaminedAccelerator) -> bool:
        """Tell whether torch was built for devices of this vendor, as far as it was asked."""
        return not self.torch or self.torch.builds.get(VENDORS[device.vendor].build) is not None

    def lacks_code(self, device: ExaminedAccelerator) -> bool:
        """Tell whether torch was not built for devices of this generation."""
        built = self.torch.architectures if self.torch else ()
        return bool(
            built and device.capability and not accelerator_facts.serves(built, device.capability)
        )

    @property
    def any_is_usable(self) -> bool:
        """Whether any accelerator can be used."""
        working = [device for device in self.accelerators if device.fault is None]
        return any(self.is_for(device) and not self.lacks_code(device) for device in working)


def examine_without_torch(
    results: Path, root: Path = host.ROOT, environ: Mapping[str, str] = os.environ
) -> ExaminedMachine:
    """Describe the machine without torch.

    results : where results would be written
    root : the folder that `/dev`, `/proc` and `/sys` lie in
    """
    others = Others()  # watched while the rest is done
    devices, sensor, unknown = accelerators(root), cpu.sensor(root), dict[str, str]()
    clock = sensor.read().get("clock_hz")
    folder = next(folder for folder in (results, *results.parents) if folder.exists())
    shared = root / SHARED_MEMORY
    battery: Any = getattr(psutil, "sensors_battery", lambda: None)()  # not on every system
    plugged = battery.power_plugged if battery else None
    masks = {mask for vendor in VENDORS.values() for mask in vendor.masks}
    set_to = host.stored_variables(environ)
    described = Host(
        cpu=host.processor(unknown, root),
        cores=len(host.affinity()),
        clock_hz=clock if isinstance(clock, float) else None,
        others=others.used(),
        memory_free_bytes=host.free_memory(root),
        shared_memory_bytes=shutil.disk_usage(shared).total if shared.exists() else None,
        disk_free_bytes=shutil.disk_usage(folder).free,
        on_battery=None if plugged is None else not plugged,
        os=host.operating_system(),
        kernel=host.kernel(),
        container=host.in_container(root),
        python=platform.python_version(),
        masks={name: set_to[name] for name in set_to if name in masks},
        unknown=unknown,
    )
    described.unknown |= host.unknown_facts(structs.asdict(described), sensor.unknown)
    return ExaminedMachine(host=described, accelerators=devices, torch=None)


PLAIN = {"sm_clock_hz": "clock_hz", "mean_power_watts": "power_watts"}
"""Names of facts by the names that sensors have for them."""
QUANTITIES = [*ExaminedAccelerator.__struct_fields__, "sm_clock_hz"]


def accelerators(root: Path = host.ROOT) -> list[ExaminedAccelerator]:
    """Describe what the system shows as its drivers do, or else as the kernel does."""
    gpus = shown(root)
    return [
        _described(examined)
        for vendor in VENDORS.values()
        for examined in vendor.examine([gpu for gpu in gpus if gpu.vendor is vendor], QUANTITIES)
    ]


def _described(examined: Examined) -> ExaminedAccelerator:
    gpu, sensor = examined.gpu, examined.sensor
    read = {PLAIN.get(name, name): value for name, value in sensor.read().items()}
    reasons = {PLAIN.get(name, name): reason for name, reason in sensor.unknown.items()}
    facts = {
        "name": gpu.name,
        "vendor": gpu.vendor.name,
        "type": gpu.vendor.type,
        "index": examined.number,
        **accelerator_facts.complete(gpu.card, read),
    }
    facts = dict.fromkeys(ExaminedAccelerator.__struct_fields__) | facts
    del facts["fault"], facts["unknown"]
    otherwise = f"the kernel does not tell it of {gpu.vendor.name}'s devices"
    unknown = host.unknown_facts(facts, reasons, otherwise=examined.fault or otherwise)
    return ExaminedAccelerator(**facts, fault=examined.fault, unknown=unknown)
