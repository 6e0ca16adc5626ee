# SPDX-License-Identifier: MIT
"""Apple's energy counter, read through Zeus's library where it is installed (extra `energy`)."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from frobench.suite.machine.sensors.cpu import Rate
from frobench.suite.machine.sensors.sensor import (
    ENERGY,
    OF_ACCELERATORS,
    POWER,
    Sensor,
    first_line,
    silent,
)


def sensors(devices: Sequence[str]) -> list[Sensor]:
    """Return a sensor for the GPU of an Apple processor; it tells its energy and nothing else."""

    def joules() -> float:
        return float(monitor.get_cumulative_energy().gpu_mj / 1000)

    try:
        monitor: Any = importlib.import_module("zeus_apple_silicon").AppleEnergyMonitor()
        asks: dict[str, Callable[[], float]] = {ENERGY: joules, POWER: Rate(joules)}
    except Exception as error:  # noqa: BLE001 - whatever a missing or other processor raises
        return silent(devices, f"Zeus (the extra `energy`): {first_line(error)}")
    unknown = dict.fromkeys(OF_ACCELERATORS, "macOS tells only the energy")
    return [Sensor(device, {**unknown, **asks}, source="Zeus") for device in devices]
