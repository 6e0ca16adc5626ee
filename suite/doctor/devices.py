# SPDX-License-Identifier: MIT
# ruff: noqa: D401 - the first line of a rule says what it reports, as a user reads it
"""Rules about accelerators that are there and not as they should be."""

from collections.abc import Iterator

from suite.doctor.there import Device, There
from suite.doctor.trouble import Trouble
from suite.machine.hardware import VENDORS
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


def device_lost(there: There) -> Iterator[Trouble]:
    """The driver does not speak of an accelerator that is there.

    "GPU is lost" and "requires restart" mean that it fell off its bus or stopped; a version
    mismatch, that the driver was updated under running programs. Restart the machine.
    """
    for device in there.accelerators:
        if device.fault is not None:
            mend = "restart the machine; `sudo dmesg` may say what happened"
            yield Trouble(f"{_called(device)} does not answer: {device.fault}", mend)


def silent_driver(there: There) -> Iterator[Trouble]:
    """The driver of an accelerator cannot be asked how the accelerator is.

    Nothing is known of its clocks, its power and what holds it back. A container needs
    `NVIDIA_DRIVER_CAPABILITIES=compute,utility` to be given the driver's library NVML.
    """
    if there.torch is not None and not there.torch.devices:
        return  # then it is said elsewhere what is missing
    nvidia = [one for one in there.accelerators if one.vendor == "NVIDIA"]
    silent = [one for one in nvidia if one.index is None and one.fault is None]
    for name, reason in dict.fromkeys((one.name, one.unknown["index"]) for one in silent):
        mend = (
            "in a container, set NVIDIA_DRIVER_CAPABILITIES=compute,utility when it is started; "
            f"elsewhere see that its driver is there: {VENDORS['NVIDIA'].guide}"
        )
        yield Trouble(f"{name} is not watched: {reason}", mend)


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
