# SPDX-License-Identifier: MIT
"""AMD's sensors, read through the driver's amdsmi where it is installed (the extra `amd`)."""

import contextlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from frobench.suite.machine.sensors.sensor import (
    ENERGY,
    HELD_BACK,
    Reading,
    Sensor,
    first_line,
    silent,
)

ACTIVE = "active_"
"""Beginning of amdsmi's names of what holds a clock back at this moment."""
NO_CAUSE = {"low_utilization", "gfx_clk_below_host_limit_total"}
"""What amdsmi names beside them: a device with little to do, and all causes together."""
MOST_FAN = 255
ADDRESS = "pci_address"
"""What is unknown where sensors are found by number."""


def sensors(devices: Sequence[str], addresses: Mapping[str, str]) -> list[Sensor]:
    """Return a sensor for each device, found among the driver's by its address on the PCI bus.

    addresses : such as `0000:c1:00`, as far as torch tells; without all of them devices are matched
        by number, if torch and driver list equally many
    """
    try:
        with contextlib.redirect_stdout(None):  # it prints where there is no driver
            smi: Any = importlib.import_module("amdsmi")
        smi.amdsmi_init()
        gpus = smi.amdsmi_get_processor_handles()
    except Exception as error:  # noqa: BLE001 - it fails in many ways where no driver is
        return silent(devices, f"amdsmi (the extra `amd`): {first_line(error)}")
    known = [_address(smi, gpu) for gpu in gpus]
    if not any(known) or any(device not in addresses for device in devices):
        why = f"{'torch' if any(known) else 'amdsmi'} tells no PCI address"
        return _by_number(smi, devices, gpus, why)
    found: list[Sensor] = []
    for device in devices:
        address = addresses[device]
        here = [gpu for gpu, bus in zip(gpus, known, strict=True) if bus == address]
        if len(here) == 1 and list(addresses.values()).count(address) == 1:
            found.append(_sensor(smi, device, here[0], {}))
        else:
            reason = "several parts of a GPU are" if here else "amdsmi lists no device"
            found += silent([device], f"{reason} at its PCI address")
    return found


def _by_number(smi: Any, devices: Sequence[str], gpus: Sequence[Any], why: str) -> list[Sensor]:
    """Take both orders for the same, and say so: a mask may change torch's order."""
    if len(gpus) != len(devices):
        counts = f"amdsmi lists {len(gpus)} devices and the run uses {len(devices)}"
        return silent(devices, f"{why}, and {counts}, so which is which is not known")
    reason = f"{why}: these are the sensors of the same number"
    return [_sensor(smi, *pair, {ADDRESS: reason}) for pair in zip(devices, gpus, strict=True)]


def _sensor(smi: Any, device: str, gpu: Any, unknown: Mapping[str, str]) -> Sensor:
    asks = {name: partial(ask, smi, gpu) for name, ask in _ASKS.items()}
    return Sensor(device, {**unknown, **asks}, source="amdsmi")


def _address(smi: Any, gpu: Any) -> str | None:
    """Return where a device is, without the function, which torch does not tell."""
    try:
        return str(smi.amdsmi_get_gpu_device_bdf(gpu)).lower().rpartition(".")[0] or None
    except Exception:  # noqa: BLE001 - lost, or of an older library: others may be found
        return None


def _clock(kind: str) -> Callable[[Any, Any], float]:
    return lambda smi, gpu: (
        1e6 * float(smi.amdsmi_get_clock_info(gpu, getattr(smi.AmdSmiClkType, kind))["clk"])
    )


def _power(smi: Any, gpu: Any) -> float:
    watts = smi.amdsmi_get_power_info(gpu)
    now, mean = watts["current_socket_power"], watts["average_socket_power"]
    return float(now if isinstance(now, int | float) else mean)  # else "N/A", by model


def _energy(smi: Any, gpu: Any) -> float:
    counter = smi.amdsmi_get_energy_count(gpu)
    count = counter["energy_accumulator"] if "energy_accumulator" in counter else counter["power"]
    return float(count * counter["counter_resolution"]) / 1e6


def _temperature(smi: Any, gpu: Any) -> float:
    kind, metric = smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT
    return float(smi.amdsmi_get_temp_metric(gpu, kind, metric))


def _held_back(smi: Any, gpu: Any) -> list[str]:
    states = smi.amdsmi_get_violation_status(gpu).items()
    active = {name.removeprefix(ACTIVE) for name, state in states if ACTIVE in name and _any(state)}
    return sorted(active - NO_CAUSE)


def _any(state: object) -> bool:
    """Tell whether the state of the device, or that of any of its chiplets, is true."""
    return any(map(_any, state)) if isinstance(state, list) else state is True


_ASKS: dict[str, Callable[[Any, Any], Reading]] = {
    "sm_clock_hz": _clock("GFX"),
    "memory_clock_hz": _clock("MEM"),
    "power_watts": _power,
    ENERGY: _energy,
    "temperature_celsius": _temperature,
    "fan": lambda smi, gpu: smi.amdsmi_get_gpu_fan_speed(gpu, 0) / MOST_FAN,
    "utilization": lambda smi, gpu: smi.amdsmi_get_gpu_activity(gpu)["gfx_activity"] / 100,
    "pcie_replays": lambda smi, gpu: float(smi.amdsmi_get_gpu_pci_replay_counter(gpu)),
    HELD_BACK: _held_back,
}
"""How each quantity is read; amdsmi counts megahertz, watts and microjoules. The text `N/A`, which
it returns for what it does not know, is no number: the quantity is dropped."""
