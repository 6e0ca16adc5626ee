# SPDX-License-Identifier: MIT
"""Rules about devices and host: what is wrong with them, and what mends it."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps

from frobench.suite.checks.doubts import CAPPED
from frobench.suite.checks.rule import Fault
from frobench.suite.datasheets.generations import is_laptop
from frobench.suite.doctor.examined import Device, ExaminedMachine
from frobench.suite.doctor.torch_offer import START_LOCALLY
from frobench.suite.machine.hardware import VENDORS
from frobench.suite.machine.host import installed
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
    find: Callable[[Device, ExaminedMachine], Iterator[Finding]],
) -> Callable[[ExaminedMachine], Iterator[Fault]]:
    """Make a rule about each accelerator into one about all; equal findings become one fault."""

    @wraps(find)
    def rule(there: ExaminedMachine) -> Iterator[Fault]:
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
def device_lost(device: Device, _: ExaminedMachine) -> Iterator[Finding]:
    """The driver does not speak of an accelerator that is there.

    "GPU is lost" and "requires restart" mean that it fell off its bus or stopped; a version
    mismatch, that the driver was updated under running programs. Restart the machine. Where
    another accelerator can be used, this is a warning.
    """
    if device.fault is not None:
        mend = "restart the machine; `sudo dmesg` may say what happened"
        yield f"does not answer: {device.fault}", mend


@_of_each
def build_lacks_device(device: Device, there: ExaminedMachine) -> Iterator[Finding]:
    """PyTorch was not built for an accelerator of this generation.

    It sees the device and cannot compute there, so `frobench run` refuses to. Install a build for
    it. Where another accelerator can be used, this is a warning: `frobench run` leaves the one out.
    """
    if there.torch and there.lacks_code(device):
        built = ", ".join(there.torch.architectures)
        message = f"has the capability {device.capability}, and PyTorch was built for {built}"
        yield message, f"install a build that has it: {START_LOCALLY}"


def silent_driver(there: ExaminedMachine) -> Iterator[Fault]:
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


def hidden_devices(there: ExaminedMachine) -> Iterator[Fault]:
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
def busy_accelerator(device: Device, _: ExaminedMachine) -> Iterator[Finding]:
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
def held_back(device: Device, _: ExaminedMachine) -> Iterator[Finding]:
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
def power_cap(device: Device, _: ExaminedMachine) -> Iterator[Finding]:
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
def narrow_link(device: Device, _: ExaminedMachine) -> Iterator[Finding]:
    """An accelerator is connected by fewer lanes than it and its slot have.

    Copies are slower by that factor. Reseat the card, or use a slot that shares no lanes.
    """
    if (width := device.pcie_width) and (most := device.pcie_width_max) and width < most:
        mend = "reseat the card, or use a slot with all lanes; look for shared lanes in the BIOS"
        yield f"has {width} of {most} PCIe lanes", mend


@_of_each
def slow_link(device: Device, _: ExaminedMachine) -> Iterator[Finding]:
    """An accelerator at work is connected at a lower PCIe generation than it could be.

    An idle link slows down to save power. At work, suspect slot, riser cable and firmware.
    """
    now, most = device.pcie_generation, device.pcie_generation_max
    if (device.utilization or 0) >= AT_WORK and now and most and now < most:
        mend = "set the slot to its full generation in the BIOS; check a riser cable"
        yield f"is at PCIe {now} of {most}, although at work", mend


@_of_each
def unloaded_driver(device: Device, _: ExaminedMachine) -> Iterator[Finding]:
    """The driver forgets a GPU's state whenever no program uses it.

    Loading it again slows down first calls, and undoes set limits. Switch persistence on.
    """
    if device.persistence is False:
        yield "has no persistence mode", "sudo nvidia-smi -i {0} -pm 1"


def no_accelerator(there: ExaminedMachine) -> Iterator[Fault]:
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


IN_THE_WAY = 0.25
"""Part of the usable cores' time that others take, from which they are in the way."""
LEAST_MEMORY, LEAST_SHARED, LEAST_DISK = 2 * 2**30, 2**30, 2**30
"""Bytes that the suite may need."""


def far_accelerator(there: ExaminedMachine) -> Iterator[Fault]:
    """The cores that may be used belong to other memory nodes than an accelerator.

    Copies and launches cross the nodes' link, and are slower. Start on the accelerator's node.
    """
    nodes = there.host.cpu.core_nodes or []
    for name, node in _attached(there):
        if nodes and node not in nodes:
            yield _apart(name, node, f"node {', '.join(map(str, nodes))}")


def native_windows(there: ExaminedMachine) -> Iterator[Fault]:
    """Frobench measures nothing on Windows itself.

    Stored runs can be read there. To measure, install WSL2 (`wsl --install`), and use that.
    """
    if there.host.os.startswith("Windows"):
        mend = "wsl --install, and use WSL2"
        yield Fault("nothing can be measured on Windows itself", advice=mend)


def slow_governor(there: ExaminedMachine) -> Iterator[Fault]:
    """The CPU's cores do not keep their highest clock.

    The kernel's governor lets them slow down between and within samples. Choose `performance`.
    """
    governor = there.host.cpu.governor
    if governor not in {None, "performance"}:
        mend = "sudo cpupower frequency-set -g performance"
        yield Fault(f"the CPU's governor is {governor}", advice=mend)


def quota_below_cores(there: ExaminedMachine) -> Iterator[Fault]:
    """A control group, as of a container, gives processes less time than they see cores for.

    Threads stop amid a sample when the time is used up. Raise the limit, or pin whole cores.
    """
    quota, cores = there.host.cpu.quota_cores, there.host.cores
    if quota is not None and quota < cores:
        if there.host.container:
            group = "this container"
            whole = "--cpuset-cpus with whole cores"
            mend = f"docker run --cpus={cores}, or {whole}; in Kubernetes its limit"
        else:
            group = "this process's control group"
            mend = "ask for more cores where the job or service is defined"
        yield Fault(f"{group} may use {quota:g} of {counted(cores, 'core')}", advice=mend)


def busy_processor(there: ExaminedMachine) -> Iterator[Fault]:
    """Other programs use the CPU.

    They take time from what is measured, and make it vary. `top` shows them; wait, or end them.
    """
    others, cores = there.host.others, there.host.cores
    if others is not None and others > IN_THE_WAY * cores:
        message = f"other programs use {others:.1f} of {counted(cores, 'core')}"
        yield Fault(message, advice="wait for them, or end what `top` shows")


def on_battery(there: ExaminedMachine) -> Iterator[Fault]:
    """The machine runs on its battery.

    Most then lower their clocks. Plug it in.
    """
    if there.host.on_battery:
        yield Fault("the machine runs on its battery", advice="plug it in")


def little_memory(there: ExaminedMachine) -> Iterator[Fault]:
    """Little memory is free.

    Large cases are left out, or the system begins to swap. End other programs.
    """
    free = there.host.memory_free_bytes
    if free < LEAST_MEMORY:
        yield Fault(f"{format_value(free, 'B')} of memory are free", advice="end other programs")


def little_shared_memory(there: ExaminedMachine) -> Iterator[Fault]:
    """Processes can share little memory.

    Docker's default of 64 MiB is too little for workers that exchange tensors. Give them more.
    """
    shared = there.host.shared_memory_bytes
    if shared is not None and shared < LEAST_SHARED:
        mend = "docker run --shm-size=8g; elsewhere: sudo mount -o remount,size=8G /dev/shm"
        yield Fault(f"processes can share {format_value(shared, 'B')} of memory", advice=mend)


def little_disk_space(there: ExaminedMachine) -> Iterator[Fault]:
    """The disk that results are written to is nearly full.

    A run whose journal cannot be written ends. Make room, or write elsewhere with `--results`.
    """
    free = there.host.disk_free_bytes
    if free < LEAST_DISK:
        mend = "make room, or `frobench run --results FOLDER` on another disk"
        yield Fault(f"{format_value(free, 'B')} are free where results are written", advice=mend)


def several_nodes(there: ExaminedMachine) -> Iterator[Fault]:
    """The cores that may be used belong to several memory nodes, an accelerator to one of them.

    Pinned memory lies on the node where a launch runs, so copies may differ between launches. Start
    the run on the accelerator's node to measure copies.
    """
    nodes = there.host.cpu.core_nodes or []
    for name, node in _attached(there):
        if node in nodes and len(nodes) > 1:
            yield _apart(name, node, f"{len(nodes)} nodes")


def _attached(there: ExaminedMachine) -> Iterable[tuple[str, int]]:
    """Return each accelerator's name with the memory node that it is attached to, once."""
    named = ((device.name, device.numa_node) for device in there.accelerators)
    return dict.fromkeys((name, node) for name, node in named if node is not None)


def _apart(name: str, node: int, cores: str) -> Fault:
    return Fault(
        f"{name} is attached to memory node {node}, and the usable cores belong to {cores}",
        advice=f"numactl --cpunodebind={node} --membind={node} frobench run",
    )
