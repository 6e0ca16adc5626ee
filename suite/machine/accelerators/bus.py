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
    facts = {}
    for fact, tell in FACTS.items():
        with suppress(ValueError):  # the file is not there, or says something else
            facts[fact] = tell(card)
    return facts


def _number(*names: str, unit: float = 1.0) -> Callable[[Path], float]:
    return lambda card: int(_first(card, *names)) * unit


def _whole(name: str) -> Callable[[Path], int]:
    return lambda card: int(_first(card, name))


def _first(card: Path, *patterns: str) -> str:
    """Return what the first of the files says; nothing if there is none."""
    files = (path for pattern in patterns for path in sorted(card.glob(pattern)))
    return next((text for path in files if (text := read(path))), "")


def _generation(name: str) -> Callable[[Path], int]:
    def tell(card: Path) -> int:
        speed = _first(card, name).partition(" ")[0]
        if speed not in GENERATIONS:
            raise ValueError(speed)
        return GENERATIONS[speed]

    return tell


def _node(card: Path) -> int:
    node = _whole("numa_node")(card)
    if node < 0:
        raise ValueError(node)  # the firmware does not say
    return node


def _steps(name: str) -> Callable[[Path], float]:
    """Return how to read the highest of the clocks that a card may choose from."""

    def tell(card: Path) -> float:
        return max(int(step) for step in re.findall(r":\s*(\d+)Mhz", read(card / name))) * 1e6

    return tell


def _driver(card: Path) -> str:
    driver = card / "driver"
    if not driver.exists():
        raise ValueError(driver)
    return f"{driver.resolve().name} {read(driver / 'module' / 'version')}".strip()


FACTS: dict[str, Callable[[Path], Value]] = {
    "driver": _driver,
    "memory_bytes": _whole("mem_info_vram_total"),
    "memory_used_bytes": _whole("mem_info_vram_used"),
    "clock_hz": _number("hwmon/hwmon*/freq1_input"),
    "memory_clock_hz": _number("hwmon/hwmon*/freq2_input"),
    "max_clock_hz": _steps("pp_dpm_sclk"),
    "max_memory_clock_hz": _steps("pp_dpm_mclk"),
    "power_watts": _number("hwmon/hwmon*/power1_average", "hwmon/hwmon*/power1_input", unit=1e-6),
    "power_limit_watts": _number("hwmon/hwmon*/power1_cap", unit=1e-6),
    "power_limit_default_watts": _number("hwmon/hwmon*/power1_cap_default", unit=1e-6),
    "temperature_celsius": _number("hwmon/hwmon*/temp1_input", unit=1e-3),
    "utilization": _number("gpu_busy_percent", unit=0.01),
    "pcie_generation": _generation("current_link_speed"),
    "pcie_generation_max": _generation("max_link_speed"),
    "pcie_width": _whole("current_link_width"),
    "pcie_width_max": _whole("max_link_width"),
    "numa_node": _node,
}
"""How each fact is read; hwmon counts microwatts and thousandths of a degree.

https://docs.kernel.org/gpu/amdgpu/thermal.html, https://docs.kernel.org/hwmon/sysfs-interface.html
"""
