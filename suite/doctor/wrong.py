# SPDX-License-Identifier: MIT
# ruff: noqa: D401 - the first line of a rule says what it reports, as a user reads it
"""What is wrong with a machine that can measure, and what mends it.

A rule is a small function that yields what it finds; its name is the trouble's code, its docstring
the help.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from suite.doctor.there import Device, There
from suite.machine.hardware import VENDORS
from suite.model import Conclusion, Severity
from suite.units import counted, format_value

BUSY = 0.1
"""Part of the time in which an accelerator is busy, or of its memory in use, that is noticed."""
AT_WORK = 0.5
"""Part of the time in which an accelerator is busy, from which its link should be at full speed."""
LOAD = 0.25
"""Tasks that run or wait, relative to the machine's cores, from which they are in the way."""
LEAST_MEMORY, LEAST_SHARED, LEAST_DISK = 2 * 2**30, 2**30, 2**30
"""Bytes that the suite may need: of memory, of memory that processes share, and of disk."""
CAP = 0.99
"""A power limit relative to its default, below which it is called capped."""

HELD_BACK = {
    "ApplicationsClocksSetting": (
        "somebody set its clocks",
        "sudo nvidia-smi -i {0} -rac; sudo nvidia-smi -i {0} -rgc",
    ),
    "SwPowerCap": (
        "it draws all the power that it may",
        "end what computes on it, or raise its limit: sudo nvidia-smi -i {0} -pl WATTS",
    ),
    "HwSlowdown": (
        "its hardware slowed it down, for heat or power",
        "check its cooling and its power cables",
    ),
    "SyncBoost": (
        "it keeps to the clock of the slowest in its group",
        "take it out of the group that nvidia-smi or DCGM put it into",
    ),
    "SwThermalSlowdown": ("it is too hot", "check its cooling, and let it cool down"),
    "HwThermalSlowdown": (
        "it is so hot that its hardware slowed it down",
        "check its cooling, and let it cool down",
    ),
    "HwPowerBrakeSlowdown": (
        "the power supply told it to slow down",
        "check the power supply and its cables",
    ),
    "DisplayClockSetting": ("its display holds its clock", "measure on a card without a display"),
    "BoardLimit": ("its board gives no more power", "check its cooling and its power cables"),
    "Reliability": ("its voltage may not rise further", "undo what was set to overclock it"),
}
"""What may hold a clock down, by NVML's names: in words, and what mends it for a GPU's number.

https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html
"""
IDLE = "GpuIdle"


class Trouble(NamedTuple):
    """What is wrong, and the command or setting that mends it."""

    message: str
    mend: str


Rule = Callable[[There], Iterator[Trouble]]


def troubles(there: There) -> list[Conclusion]:
    """Apply every rule."""
    return [
        Conclusion(
            code=rule.__name__.replace("_", "-"),
            severity=severity,
            message=trouble.message,
            advice=trouble.mend,
        )
        for severity, rules in RULES.items()
        for rule in rules
        for trouble in rule(there)
    ]


def device_lost(there: There) -> Iterator[Trouble]:
    """The driver does not speak of an accelerator that is there.

    "GPU is lost" and "requires restart" mean that it fell off its bus or stopped; a version
    mismatch, that the driver was updated under running programs. Restart the machine.
    """
    for device in there.accelerators:
        if device.fault is not None:
            mend = "restart the machine; `sudo dmesg` may say what happened"
            yield Trouble(f"{_called(device)} does not answer: {device.fault}", mend)


def build_lacks_device(there: There) -> Iterator[Trouble]:
    """PyTorch was not built for an accelerator of this generation.

    It sees the device and fails when it computes there. Install a newer build.
    """
    built = there.torch.architectures if there.torch else ()
    for device in there.accelerators if built else ():
        if device.capability is not None and not _is_served(device.capability, built):
            yield Trouble(
                f"{_called(device)} has the compute capability {device.capability}, and PyTorch "
                f"was built for {', '.join(built)}",
                "install a build that has it: https://pytorch.org/get-started/locally/",
            )


def hidden_devices(there: There) -> Iterator[Trouble]:
    """PyTorch sees fewer accelerators than are there.

    A variable such as `CUDA_VISIBLE_DEVICES` hides the others; unset it.
    """
    offer = there.torch
    shown = sum(
        offer is not None and offer.builds.get(VENDORS[device.vendor].build) is not None
        for device in there.accelerators
        if not device.mig
    )
    if offer is not None and 0 < offer.devices < shown:
        masks = there.host.masks
        said = " and ".join(f"{name}={value!r}" for name, value in masks.items())
        mend = f"unset {' '.join(masks)}" if masks else "see what set a mask in this process"
        yield Trouble(
            f"PyTorch sees {offer.devices} of {counted(shown, 'accelerator')}"
            + (f": {said}" if said else ""),
            mend,
        )


def busy_accelerator(there: There) -> Iterator[Trouble]:
    """Something else uses an accelerator.

    It takes time, memory and power from what is measured. `nvidia-smi` or `amd-smi` shows what it
    is; wait for it, or end it.
    """
    for device in there.accelerators:
        used = (device.memory_used_bytes or 0) / (device.memory_bytes or 1)
        signs = []
        if device.processes:
            verb = "process computes" if device.processes == 1 else "processes compute"
            signs.append(f"{device.processes} {verb} on it")
        if (device.utilization or 0) >= BUSY:
            signs.append(f"it is busy {device.utilization:.0%} of the time")
        if used >= BUSY:
            amount = format_value(device.memory_used_bytes or 0, "B")
            signs.append(f"{amount} of its memory are in use")
        if signs:
            mend = f"wait for it or end it; `{_tool(device)}` shows what it is"
            yield Trouble(f"{_called(device)} is in use: {', '.join(signs)}", mend)


def held_back(there: There) -> Iterator[Trouble]:
    """Something holds an accelerator's clock down right now.

    An idle clock is none of it. Which of NVML's reasons it is stands in the message.
    """
    for device in there.accelerators:
        for name in device.held_back or ():
            if name != IDLE:
                otherwise = ("so its driver says", f"`{_tool(device)}` may tell more")
                words, mend = HELD_BACK.get(name, otherwise)
                message = f"{_called(device)} is held back: {words} ({name})"
                yield Trouble(message, mend.format(device.index))


def power_cap(there: There) -> Iterator[Trouble]:
    """An accelerator may draw less power than it was made for.

    Its figures are then those of a slower device. Set the limit to its default.
    """
    for device in there.accelerators:
        limit, default = device.power_limit_watts, device.power_limit_default_watts
        if limit is not None and default and limit < CAP * default:
            mend = (
                f"sudo nvidia-smi -i {device.index} -pl {default:g}"
                if device.vendor == "NVIDIA"
                else "sudo amd-smi reset --power-cap"
            )
            message = f"{_called(device)} may draw {limit:g} W of {default:g} W"
            yield Trouble(f"{message} ({limit / default:.0%})", mend)


def narrow_link(there: There) -> Iterator[Trouble]:
    """An accelerator is connected by fewer lanes than it and its slot have.

    Copies are slower by that factor. Put the card into a slot with all lanes, press it in, and
    see what the firmware divides lanes between.
    """
    for device in there.accelerators:
        width, most = device.pcie_width, device.pcie_width_max
        if width and most and width < most:
            mend = (
                "reseat the card, or use a slot with all lanes; look for shared lanes in the BIOS"
            )
            yield Trouble(f"{_called(device)} has {width} of {most} PCIe lanes", mend)


def slow_link(there: There) -> Iterator[Trouble]:
    """An accelerator at work is connected at a lower PCIe generation than it could be.

    An idle link slows down to save power, and that is no trouble. At work it is a slot, a riser
    cable or a setting of the firmware.
    """
    for device in there.accelerators:
        now, most = device.pcie_generation, device.pcie_generation_max
        at_work = (device.utilization or 0) >= AT_WORK
        if at_work and now and most and now < most:
            mend = "set the slot to its full generation in the BIOS; check a riser cable"
            yield Trouble(f"{_called(device)} is at PCIe {now} of {most}, although at work", mend)


def slow_governor(there: There) -> Iterator[Trouble]:
    """The CPU's cores do not keep their highest clock.

    The kernel's governor lets them slow down between and within samples. Choose `performance`.
    """
    governor = there.host.cpu.governor
    if governor not in {None, "performance"}:
        mend = "sudo cpupower frequency-set -g performance"
        yield Trouble(f"the CPU's governor is {governor}", mend)


def quota_below_cores(there: There) -> Iterator[Trouble]:
    """A container gives its processes less time than they see cores for.

    Threads are stopped in the middle of a sample when the time is used up. Raise the limit, or pin
    the container to whole cores.
    """
    quota, cores = there.host.cpu.quota_cores, there.host.cores
    if quota is not None and quota < cores:
        mend = (
            f"docker run --cpus={cores}, or --cpuset-cpus with whole cores; in Kubernetes its limit"
        )
        yield Trouble(f"this container may use {quota:g} of {counted(cores, 'core')}", mend)


def busy_processor(there: There) -> Iterator[Trouble]:
    """Other programs use the CPU.

    They take time from what is measured, and make it vary. `top` shows them; wait, or end them.
    """
    cores = there.host.cpu.logical_cores or there.host.cores
    load = there.host.load
    if load is not None and load > LOAD * cores:
        message = (
            f"over the last minute {load:.1f} tasks ran or waited, for {counted(cores, 'core')}"
        )
        yield Trouble(message, "wait a minute, or end what `top` shows")


def on_battery(there: There) -> Iterator[Trouble]:
    """The machine runs on its battery.

    Most then lower their clocks. Plug it in.
    """
    if there.host.on_battery:
        yield Trouble("the machine runs on its battery", "plug it in")


def little_memory(there: There) -> Iterator[Trouble]:
    """Little memory is free.

    Large cases are left out, or the system begins to swap. End other programs.
    """
    free = there.host.memory_free_bytes
    if free < LEAST_MEMORY:
        yield Trouble(f"{format_value(free, 'B')} of memory are free", "end other programs")


def little_shared_memory(there: There) -> Iterator[Trouble]:
    """Processes can share little memory.

    Docker gives a container 64 MiB unless told otherwise, in which workers that hand tensors to
    each other fail. Give it more.
    """
    shared = there.host.shared_memory_bytes
    if shared is not None and shared < LEAST_SHARED:
        mend = "docker run --shm-size=8g; elsewhere: sudo mount -o remount,size=8G /dev/shm"
        yield Trouble(f"processes can share {format_value(shared, 'B')} of memory", mend)


def little_disk_space(there: There) -> Iterator[Trouble]:
    """The disk that results are written to is nearly full.

    A run whose journal cannot be written ends. Make room, or write elsewhere with `--results`.
    """
    free = there.host.disk_free_bytes
    if free < LEAST_DISK:
        mend = "make room, or `frobench run --results FOLDER` on another disk"
        yield Trouble(f"{format_value(free, 'B')} are free where results are written", mend)


def unloaded_driver(there: There) -> Iterator[Trouble]:
    """The driver forgets a GPU's state whenever no program uses it.

    Loading it again makes every first call slower, and undoes limits that were set. Switch
    persistence on.
    """
    for device in there.accelerators:
        if device.persistence is False:
            mend = f"sudo nvidia-smi -i {device.index} -pm 1"
            yield Trouble(f"{_called(device)} has no persistence mode", mend)


def no_accelerator(there: There) -> Iterator[Trouble]:
    """No accelerator is there, so only the CPU can be measured.

    Nothing is wrong if that is so. Else see whether the machine's firmware shows it, and whether
    it was given to this container or virtual machine.
    """
    if not there.accelerators and not (there.torch and there.torch.devices):
        mend = "nothing needs mending, unless one should be there: `lspci` shows what is on the bus"
        yield Trouble("no accelerator is there: the CPU is measured", mend)


RULES: dict[Severity, tuple[Rule, ...]] = {
    "error": (device_lost, build_lacks_device),
    "warning": (
        hidden_devices,
        busy_accelerator,
        held_back,
        power_cap,
        narrow_link,
        slow_link,
        slow_governor,
        quota_below_cores,
        busy_processor,
        on_battery,
        little_memory,
        little_shared_memory,
        little_disk_space,
    ),
    "info": (unloaded_driver, no_accelerator),
}
"""All rules, by how bad what they find is: an error keeps an accelerator from being used."""


def _called(device: Device) -> str:
    return device.name if device.index is None else f"{device.name} ({device.index})"


def _tool(device: Device) -> str:
    return {"NVIDIA": "nvidia-smi", "AMD": "amd-smi monitor"}.get(device.vendor, "top")


def _is_served(capability: str, built: tuple[str, ...]) -> bool:
    """Tell whether code for one of some architectures runs on a GPU.

    `sm_XY` is for its major version from that minor on, and `sm_XYa` for itself alone; from
    `compute_XY` the driver compiles for whatever is newer.
    """
    major, minor = (int(part) for part in capability.split("."))
    for architecture in built:
        kind, _, digits = architecture.partition("_")
        if not digits.isdecimal():
            if digits.rstrip("af") == f"{major}{minor}":
                return True
            continue
        had = (int(digits[:-1]), int(digits[-1]))
        same = had[0] == major and had[1] <= minor
        if same if kind == "sm" else had <= (major, minor):
            return True
    return False
