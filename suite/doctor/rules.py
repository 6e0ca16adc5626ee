# SPDX-License-Identifier: MIT
"""Rules about a machine: what keeps torch from an accelerator, and what disturbs a measurement."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from frobench.suite.doctor.examined import ExaminedAccelerator, ExaminedMachine
from frobench.suite.doctor.torch_offer import START_LOCALLY, Offer
from frobench.suite.machine import host
from frobench.suite.machine.sensors.sensor import AT_WORK, may_limit
from frobench.suite.machine.sensors.throttle_causes import CAUSES, IDLE, Cause
from frobench.suite.machine.vendors import VENDORS
from frobench.suite.machine.vendors.vendor import Gpu, Vendor
from frobench.suite.units import counted, format_value

REFUSED = f"end what else uses it, or install a build of PyTorch that has it: {START_LOCALLY}"
"""What mends an accelerator that torch sees and that cannot compute."""
CAPPED = 0.99
"""A power limit relative to the usual one, below which it counts as lowered."""
BUSY = 0.1
"""Part of the time in which an accelerator is busy, or of its memory in use, that is noticed."""
IN_THE_WAY = 0.25
"""Part of the usable cores' time that others take, from which they are in the way."""
LEAST_MEMORY, LEAST_SHARED, LEAST_DISK = 2 * 2**30, 2**30, 2**30
"""Bytes that the suite may need."""

UNKNOWN = Cause("other", "something that its driver names", "")

Found = Iterator[tuple[str, str]]
"""What is wrong, and what mends it if the rule's docstring does not say so."""


class Barred(NamedTuple):
    """A torch that offers no device, and what the system shows.

    root : the folder that `/dev`, `/proc` and `/sys` lie in
    """

    offer: Offer
    gpus: list[Gpu]
    root: Path
    environ: Mapping[str, str]

    @property
    def on_the_bus(self) -> bool:
        """Whether the system shows its bus, and so the files of drivers and devices."""
        return any(gpu.card for gpu in self.gpus)

    def has_driver(self, vendor: Vendor) -> bool:
        """Return whether a vendor's driver is loaded."""
        return any((self.root / file).exists() for file in vendor.driver)

    def nodes(self, vendor: Vendor) -> list[Path]:
        """Return the files through which programs reach a vendor's devices."""
        return list(self.root.glob(vendor.nodes)) if self.on_the_bus else []


def backend_switched_off(barred: Barred) -> Found:
    """An accelerator's backend is installed, and a variable keeps PyTorch from loading it.

    Unset `TORCH_DEVICE_BACKEND_AUTOLOAD`, or leave the accelerator out with `--devices cpu`.
    """
    if barred.offer.version is not None and barred.environ.get(host.AUTOLOAD, "1") != "1":
        setting = f"{host.AUTOLOAD}={barred.environ[host.AUTOLOAD]!r}"
        for name, package, version in host.installed():
            backend = f"the backend {name} of {package} {version}"
            mend = f"unset {host.AUTOLOAD}; or measure without it: --devices cpu"
            yield f"{backend} is not loaded: {setting} switches it off", mend


def torch_missing(barred: Barred) -> Found:
    """PyTorch cannot be imported.

    Install it, in the build for the machine. If PyTorch says that a backend cannot be
    loaded, install the release of its package for this release of PyTorch.
    """
    reason = barred.offer.builds.get("error") or ""
    if barred.offer.version is None:
        builds = dict.fromkeys(gpu.vendor.build for gpu in barred.gpus)
        yield (
            f"torch cannot be imported ({reason})",
            _install(" or ".join(builds) or "this machine"),
        )


def torch_build(vendor: Vendor, barred: Barred) -> Found:
    """PyTorch was built for other accelerators, or for none.

    Install the build for this one.
    """
    version, builds, wanted = barred.offer.version, barred.offer.builds, vendor.build
    if version is not None and not builds.get(wanted):
        own = " and ".join(name for name, built in builds.items() if built) or "the CPU alone"
        yield f"torch {version} is built for {own}, not for {wanted}", _install(wanted, version)


def _install(build: str, version: str | None = None) -> str:
    """Return the command for the Python at work, without the path to anybody's folder.

    version : of the torch that is here, so that its build for the machine is the same version
    """
    python, here = Path(sys.executable), Path.cwd()
    shown = python.relative_to(here) if python.is_relative_to(here) else "python"
    torch = f"torch=={version.partition('+')[0]}" if version else "torch"
    command = f"{shown} -m pip install --force-reinstall {torch} --index-url ADDRESS"
    return f"{command}, with the address that {START_LOCALLY} gives for {build}"


def driver_missing(vendor: Vendor, barred: Barred) -> Found:
    """The accelerator is on the bus, and no driver serves it.

    Install its maker's driver.
    """
    if barred.on_the_bus and not barred.has_driver(vendor):
        yield "its driver is not loaded", f"install it: {vendor.guide}"


def driver_too_old(vendor: Vendor, barred: Barred) -> Found:
    """The driver is older than what PyTorch was built for.

    Install a newer driver, or a build of PyTorch for an older one.
    """
    built, wanted = barred.offer.builds.get(vendor.build), vendor.build
    if not (built and vendor.oldest_driver):
        return
    version = re.search(r"\b\d{3,}\.\d+(\.\d+)?\b", host.read(barred.root / vendor.driver[0]))
    if driver := version[0] if version else next(filter(None, vendor.each("driver")), None):
        oldest = vendor.oldest_driver.get(int(built.partition(".")[0]), 0)
        if int(driver.partition(".")[0]) < oldest:
            newer = f"install driver {oldest} or newer: {vendor.guide}"
            message = f"driver {driver} is too old for the {wanted} {built} of torch"
            older = _install(wanted, barred.offer.version)
            mend = f"{newer}, or a build for an older {wanted}: {older}"
            yield f"{message}, which needs {oldest}", mend


def devices_not_passed_on(vendor: Vendor, barred: Barred) -> Found:
    """The container sees the bus, and was not given the devices.

    Start it with the option that passes them on. Outside of a container, load the driver's modules.
    """
    missing = [f"/{file}" for file in vendor.control if not (barred.root / file).exists()]
    if not barred.nodes(vendor):
        missing = [f"/{vendor.nodes}"]
    if missing and barred.on_the_bus and barred.has_driver(vendor):
        files = f"its device files {' and '.join(missing)} are missing here"
        elsewhere = f"elsewhere load the driver's modules: {vendor.guide}"
        yield files, f"start the container with {vendor.container}; {elsewhere}"


def no_permission(vendor: Vendor, barred: Barred) -> Found:
    """The user may not open the accelerator's device files.

    Join the group that may, and log in again.
    """
    opened = [os.access(node, os.R_OK | os.W_OK) for node in barred.nodes(vendor)]
    if opened and not any(opened):
        yield "this user may not open its device files", vendor.permit


def mask_hides_all(vendor: Vendor, barred: Barred) -> Found:
    """A variable hides every accelerator.

    An entry that names no device ends the list there, and so does an empty one. Devices are
    numbered from 0 among those that a container was given. Unset the variable.
    """
    files = [file.name for file in barred.nodes(vendor)] if vendor.node_each else []
    shown = sum(gpu.vendor is vendor for gpu in barred.gpus)
    number = len(files) or shown
    for name in vendor.masks:
        if (mask := barred.environ.get(name)) is None:
            continue
        first = mask.split(",")[0].split(".")[0].strip()
        if first.startswith("GPU-"):
            uuids = vendor.each("uuid")
            if uuids and not any((uuid or first).startswith(first) for uuid in uuids):
                message = f"the first UUID in {name} is that of no GPU here"
                yield message, f"unset {name}; `nvidia-smi -L` shows the UUIDs"
        elif not first.startswith("MIG-") and not (first.isdecimal() and int(first) < number):
            given = f"; passed on are {', '.join(files)}, which it numbers from 0"
            yield f"{name}={mask!r} hides every one{given * (number < shown)}", f"unset {name}"


def unused_accelerator(vendor: Vendor, barred: Barred) -> Found:
    """PyTorch cannot use an accelerator that is there.

    The message has PyTorch's own reason. Where it gives none, use the accelerator: PyTorch then
    says why. Where another accelerator can be used, `frobench run` warns and leaves this one out.
    """
    others = [torch_build, driver_missing, driver_too_old]
    others += [devices_not_passed_on, no_permission, mask_hides_all]
    known = any(True for rule in others for _ in rule(vendor, barred))
    if barred.offer.version is not None and not known:
        reason = f"torch {barred.offer.version} says: {barred.offer.refusal or 'nothing'}"
        code = f"import torch; torch.ones(1, device='{vendor.type}')"
        yield reason, f'let torch say it: python -c "{code}", and see {vendor.guide}'


def device_lost(device: ExaminedAccelerator) -> Found:
    """The driver does not speak of an accelerator that is there.

    "GPU is lost" and "requires restart" mean that it fell off its bus or stopped; a version
    mismatch, that the driver was updated under running programs. Restart the machine; `sudo dmesg`
    may say what happened. Where another accelerator can be used, this is a warning.
    """
    if device.fault is not None:
        yield f"does not answer: {device.fault}", ""


def build_lacks_device(device: ExaminedAccelerator, there: ExaminedMachine) -> Found:
    """PyTorch was not built for an accelerator of this generation.

    It sees the device and cannot compute there, so `frobench run` refuses to. Install a build for
    it. Where another accelerator can be used, this is a warning: `frobench run` leaves the one out.
    """
    if there.torch and there.lacks_code(device):
        built = ", ".join(there.torch.architectures)
        message = f"has the capability {device.capability}, and PyTorch was built for {built}"
        yield message, f"install a build that has it: {START_LOCALLY}"


def silent_driver(device: ExaminedAccelerator, there: ExaminedMachine) -> Found:
    """The driver of an accelerator cannot be asked how the accelerator is.

    Nothing is known of its clocks, its power and what holds it back. A container needs
    `NVIDIA_DRIVER_CAPABILITIES=compute,utility` to be given the driver's library NVML; elsewhere
    see that the driver is there.
    """
    is_usable = there.torch is None or there.torch.devices  # else another rule says what is missing
    if is_usable and device.vendor == "NVIDIA" and device.index is None and device.fault is None:
        yield f"is not watched: {device.unknown['index']}", ""


def hidden_devices(there: ExaminedMachine) -> Found:
    """PyTorch sees fewer accelerators than are there.

    A variable such as `CUDA_VISIBLE_DEVICES` hides the others; unset it.
    """
    masks, seen = there.host.masks, there.torch.devices if there.torch else 0
    shown = sum(there.is_for(device) for device in there.accelerators if not device.mig)
    if 0 < seen < shown:
        values = " and ".join(f"{name}={value!r}" for name, value in masks.items())
        message = f"PyTorch sees {seen} of {counted(shown, 'accelerator')}"
        unset = f"unset {' '.join(masks)}"
        yield (f"{message}: {values}", unset) if masks else (message, "")


def busy_accelerator(device: ExaminedAccelerator) -> Found:
    """Something else uses an accelerator.

    It takes time, memory and power. `nvidia-smi` or `amd-smi process` shows it; wait for it, or end
    it.
    """
    signs = []
    if many := device.processes:
        signs.append(f"{many} {'process computes' if many == 1 else 'processes compute'} on it")
    if (device.utilization or 0) >= BUSY:
        signs.append(f"it is busy {device.utilization:.0%} of the time")
    if (used := device.memory_used_bytes or 0) / (device.memory_bytes or 1) >= BUSY:
        signs.append(f"{format_value(used, 'B')} of its memory are in use")
    if signs:
        yield f"is in use: {', '.join(signs)}", ""


def held_back(device: ExaminedAccelerator) -> Found:
    """Something holds an accelerator's clock down right now.

    Not counted are an idle clock, and a power limit that the driver of a resting device names. The
    message ends with the driver's own name of the reason; the vendor's own tool may show more.
    """
    draw = device.power_watts, device.power_limit_watts, device.utilization
    for name in device.held_back or ():
        cause = CAUSES.get(name, UNKNOWN)
        if name != IDLE and (cause.kind != "limit" or may_limit(*draw)):
            yield f"is held back: {cause.words} ({name})", cause.mend


def power_cap(device: ExaminedAccelerator) -> Found:
    """An accelerator may draw less power than it was made for.

    It is then a slower device. Set the limit to its default by the vendor's tool. In a laptop the
    limit follows power supply and mode, not `nvidia-smi`: choose the mode for performance, by
    `powerprofilesctl set performance` or the like; under Linux also `sudo systemctl enable --now
    nvidia-powerd`.
    """
    limit, default = device.power_limit_watts, device.power_limit_default_watts
    if limit is not None and default and limit < CAPPED * default:
        message = f"may draw {limit:g} W of {default:g} W ({limit / default:.0%})"
        mend = VENDORS[device.vendor].set_limit.replace("WATTS", f"{default:g}")
        yield message, "" if "Laptop" in device.name else mend


def narrow_link(device: ExaminedAccelerator) -> Found:
    """An accelerator is connected by fewer lanes than it and its slot have.

    Copies are slower by that factor. Reseat the card, or use a slot with all lanes; look for shared
    lanes in the BIOS.
    """
    if (width := device.pcie_width) and (most := device.pcie_width_max) and width < most:
        yield f"has {width} of {most} PCIe lanes", ""


def slow_link(device: ExaminedAccelerator) -> Found:
    """An accelerator at work is connected at a lower PCIe generation than it could be.

    An idle link slows down to save power. At work, suspect slot, riser cable and firmware: set the
    slot to its full generation in the BIOS.
    """
    now, most = device.pcie_generation, device.pcie_generation_max
    if (device.utilization or 0) >= AT_WORK and now and most and now < most:
        yield f"is at PCIe {now} of {most}, although at work", ""


def unloaded_driver(device: ExaminedAccelerator) -> Found:
    """The driver forgets a GPU's state whenever no program uses it.

    Loading it again slows down first calls, and undoes set limits. Switch persistence on.
    """
    if device.persistence is False:
        yield "has no persistence mode", "sudo nvidia-smi -i {0} -pm 1"


def no_accelerator(there: ExaminedMachine) -> Found:
    """No accelerator is there, so only the CPU can be measured.

    Nothing needs mending, unless one should be there: `lspci` shows what is on the bus. See whether
    the container or virtual machine was given it.
    """
    offered = there.torch and there.torch.devices
    if not there.accelerators and not offered and not host.installed():
        yield "no accelerator is there: the CPU is measured", ""


def far_accelerator(there: ExaminedMachine) -> Found:
    """Cores that may be used belong to other memory nodes than an accelerator.

    Copies and launches from there cross the nodes' link, and are slower; pinned memory lies on the
    node where a launch runs. Start the run on the accelerator's node.
    """
    nodes = there.host.cpu.core_nodes or []
    named = ((device.name, device.numa_node) for device in there.accelerators)
    for name, node in dict.fromkeys((name, node) for name, node in named if isinstance(node, int)):
        if nodes and nodes != [node]:
            cores = f"nodes {', '.join(map(str, nodes))}" if nodes[1:] else f"node {nodes[0]}"
            yield (
                f"{name} is attached to memory node {node}, and the usable cores belong to {cores}",
                f"numactl --cpunodebind={node} --membind={node} frobench run",
            )


def slow_governor(there: ExaminedMachine) -> Found:
    """The CPU's cores do not keep their highest clock.

    The kernel's governor lets them slow down between and within samples. Choose `performance`:
    `sudo cpupower frequency-set -g performance`.
    """
    governor = there.host.cpu.governor
    if governor not in {None, "performance"}:
        yield f"the CPU's governor is {governor}", ""


def quota_below_cores(there: ExaminedMachine) -> Found:
    """A control group, as of a container, gives processes less time than they see cores for.

    Threads stop amid a sample when the time is used up. Raise the limit, or pin whole cores:
    `docker run --cpus=N` or `--cpuset-cpus=0-N`; in Kubernetes its limit; else where the job or
    service is defined.
    """
    quota, cores = there.host.cpu.quota_cores, there.host.cores
    if quota is not None and quota < cores:
        group = "this container" if there.host.container else "this process's control group"
        yield f"{group} may use {quota:g} of {counted(cores, 'core')}", ""


def busy_processor(there: ExaminedMachine) -> Found:
    """Other programs use the CPU.

    They take time from what is measured, and make it vary. `top` shows them; wait, or end them.
    """
    others, cores = there.host.others, there.host.cores
    if others is not None and others > IN_THE_WAY * cores:
        yield f"other programs use {others:.1f} of {counted(cores, 'core')}", ""


def on_battery(there: ExaminedMachine) -> Found:
    """The machine runs on its battery.

    Most then lower their clocks. Plug it in.
    """
    if there.host.on_battery:
        yield "the machine runs on its battery", ""


def little_memory(there: ExaminedMachine) -> Found:
    """Little memory is free.

    Large cases are left out, or the system begins to swap. End other programs.
    """
    if (free := there.host.memory_free_bytes) < LEAST_MEMORY:
        yield f"{format_value(free, 'B')} of memory are free", ""


def little_shared_memory(there: ExaminedMachine) -> Found:
    """Processes can share little memory.

    Docker's default of 64 MiB is too little for workers that exchange tensors. Give them more:
    `docker run --shm-size=8g`; elsewhere `sudo mount -o remount,size=8G /dev/shm`.
    """
    shared = there.host.shared_memory_bytes
    if shared is not None and shared < LEAST_SHARED:
        yield f"processes can share {format_value(shared, 'B')} of memory", ""


def little_disk_space(there: ExaminedMachine) -> Found:
    """The disk that results are written to is nearly full.

    A run whose journal cannot be written ends. Make room, or write elsewhere with `--results`.
    """
    if (free := there.host.disk_free_bytes) < LEAST_DISK:
        yield f"{format_value(free, 'B')} are free where results are written", ""
