# SPDX-License-Identifier: MIT
"""AMD's sensors, read through the driver's amdsmi where it is installed (the extra `amd`)."""

import contextlib
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from suite.sensors.sensor import HELD_BACK, Reading, Sensor, silent

ACTIVE = "active_"
"""How amdsmi begins the names of what holds a clock back at this moment."""
MOST_FAN = 255


def sensors(devices: Sequence[str], smi: Any = None) -> list[Sensor]:  # noqa: ANN401 - without types
    """Return a sensor for each device.

    Torch and amdsmi have no identifier in common, so devices are only told apart where both
    see all of them.

    smi : the library, by default the one that is installed
    """
    try:
        smi = smi or _library()
        smi.amdsmi_init()
        handles = smi.amdsmi_get_processor_handles()
    except Exception as error:  # noqa: BLE001 - it fails in many ways where no driver is
        return silent(devices, f"amdsmi (the extra `amd`): {str(error) or type(error).__name__}")
    if len(handles) != len(devices):
        seen = f"amdsmi lists {len(handles)} devices and the run uses {len(devices)}"
        return silent(devices, f"{seen}, so which is which is not known")
    return [
        Sensor(device, {n: partial(ask, smi, gpu) for n, ask in _ASKS.items()}, source="amdsmi")
        for device, gpu in zip(devices, handles, strict=True)
    ]


def _library() -> Any:  # noqa: ANN401 - see above
    with contextlib.redirect_stdout(None):  # it prints where there is no driver
        return importlib.import_module("amdsmi")


def _clock(kind: str) -> Callable[[Any, Any], float]:
    return lambda smi, gpu: (
        1e6 * float(smi.amdsmi_get_clock_info(gpu, getattr(smi.AmdSmiClkType, kind))["clk"])
    )


def _power(smi: Any, gpu: Any) -> float:  # noqa: ANN401 - see above
    told = smi.amdsmi_get_power_info(gpu)
    now, mean = told["current_socket_power"], told["average_socket_power"]
    return float(now if isinstance(now, int | float) else mean)  # else "N/A", by model


def _energy(smi: Any, gpu: Any) -> float:  # noqa: ANN401 - see above
    told = smi.amdsmi_get_energy_count(gpu)
    count = told["energy_accumulator"] if "energy_accumulator" in told else told["power"]
    return float(count * told["counter_resolution"]) / 1e6


def _temperature(smi: Any, gpu: Any) -> float:  # noqa: ANN401 - see above
    kind, metric = smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT
    return float(smi.amdsmi_get_temp_metric(gpu, kind, metric))


def _held_back(smi: Any, gpu: Any) -> list[str]:  # noqa: ANN401 - see above
    told = smi.amdsmi_get_violation_status(gpu)
    return [name.removeprefix(ACTIVE) for name in told if told[name] is True and ACTIVE in name]


_ASKS: dict[str, Callable[[Any, Any], Reading]] = {
    "sm_clock_hz": _clock("GFX"),
    "memory_clock_hz": _clock("MEM"),
    "power_watts": _power,
    "energy_joules": _energy,
    "temperature_celsius": _temperature,
    "fan": lambda smi, gpu: smi.amdsmi_get_gpu_fan_speed(gpu, 0) / MOST_FAN,
    "utilization": lambda smi, gpu: smi.amdsmi_get_gpu_activity(gpu)["gfx_activity"] / 100,
    "pcie_replays": lambda smi, gpu: float(smi.amdsmi_get_gpu_pci_replay_counter(gpu)),
    HELD_BACK: _held_back,
}
"""How each quantity is read; amdsmi counts megahertz, watts and microjoules.

What a device does not tell is the text `N/A`, which is no number: the quantity is dropped.
"""
