# SPDX-License-Identifier: MIT
"""Rules about accelerators that are there and not as they should be."""

from collections.abc import Callable, Iterator
from functools import wraps

from suite.checks.rule import Fault
from suite.datasheets.laptop import is_laptop
from suite.doctor.there import Device, There
from suite.doctor.torch_offer import START_LOCALLY
from suite.machine.accelerators.architectures import serves
from suite.machine.accelerators.hardware import VENDORS
from suite.machine.backends import installed
from suite.machine.sensors.sensor import LIMITED, may_limit
from suite.units import counted, format_value

BUSY = 0.1
"""Part of the time in which an accelerator is busy, or of its memory in use, that is noticed."""
AT_WORK = 0.5
"""Part of the time in which an accelerator is busy, from which its link should be at full speed."""
CAP = 0.99
"""A power limit relative to its default, below which it is called capped."""

HELD_BACK = {
    "ApplicationsClocksSetting": (
        "somebody set its clocks",
        "sudo nvidia-smi -i {0} -rac; sudo nvidia-smi -i {0} -rgc",
    ),
    "SwPowerCap": (
        "it draws all the power that it may",
        "end what computes on it; raise its limit: sudo nvidia-smi -i {0} -pl WATTS (in no laptop)",
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
"""The name of what holds down the clock of a GPU that rests."""

Finding = tuple[Device, str, str]
"""An accelerator, what is wrong with it, and what mends it for the GPU of a number (`{0}`)."""


def _together(find: Callable[[There], Iterator[Finding]]) -> Callable[[There], Iterator[Fault]]:
    """Make a rule that tells once what is wrong with several accelerators of one name."""

    @wraps(find)
    def rule(there: There) -> Iterator[Fault]:
        alike: dict[tuple[str, str, str], list[Device]] = {}
        for device, message, mend in find(there):
            alike.setdefault((device.name, message, mend), []).append(device)
        for (name, message, mend), which in alike.items():
            numbers = ",".join(str(device.index) for device in which if device.index is not None)
            called = f"{name} ({numbers})" if numbers else name
            many = f"each of {len(which)}x {called}" if len(which) > 1 else called
            yield Fault(f"{many} {message}", advice=mend.format(numbers or "NUMBER"))

    return rule


@_together
def device_lost(there: There) -> Iterator[Finding]:
    """The driver does not speak of an accelerator that is there.

    "GPU is lost" and "requires restart" mean that it fell off its bus or stopped; a version
    mismatch, that the driver was updated under running programs. Restart the machine. Where
    another accelerator can be used, this is a warning.
    """
    mend = "restart the machine; `sudo dmesg` may say what happened"
    for device in there.accelerators:
        if device.fault is not None:
            yield device, f"does not answer: {device.fault}", mend


def silent_driver(there: There) -> Iterator[Fault]:
    """The driver of an accelerator cannot be asked how the accelerator is.

    Nothing is known of its clocks, its power and what holds it back. A container needs
    `NVIDIA_DRIVER_CAPABILITIES=compute,utility` to be given the driver's library NVML.
    """
    if there.torch is not None and not there.torch.devices:
        return  # then it is said elsewhere what is missing
    nvidia = [device for device in there.accelerators if device.vendor == "NVIDIA"]
    silent = [device for device in nvidia if device.index is None and device.fault is None]
    for name, reason in dict.fromkeys((device.name, device.unknown["index"]) for device in silent):
        mend = (
            "in a container, set NVIDIA_DRIVER_CAPABILITIES=compute,utility when it is started; "
            f"elsewhere see that its driver is there: {VENDORS['NVIDIA'].guide}"
        )
        yield Fault(f"{name} is not watched: {reason}", advice=mend)


@_together
def build_lacks_device(there: There) -> Iterator[Finding]:
    """PyTorch was not built for an accelerator of this generation.

    It sees the device and fails when it computes there, so `frobench run` refuses to. Install a
    build for it. Where another accelerator can be used, this is a warning: `frobench run` leaves
    the one out.
    """
    built = there.torch.architectures if there.torch else ()
    others = f"and PyTorch was built for {', '.join(built)}"
    for device in there.accelerators:
        if _is_unserved(device, there):
            message = f"has the capability {device.capability}, {others}"
            yield device, message, f"install a build that has it: {START_LOCALLY}"


def hidden_devices(there: There) -> Iterator[Fault]:
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
        values = " and ".join(f"{name}={value!r}" for name, value in masks.items())
        mend = f"unset {' '.join(masks)}" if masks else "see what set a mask in this process"
        yield Fault(
            f"PyTorch sees {offer.devices} of {counted(shown, 'accelerator')}"
            + (f": {values}" if values else ""),
            advice=mend,
        )


@_together
def busy_accelerator(there: There) -> Iterator[Finding]:
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
            yield device, f"is in use: {', '.join(signs)}", mend


@_together
def held_back(there: There) -> Iterator[Finding]:
    """Something holds an accelerator's clock down right now.

    An idle clock is none of it, nor is a power limit of which a resting device's driver speaks.
    Which of NVML's reasons it is stands in the message.
    """
    for device in there.accelerators:
        draw = device.power_watts, device.power_limit_watts, device.utilization
        for name in device.held_back or ():
            if name != IDLE and (name not in LIMITED or may_limit(*draw)):
                otherwise = ("so its driver says", f"`{_tool(device)}` may tell more")
                words, mend = HELD_BACK.get(name, otherwise)
                yield device, f"is held back: {words} ({name})", mend


@_together
def power_cap(there: There) -> Iterator[Finding]:
    """An accelerator may draw less power than it was made for.

    Its figures are then those of a slower device. Set the limit to its default. That of a laptop's
    GPU moves with its power supply and its mode, and `nvidia-smi` cannot set it: plug the laptop
    in, and choose the mode for performance.
    """
    for device in there.accelerators:
        limit, default = device.power_limit_watts, device.power_limit_default_watts
        if limit is not None and default and limit < CAP * default:
            mend = f"sudo nvidia-smi -i {{0}} -pl {default:g}"
            if device.vendor != "NVIDIA":
                mend = "sudo amd-smi reset --power-cap"
            elif is_laptop(device.name):
                mend = (
                    "plug the laptop in, and choose performance in its maker's program or with "
                    "`powerprofilesctl set performance`; under Linux also `sudo systemctl enable "
                    "--now nvidia-powerd`; nvidia-smi cannot set the limit of a laptop's GPU"
                )
            message = f"may draw {limit:g} W of {default:g} W ({limit / default:.0%})"
            yield device, message, mend


@_together
def narrow_link(there: There) -> Iterator[Finding]:
    """An accelerator is connected by fewer lanes than it and its slot have.

    Copies are slower by that factor. Put the card into a slot with all lanes, press it in, and
    see what the firmware divides lanes between.
    """
    mend = "reseat the card, or use a slot with all lanes; look for shared lanes in the BIOS"
    for device in there.accelerators:
        if (width := device.pcie_width) and (most := device.pcie_width_max) and width < most:
            yield device, f"has {width} of {most} PCIe lanes", mend


@_together
def slow_link(there: There) -> Iterator[Finding]:
    """An accelerator at work is connected at a lower PCIe generation than it could be.

    An idle link slows down to save power, and that is no trouble. At work it is a slot, a riser
    cable or a setting of the firmware.
    """
    mend = "set the slot to its full generation in the BIOS; check a riser cable"
    for device in there.accelerators:
        now, most = device.pcie_generation, device.pcie_generation_max
        if (device.utilization or 0) >= AT_WORK and now and most and now < most:
            yield device, f"is at PCIe {now} of {most}, although at work", mend


@_together
def unloaded_driver(there: There) -> Iterator[Finding]:
    """The driver forgets a GPU's state whenever no program uses it.

    Loading it again makes every first call slower, and undoes limits that were set. Switch
    persistence on.
    """
    for device in there.accelerators:
        if device.persistence is False:
            yield device, "has no persistence mode", "sudo nvidia-smi -i {0} -pm 1"


def no_accelerator(there: There) -> Iterator[Fault]:
    """No accelerator is there, so only the CPU can be measured.

    Nothing is wrong if that is so. Where a package brings an accelerator's backend, this is not
    said. Else see whether the machine's firmware shows it, and whether
    it was given to this container or virtual machine.
    """
    offered = there.torch and there.torch.devices
    if not there.accelerators and not offered and not installed():
        mend = "nothing needs mending, unless one should be there: `lspci` shows what is on the bus"
        yield Fault("no accelerator is there: the CPU is measured", advice=mend)


def some_work(there: There) -> bool:
    """Tell whether an accelerator is there that nothing above keeps from being used."""
    builds = there.torch.builds if there.torch else None
    return any(
        device.fault is None
        and not _is_unserved(device, there)
        and (builds is None or builds.get(VENDORS[device.vendor].build) is not None)
        for device in there.accelerators
    )


def _is_unserved(device: Device, there: There) -> bool:
    built = there.torch.architectures if there.torch else ()
    return bool(built) and device.capability is not None and not serves(built, device.capability)


def _tool(device: Device) -> str:
    return {"NVIDIA": "nvidia-smi", "AMD": "amd-smi monitor"}.get(device.vendor, "top")
