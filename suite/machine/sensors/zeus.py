# SPDX-License-Identifier: MIT
"""Apple's energy counter, read through Zeus's library where it is installed (extra `energy`)."""

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from suite.machine.sensors.cpu import Rate
from suite.machine.sensors.sensor import (
    ENERGY,
    OF_ACCELERATORS,
    Reading,
    Sensor,
    first_line,
    silent,
)


def sensors(devices: Sequence[str], monitor: Any = None) -> list[Sensor]:
    """Return a sensor for the GPU of an Apple processor; it tells its energy and nothing else.

    monitor : tells the energy, by default the library's own
    """
    try:
        monitor = monitor or importlib.import_module("zeus_apple_silicon").AppleEnergyMonitor()
        energy = partial(_joules, monitor)
        power = Rate(energy)
    except Exception as error:  # noqa: BLE001 - whatever a missing or other processor raises
        return silent(devices, f"Zeus (the extra `energy`): {first_line(error)}")
    asks: dict[str, Callable[[], Reading]] = {ENERGY: energy, "power_watts": power}
    unknown = {name: "macOS tells only the energy" for name in OF_ACCELERATORS if name not in asks}
    return [Sensor(device, asks, unknown, source="Zeus") for device in devices]


def _joules(monitor: Any) -> float:
    return float(monitor.get_cumulative_energy().gpu_mj / 1000)
