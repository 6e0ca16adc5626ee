# SPDX-License-Identifier: MIT
"""Rules about accelerators that are there and not as they should be."""

from collections.abc import Callable, Iterator
from functools import wraps

from frobench.suite.checks.belief.doubts import CAPPED
from frobench.suite.checks.rule import Fault
from frobench.suite.datasheets.generations import is_laptop
from frobench.suite.doctor.there import Device, There
from frobench.suite.doctor.torch_offer import START_LOCALLY
from frobench.suite.machine.accelerators.hardware import VENDORS
from frobench.suite.machine.backends import installed
from frobench.suite.machine.sensors.sensor import AT_WORK, LIMITED, may_limit
from frobench.suite.units import counted, format_value

BUSY = 0.1
"""Part of the time in which an accelerator is busy, or of its memory in use, that is noticed."""

COOL = "check its cooling, and let it cool down"
CABLES = "check its cooling and its power cables"
AT_LIMIT = "it draws all the power that it may"
RAISE_AMDS_LIMIT = (
    "end what computes on it; raise its limit: sudo amd-smi set -g {0} --power-cap WATTS"
)
CAUSES = {
    "ApplicationsClocksSetting": (
        "somebody set its clocks",
        "sudo nvidia-smi -i {0} -rac; sudo nvidia-smi -i {0} -rgc",
    ),
    "SwPowerCap": (
        AT_LIMIT,
        "end what computes on it; raise its limit: sudo nvidia-smi -i {0} -pl WATTS (in no laptop)",
    ),
    "HwSlowdown": ("its hardware slowed it down, for heat or power", CABLES),
    "SyncBoost": (
        "it keeps to the clock of the slowest in its group",
        "take it out of the group that nvidia-smi or DCGM put it into",
    ),
    "SwThermalSlowdown": ("it is too hot", COOL),
    "HwThermalSlowdown": ("it is so hot that its hardware slowed it down", COOL),
    "HwPowerBrakeSlowdown": (
        "the power supply told it to slow down",
        "check the power supply and its cables",
    ),
    "DisplayClockSetting": ("its display holds its clock", "measure on a card without a display"),
    "BoardLimit": ("its board gives no more power", CABLES),
    "Reliability": ("its voltage may not rise further", "undo what was set to overclock it"),
    "ppt_pwr": (AT_LIMIT, RAISE_AMDS_LIMIT),
    "gfx_clk_below_host_limit_pwr": (AT_LIMIT, RAISE_AMDS_LIMIT),
    "gfx_clk_below_host_limit_thm": ("it is too hot", COOL),
    "socket_thrm": ("it is too hot", COOL),
    "prochot_thrm": ("it is so hot that its hardware slowed it down", COOL),
    "vr_thrm": ("its voltage regulators are too hot", COOL),
    "hbm_thrm": ("its memory is too hot", COOL),
}
"""What may hold a clock down, by NVML's or amdsmi's name: in words, and what mends it.

https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html,
https://rocm.docs.amd.com/projects/amdsmi/en/develop/conceptual/gpu-violations.html
"""
IDLE = "GpuIdle"
"""The name of what holds down the clock of a GPU that rests."""

Finding = tuple[str, str]
"""What is wrong with an accelerator, and what mends it for the GPU with the number `{0}`."""


def _of_each(
    find: Callable[[Device, There], Iterator[Finding]],
) -> Callable[[There], Iterator[Fault]]:
    """Make a rule about each accelerator into one about all; equal findings become one fault."""

    @wraps(find)
    def rule(there: There) -> Iterator[Fault]:
        alike: dict[tuple[str, str, str], list[Device]] = {}
        for device in there.accelerators:
            for message, mend in find(device, there):
                alike.setdefault((device.name, message, mend), []).append(device)
        for (name, message, mend), which in alike.items():
            numbers = ",".join(str(device.index) for device in which if device.index is not None)
            called = f"{name} ({numbers})" if numbers else name
            many = f"each of {len(which)}x {called}" if len(which) > 1 else called
            yield Fault(f"{many} {message}", advice=mend.format(numbers or "NUMBER"))

    return rule


@_of_each
def device_lost(device: Device, _: There) -> Iterator[Finding]:
    """The driver does not speak of an accelerator that is there.

    "GPU is lost" and "requires restart" mean that it fell off its bus or stopped; a version
    mismatch, that the driver was updated under running programs. Restart the machine. Where
    another accelerator can be used, this is a warning.
    """
    if device.fault is not None:
        mend = "restart the machine; `sudo dmesg` may say what happened"
        yield f"does not answer: {device.fault}", mend


@_of_each
def build_lacks_device(device: Device, there: There) -> Iterator[Finding]:
    """PyTorch was not built for an accelerator of this generation.

    It sees the device and cannot compute there, so `frobench run` refuses to. Install a build for
    it. Where another accelerator can be used, this is a warning: `frobench run` leaves the one out.
    """
    if there.torch and there.lacks_code(device):
        built = ", ".join(there.torch.architectures)
        message = f"has the capability {device.capability}, and PyTorch was built for {built}"
        yield message, f"install a build that has it: {START_LOCALLY}"


def silent_driver(there: There) -> Iterator[Fault]:
    """The driver of an accelerator cannot be asked how the accelerator is.

    Nothing is known of its clocks, its power and what holds it back. A container needs
    `NVIDIA_DRIVER_CAPABILITIES=compute,utility` to be given the driver's library NVML.
    """
    if there.torch is not None and not there.torch.devices:
        return  # then another rule says what is missing
    mend = (
        "in a container, set NVIDIA_DRIVER_CAPABILITIES=compute,utility when it is started; "
        f"elsewhere see that its driver is there: {VENDORS['NVIDIA'].guide}"
    )
    silent = {
        f"{device.name} is not watched: {device.unknown['index']}": None
        for device in there.accelerators
        if device.vendor == "NVIDIA" and device.index is None and device.fault is None
    }
    yield from (Fault(message, advice=mend) for message in silent)


def hidden_devices(there: There) -> Iterator[Fault]:
    """PyTorch sees fewer accelerators than are there.

    A variable such as `CUDA_VISIBLE_DEVICES` hides the others; unset it.
    """
    offer, masks = there.torch, there.host.masks
    if offer is None:
        return
    whole = [device for device in there.accelerators if not device.mig]
    shown = sum(map(there.is_for, whole))
    if 0 < offer.devices < shown:
        values = " and ".join(f"{name}={value!r}" for name, value in masks.items())
        message = f"PyTorch sees {offer.devices} of {counted(shown, 'accelerator')}"
        mend = f"unset {' '.join(masks)}" if masks else "see what set a mask in this process"
        yield Fault(f"{message}: {values}" if masks else message, advice=mend)


@_of_each
def busy_accelerator(device: Device, _: There) -> Iterator[Finding]:
    """Something else uses an accelerator.

    It takes time, memory and power. `nvidia-smi` or `amd-smi` shows it; wait for it, or end it.
    """
    signs = []
    if many := device.processes:
        signs.append(f"{many} {'process computes' if many == 1 else 'processes compute'} on it")
    if (device.utilization or 0) >= BUSY:
        signs.append(f"it is busy {device.utilization:.0%} of the time")
    if (used := device.memory_used_bytes or 0) / (device.memory_bytes or 1) >= BUSY:
        signs.append(f"{format_value(used, 'B')} of its memory are in use")
    if signs:
        mend = f"wait for it or end it; `{_tool(device, 'process')}` shows what it is"
        yield f"is in use: {', '.join(signs)}", mend


@_of_each
def held_back(device: Device, _: There) -> Iterator[Finding]:
    """Something holds an accelerator's clock down right now.

    Not counted are an idle clock, and a power limit that the driver of a resting device names. The
    message ends with the driver's own name of the reason.
    """
    draw = device.power_watts, device.power_limit_watts, device.utilization
    otherwise = ("so its driver says", f"`{_tool(device, 'metric')}` may tell more")
    for name in device.held_back or ():
        if name != IDLE and (name not in LIMITED or may_limit(*draw)):
            words, mend = CAUSES.get(name, otherwise)
            yield f"is held back: {words} ({name})", mend


@_of_each
def power_cap(device: Device, _: There) -> Iterator[Finding]:
    """An accelerator may draw less power than it was made for.

    It is then a slower device. Set the limit to its default. In a laptop the limit follows power
    supply and mode, not `nvidia-smi`: plug the laptop in, and choose the mode for performance.
    """
    limit, default = device.power_limit_watts, device.power_limit_default_watts
    if limit is None or not default or limit >= CAPPED * default:
        return
    mend = f"raise its limit to {default:g} W with its maker's tool"
    if device.vendor == "AMD":
        mend = "sudo amd-smi reset -g all --power-cap"
    elif device.vendor == "NVIDIA" and not is_laptop(device.name):
        mend = f"sudo nvidia-smi -i {{0}} -pl {default:g}"
    elif device.vendor == "NVIDIA":
        mend = (
            "plug the laptop in, and choose performance in its maker's program or with "
            "`powerprofilesctl set performance`; under Linux also `sudo systemctl enable "
            "--now nvidia-powerd`; nvidia-smi cannot set the limit of a laptop's GPU"
        )
    yield f"may draw {limit:g} W of {default:g} W ({limit / default:.0%})", mend


@_of_each
def narrow_link(device: Device, _: There) -> Iterator[Finding]:
    """An accelerator is connected by fewer lanes than it and its slot have.

    Copies are slower by that factor. Reseat the card, or use a slot that shares no lanes.
    """
    if (width := device.pcie_width) and (most := device.pcie_width_max) and width < most:
        mend = "reseat the card, or use a slot with all lanes; look for shared lanes in the BIOS"
        yield f"has {width} of {most} PCIe lanes", mend


@_of_each
def slow_link(device: Device, _: There) -> Iterator[Finding]:
    """An accelerator at work is connected at a lower PCIe generation than it could be.

    An idle link slows down to save power. At work, suspect slot, riser cable and firmware.
    """
    now, most = device.pcie_generation, device.pcie_generation_max
    if (device.utilization or 0) >= AT_WORK and now and most and now < most:
        mend = "set the slot to its full generation in the BIOS; check a riser cable"
        yield f"is at PCIe {now} of {most}, although at work", mend


@_of_each
def unloaded_driver(device: Device, _: There) -> Iterator[Finding]:
    """The driver forgets a GPU's state whenever no program uses it.

    Loading it again slows down first calls, and undoes set limits. Switch persistence on.
    """
    if device.persistence is False:
        yield "has no persistence mode", "sudo nvidia-smi -i {0} -pm 1"


def no_accelerator(there: There) -> Iterator[Fault]:
    """No accelerator is there, so only the CPU can be measured.

    Nothing is wrong, unless one should be there: see whether the firmware shows it, and whether the
    container or virtual machine was given it. Not said where a package brings a backend.
    """
    offered = there.torch and there.torch.devices
    if not there.accelerators and not offered and not installed():
        mend = "nothing needs mending, unless one should be there: `lspci` shows what is on the bus"
        yield Fault("no accelerator is there: the CPU is measured", advice=mend)


def _tool(device: Device, amds_command: str) -> str:
    return {"NVIDIA": "nvidia-smi", "AMD": f"amd-smi {amds_command}"}.get(device.vendor, "top")
