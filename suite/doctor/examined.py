# SPDX-License-Identifier: MIT
"""The machine as the doctor examines it, and what keeps torch from its devices."""

import os
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pynvml
from msgspec import Struct, field

from frobench.suite.checks.rule import Fault, conclusion
from frobench.suite.doctor.torch_offer import START_LOCALLY, Offer, ask_torch
from frobench.suite.machine import hardware
from frobench.suite.machine.accounts import Others
from frobench.suite.machine.hardware import VENDORS, Gpu, System, Vendor, VendorName, look
from frobench.suite.machine.host import (
    AUTOLOAD,
    MEND_FAILURE,
    ROOT,
    affinity,
    failure,
    free_memory,
    in_container,
    installed,
    kernel,
    known,
    operating_system,
    processor,
    stored_variables,
    switched_off,
)
from frobench.suite.machine.sensors import amd, cpu, nvml
from frobench.suite.stored.types import Conclusion, Cpu

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


class ExaminedMachine(Struct, kw_only=True):
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


def examine_without_torch(
    results: Path, root: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> ExaminedMachine:
    """Describe the machine without torch."""
    others = Others()  # watched while the rest is done
    devices = list(accelerators(hardware.look(root)))
    return ExaminedMachine(
        host=_host(results, root, environ, others), accelerators=devices, torch=None
    )


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


OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
"""Oldest driver branch that runs programs built with each major version of CUDA.

https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
"""

REFUSED = f"end what else uses it, or install a build of PyTorch that has it: {START_LOCALLY}"
"""What mends an accelerator that torch sees and that cannot compute."""


class Patient(NamedTuple):
    """The accelerators of one maker that torch does not offer, or a machine without any."""

    vendor: Vendor
    number: int
    system: System
    offer: Offer
    root: Path
    environ: Mapping[str, str]


Rule = Callable[[Patient], Iterator[Fault]]


def unusable_accelerators(
    root: Path = ROOT, environ: Mapping[str, str] = os.environ, offer: Offer | None = None
) -> list[Conclusion]:
    """Say what keeps torch from accelerators that the system shows; nothing if torch offers one.

    offer : `None` asks torch, but only where an accelerator or a package with a backend is there
    """
    system = look(root)
    if offer is None and not (system.gpus or installed()):
        return []
    offer = offer or ask_torch()
    if offer.devices:
        return []
    machine = Patient(Vendor("this machine", guide=""), 0, system, offer, root, environ)
    faults = _faults(OF_BACKENDS, machine)
    if offer.version is None and (faults or not system.gpus):  # nothing else keeps torch from all
        faults = faults or _faults([torch_missing], machine)
        return [conclusion(rule, "error", fault) for rule, fault in faults]
    for name, vendor in VENDORS.items():
        gpus = Counter(gpu.name for gpu in system.gpus if gpu.vendor == name)
        shown = ", ".join(f"{n}x {gpu}" if n > 1 else gpu for gpu, n in gpus.items())
        patient = machine._replace(vendor=vendor, number=gpus.total())
        own = _faults(RULES, patient) or _faults([unused_accelerator], patient) if gpus else []
        for rule, fault in own:
            message = f"{shown} cannot be used: {fault.message}"
            advice = f"{fault.advice}; or measure without it: --devices cpu"
            faults.append((rule, Fault(message, advice=advice)))
    return [conclusion(rule, "error", fault) for rule, fault in faults]


def _faults(rules: Iterable[Rule], patient: Patient) -> list[tuple[Rule, Fault]]:
    return [(rule, fault) for rule in rules for fault in rule(patient)]


def backend_fails(patient: Patient) -> Iterator[Fault]:
    """An accelerator's backend is installed and fails to load, so PyTorch cannot be imported.

    Install the release of its package for this release of PyTorch. To measure the CPU without it,
    set `TORCH_DEVICE_BACKEND_AUTOLOAD=0` and use `--devices cpu`.
    """
    offer = patient.offer
    if offer.version is None and (failed := failure(offer.builds["error"] or "")):
        yield Fault(failed, advice=MEND_FAILURE)


def backend_switched_off(patient: Patient) -> Iterator[Fault]:
    """An accelerator's backend is installed, and a variable keeps PyTorch from loading it.

    Unset `TORCH_DEVICE_BACKEND_AUTOLOAD`, or leave the accelerator out with `--devices cpu`.
    """
    if patient.offer.version is not None and switched_off(patient.environ):
        for name, package, version in installed():
            yield Fault(
                f"the backend {name} of {package} {version} is not loaded: "
                f"{AUTOLOAD}={patient.environ[AUTOLOAD]!r} switches it off",
                advice=f"unset {AUTOLOAD}; or measure without it: --devices cpu",
            )


def torch_missing(patient: Patient) -> Iterator[Fault]:
    """PyTorch cannot be imported.

    Install it, in the build for the machine.
    """
    if patient.offer.version is None:
        reason = patient.offer.builds["error"]
        yield Fault(f"torch cannot be imported ({reason})", advice=install(patient.vendor.build))


def torch_build(patient: Patient) -> Iterator[Fault]:
    """PyTorch was built for other accelerators, or for none.

    Install the build for this one.
    """
    version, builds, wanted = patient.offer.version, patient.offer.builds, patient.vendor.build
    if version is not None and builds[wanted] is None:
        own = " and ".join(name for name, built in builds.items() if built) or "the CPU alone"
        yield Fault(f"torch {version} is built for {own}, not for {wanted}", advice=install(wanted))


def driver_missing(patient: Patient) -> Iterator[Fault]:
    """The accelerator is on the bus, and no driver serves it.

    Install its maker's driver.
    """
    if patient.system.on_the_bus and not _has_driver(patient):
        yield Fault("its driver is not loaded", advice=f"install it: {patient.vendor.guide}")


def driver_too_old(patient: Patient) -> Iterator[Fault]:
    """The driver is older than what PyTorch was built for.

    Install a newer driver, or a build of PyTorch for an older one.
    """
    built, driver = patient.offer.builds.get("CUDA"), patient.system.nvidia_driver
    if patient.vendor.build != "CUDA" or not built or not driver:
        return
    oldest = OLDEST_DRIVER.get(int(built.partition(".")[0]), 0)
    if int(driver.partition(".")[0]) < oldest:
        yield Fault(
            f"driver {driver} is too old for the CUDA {built} of torch, which needs {oldest}",
            advice=f"install driver {oldest} or newer: {patient.vendor.guide}, "
            f"or a build for an older CUDA: {install('CUDA')}",
        )


def devices_not_passed_on(patient: Patient) -> Iterator[Fault]:
    """The container sees the bus, and was not given the devices.

    Start it with the option that passes them on. Outside of a container, load the driver's modules.
    """
    if not (patient.system.on_the_bus and _has_driver(patient)):
        return
    control = patient.vendor.control
    missing = [f"/{file}" for file in control if not (patient.root / file).exists()]
    if not _nodes(patient):
        missing = [f"/{patient.vendor.nodes}"]
    if missing:
        yield Fault(
            f"its device files {' and '.join(missing)} are missing here",
            advice=f"start the container with {patient.vendor.container}; elsewhere load the "
            f"driver's modules: {patient.vendor.guide}",
        )


def no_permission(patient: Patient) -> Iterator[Fault]:
    """The user may not open the accelerator's device files.

    Join the group that may, and log in again.
    """
    opened = [os.access(node, os.R_OK | os.W_OK) for node in _nodes(patient)]
    if opened and not any(opened):
        yield Fault("this user may not open its device files", advice=patient.vendor.permit)


def mask_hides_all(patient: Patient) -> Iterator[Fault]:
    """A variable hides every accelerator.

    An entry that names no device ends the list there, and so does an empty one. Devices are
    numbered from 0 among those that a container was given. Unset the variable.
    """
    is_nvidia = patient.vendor.build == "CUDA"
    files = [file.name for file in _nodes(patient)] if is_nvidia else []
    number = len(files) or patient.number
    for name in patient.vendor.masks:
        if (mask := patient.environ.get(name)) is None:
            continue
        first = mask.split(",")[0].split(".")[0].strip()
        if first.startswith("GPU-"):
            uuids = nvml.of_each(pynvml.nvmlDeviceGetUUID) if is_nvidia else []
            if uuids and not any((uuid or first).startswith(first) for uuid in uuids):
                message = f"the first UUID in {name} is that of no GPU here"
                yield Fault(message, advice=f"unset {name}; `nvidia-smi -L` shows the UUIDs")
        elif not first.startswith("MIG-") and not (first.isdecimal() and int(first) < number):
            given = f"; passed on are {', '.join(files)}, which it numbers from 0"
            message = f"{name}={mask!r} hides every one{given * (number < patient.number)}"
            yield Fault(message, advice=f"unset {name}")


def unused_accelerator(patient: Patient) -> Iterator[Fault]:
    """PyTorch cannot use an accelerator that is there.

    The message has PyTorch's own reason. Where it gives none, use the accelerator: PyTorch then
    says why. Where another accelerator can be used, `frobench run` warns and leaves this one out.
    """
    device = patient.vendor.build.lower().replace("rocm", "cuda")
    yield Fault(
        f"torch {patient.offer.version} says: {patient.offer.refusal or 'nothing'}",
        advice=f"let torch say it: python -c \"import torch; torch.ones(1, device='{device}')\", "
        f"and see {patient.vendor.guide}",
    )


OF_BACKENDS: tuple[Rule, ...] = (backend_fails, backend_switched_off)
RULES: tuple[Rule, ...] = (
    torch_missing,
    torch_build,
    driver_missing,
    driver_too_old,
    devices_not_passed_on,
    no_permission,
    mask_hides_all,
)


def install(build: str) -> str:
    """Return the command for the Python at work, without the path to anybody's folder."""
    python, here = Path(sys.executable), Path.cwd()
    shown = python.relative_to(here) if python.is_relative_to(here) else "python"
    return (
        f"{shown} -m pip install --force-reinstall torch --index-url ADDRESS, with the address "
        f"that {START_LOCALLY} gives for {build}"
    )


def _has_driver(patient: Patient) -> bool:
    return any((patient.root / file).exists() for file in patient.vendor.driver)


def _nodes(patient: Patient) -> list[Path]:
    return list(patient.root.glob(patient.vendor.nodes)) if patient.system.on_the_bus else []
