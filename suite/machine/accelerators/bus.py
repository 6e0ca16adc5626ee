# SPDX-License-Identifier: MIT
"""What Linux tells of a card on its PCI bus, whoever made it, in SI units.

Link and memory node are told of every card; clocks, power, temperature and memory by the
driver of AMD's cards, and in part by Intel's.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from suite.machine.limits import read

GENERATIONS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
"""Generations of PCI Express by gigatransfers a second."""

Value = str | int | float


def kernel_facts(card: Path) -> dict[str, Value]:
    """Return what is known of a card; what the kernel does not tell is not in it.

    card : its folder, such as `/sys/bus/pci/devices/0000:0c:00.0`
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


def _times(unit: float) -> Callable[[str], float]:
    return lambda text: int(text) * unit


def _generation(text: str) -> int:
    return GENERATIONS[text.partition(" ")[0]]


def _node(text: str) -> int:
    if (node := int(text)) < 0:
        raise ValueError("the firmware does not say")
    return node


def _highest_step(text: str) -> float:
    """Return the highest of the clocks that a card may choose from."""
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
