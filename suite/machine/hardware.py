# SPDX-License-Identifier: MIT
"""The accelerators that the system shows, whether or not torch can use them, in SI units.

Read from what the kernel tells of its PCI bus; where it tells nothing (Windows, and Linux
inside it) from NVIDIA's library NVML. An integrated, virtual or management display is none.
"""

import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from frobench.suite.datasheets.catalog import PCIE
from frobench.suite.machine.host import ROOT, read
from frobench.suite.machine.sensors import nvml

VendorName = Literal["NVIDIA", "AMD", "Intel", "Apple"]
Value = str | int | float

DISPLAYS = ("0x0300", "0x0302", "0x0380")
"""PCI classes of displays: with VGA, 3D only, and others."""
PROCESSING = "0x1200"
"""PCI class of processing accelerators: AMD's Instinct, but also the NPUs of Intel's processors."""
INTEGRATED_AMD_BYTES = 6 * 2**30
"""Bytes of own memory below which an AMD display is part of a processor."""
INTEGRATED_INTEL = "0000:00:02."
"""Where on the bus the display of an Intel processor always is."""


class Vendor(NamedTuple):
    """How a maker's accelerators reach torch; the patterns are of Linux, below its root.

    build : what torch's build must be for, as `doctor.Offer` names it
    driver : files of which one is there while the driver is loaded
    nodes : files through which programs reach the devices
    control : files that programs need beside them
    masks : variables that hide devices
    container : what makes a container engine pass the devices on
    guide : where driver and build are explained
    permit : what lets a user open the devices' files
    """

    build: str
    guide: str
    driver: tuple[str, ...] = ()
    nodes: str = ""
    control: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    container: str = ""
    permit: str = 'sudo usermod -aG render,video "$USER", then log in again'


VENDORS: dict[VendorName, Vendor] = {
    "NVIDIA": Vendor(
        build="CUDA",
        guide="https://www.nvidia.com/drivers",
        driver=("proc/driver/nvidia/version",),
        nodes="dev/nvidia[0-9]*",
        control=("dev/nvidiactl", "dev/nvidia-uvm"),
        masks=("CUDA_VISIBLE_DEVICES",),
        container="--gpus all",
        permit=(
            '`ls -l /dev/nvidia*` shows the group that may: sudo usermod -aG GROUP "$USER", then '
            "log in again; where it is root's alone: sudo chmod a+rw /dev/nvidia*; in a batch "
            "system, ask it for a GPU"
        ),
    ),
    "AMD": Vendor(
        build="ROCm",
        guide="https://rocm.docs.amd.com/projects/install-on-linux/en/latest/",
        driver=("sys/module/amdgpu",),
        nodes="dev/kfd",
        masks=("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
        container="--device /dev/kfd --device /dev/dri",
    ),
    "Intel": Vendor(
        build="XPU",
        guide="https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html",
        driver=("sys/module/i915", "sys/module/xe"),
        nodes="dev/dri/renderD*",
        masks=("ZE_AFFINITY_MASK",),
        container="--device /dev/dri",
    ),
    "Apple": Vendor(build="MPS", guide="https://developer.apple.com/metal/pytorch/"),
}


class Gpu(NamedTuple):
    """An accelerator that the system shows, with the kernel's folder of it, if it has one."""

    vendor: VendorName
    name: str
    folder: Path | None = None


class System(NamedTuple):
    """The accelerators that the kernel shows on its bus, or else a maker's own library."""

    gpus: list[Gpu]
    on_the_bus: bool
    nvidia_driver: str | None


def look(root: Path = ROOT) -> System:
    """Return the accelerators of this machine; `root` is where `/proc` and `/sys` lie."""
    gpus = list(_on_the_bus(root))
    if gpus:
        driver = re.search(r"\b\d{3,}\.\d+(\.\d+)?\b", read(root / "proc/driver/nvidia/version"))
        return System(gpus, on_the_bus=True, nvidia_driver=driver[0] if driver else None)
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return System([Gpu("Apple", "Apple GPU")], on_the_bus=False, nvidia_driver=None)
    gpus = [Gpu("NVIDIA", name or "NVIDIA GPU") for name in nvml.of_each(nvml.PRESENT["name"])]
    versions = filter(None, nvml.of_each(nvml.PRESENT["driver"]))
    return System(gpus, on_the_bus=False, nvidia_driver=next(versions, None))


def _on_the_bus(root: Path) -> Iterator[Gpu]:
    for device in sorted((root / "sys/bus/pci/devices").glob("*")):
        kind, vendor = read(device / "class")[:6], read(device / "vendor")
        label = f"({vendor[2:]}:{read(device / 'device')[2:]})"
        if vendor == "0x10de" and kind in DISPLAYS:
            facts = read(root / "proc/driver/nvidia/gpus" / device.name / "information")
            model = re.search(r"^Model:\s*(.+)$", facts, re.MULTILINE)
            yield Gpu("NVIDIA", model[1] if model else f"NVIDIA GPU {label}", device)
        elif vendor == "0x1002" and (kind == PROCESSING or _is_discrete_amd(device, kind)):
            yield Gpu("AMD", read(device / "product_name") or f"AMD GPU {label}", device)
        elif vendor == "0x8086" and kind in DISPLAYS and INTEGRATED_INTEL not in device.name:
            yield Gpu("Intel", f"Intel GPU {label}", device)


def _is_discrete_amd(device: Path, kind: str) -> bool:
    """Tell a card from a processor's display, and from a server's old PCI display."""
    memory = read(device / "mem_info_vram_total")  # not told where the kernel is older than a card
    is_express = (device / "max_link_speed").exists()
    return kind in DISPLAYS and is_express and (not memory or int(memory) >= INTEGRATED_AMD_BYTES)


def kernel_facts(card: Path) -> dict[str, Value]:
    """Return what the kernel tells of a card in its folder below `/sys/bus/pci/devices`.

    Of every card it tells link and memory node; of AMD's, and in part of Intel's, also the rest.
    """
    facts: dict[str, Value] = {}
    if (driver := card / "driver").exists():
        facts["driver"] = f"{driver.resolve().name} {read(driver / 'module/version')}".strip()
    for fact, (convert, *patterns) in FACTS.items():
        files = (path for pattern in patterns for path in sorted(card.glob(pattern)))
        text = next(filter(None, map(read, files)), "")
        with suppress(KeyError, ValueError):  # no file is there, or it says something else
            facts[fact] = convert(text)
    return facts


def complete(card: Path | None, drivers: Mapping[str, Any]) -> dict[str, Any]:
    """Return what drivers tell of a card, and what the kernel tells besides.

    The memory node is the kernel's, which the card is on; NVML names that of a GPU's own memory.
    """
    kernels = kernel_facts(card) if card is not None else {}
    node = {"numa_node": kernels["numa_node"]} if "numa_node" in kernels else {}
    return {**kernels, **drivers, **node}


def _times(unit: float) -> Callable[[str], float]:
    return lambda text: int(text) * unit


def _node(text: str) -> int:
    if (node := int(text)) < 0:
        raise ValueError("the firmware does not say")
    return node


def _generation(text: str) -> int:
    """Return the generation of PCI Express of a link such as `16.0 GT/s PCIe`."""
    generations = {bits / 1e9: generation for generation, (bits, _) in PCIE.items()}
    return generations[float(text.partition(" ")[0])]


def _highest_step(text: str) -> float:
    return max(int(step) for step in re.findall(r":\s*(\d+)Mhz", text)) * 1e6


FACTS: dict[str, tuple[Callable[[str], Value], *tuple[str, ...]]] = {
    "memory_bytes": (int, "mem_info_vram_total"),
    "memory_used_bytes": (int, "mem_info_vram_used"),
    "clock_hz": (_times(1.0), "hwmon/hwmon*/freq1_input"),
    "memory_clock_hz": (_times(1.0), "hwmon/hwmon*/freq2_input"),
    "max_clock_hz": (_highest_step, "pp_dpm_sclk"),
    "max_memory_clock_hz": (_highest_step, "pp_dpm_mclk"),
    "power_watts": (_times(1e-6), "hwmon/hwmon*/power1_average", "hwmon/hwmon*/power1_input"),
    "power_limit_watts": (_times(1e-6), "hwmon/hwmon*/power1_cap"),
    "power_limit_default_watts": (_times(1e-6), "hwmon/hwmon*/power1_cap_default"),
    "temperature_celsius": (_times(1e-3), "hwmon/hwmon*/temp1_input"),
    "utilization": (_times(0.01), "gpu_busy_percent"),
    "pcie_generation": (_generation, "current_link_speed"),
    "pcie_generation_max": (_generation, "max_link_speed"),
    "pcie_width": (int, "current_link_width"),
    "pcie_width_max": (int, "max_link_width"),
    "numa_node": (_node, "numa_node"),
}
"""How each fact is read, and from which file, the first that is there.

hwmon counts hertz, microwatts and thousandths of a degree: https://docs.kernel.org/gpu/amdgpu/thermal.html,
https://docs.kernel.org/hwmon/sysfs-interface.html
"""


def serves(built: Sequence[str], capability: str) -> bool:
    """Tell whether code for architectures such as `sm_90` or `gfx942` runs on a GPU.

    capability : such as `9.0` for NVIDIA's GPUs, and `gfx942:sramecc+:xnack-` for AMD's

    `sm_XY` and `sm_XYf` are for their major version from that minor on, and `sm_XYa` is for itself
    alone; from `compute_XY` the driver compiles for whatever is newer. `gfx9-4-generic` is for all
    whose names begin with `gfx94`.
    """
    if capability.startswith("gfx"):
        families = (name.partition(":")[0].removesuffix("-generic") for name in built)
        return any(capability.startswith(family.replace("-", "")) for family in families)
    major, minor = map(int, capability.split("."))
    for architecture in built:
        kind, _, digits = architecture.removesuffix("f").partition("_")
        if not digits.isdecimal():
            runs = digits.rstrip("a") == f"{major}{minor}"
        else:
            made_for = int(digits[:-1]), int(digits[-1])
            runs = made_for <= (major, minor) and (kind != "sm" or made_for[0] == major)
        if runs:
            return True
    return False


def eight_bit_float(gfx: str | None) -> str:
    """Return torch's name of the 8-bit floats that a GPU has units for.

    gfx : AMD's name of the architecture, such as `gfx942:sramecc+:xnack-`

    Only gfx94x (MI300X, MI325X) lacks infinities and negative zero; newer ones have the type of the
    Open Compute Project, as NVIDIA's do:
    https://rocm.docs.amd.com/projects/hipBLASLt/en/latest/reference/data-type-support.html
    """
    return "float8_e4m3fnuz" if gfx and gfx.startswith("gfx94") else "float8_e4m3fn"
