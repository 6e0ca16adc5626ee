# SPDX-License-Identifier: MIT
"""What the kernel reports of a card, in SI units, and for which cards a build of torch has code."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from frobench.suite.datasheets.catalog import PCIE
from frobench.suite.machine.host import read

Value = str | int | float


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
