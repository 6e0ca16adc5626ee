# SPDX-License-Identifier: MIT
"""What the doctor says on a terminal; what is not known is left out, and the JSON has reasons."""

from collections.abc import Iterable, Iterator
from itertools import chain

from frobench.suite.doctor.examined import ExaminedAccelerator, ExaminedMachine, Host
from frobench.suite.machine.host import installed
from frobench.suite.machine.sensors.causes import IDLE
from frobench.suite.stored.types import Conclusion
from frobench.suite.terminal.layout import GAP, wrapped
from frobench.suite.units import counted, format_value

MARGIN = 16
"""Columns for headings."""
Line = tuple[str, str]
"""A heading in the margin, and what is said of it."""


def lines(there: ExaminedMachine, troubles: list[Conclusion], width: int) -> Iterator[str]:
    """Yield the page for a terminal of so many columns."""
    groups = [_host(there.host), _torch(there), *map(_device, there.accelerators)]
    for heading, text in chain(*(chain(group, [("", "")]) for group in groups)):
        yield from wrapped(text, width, f"{heading:{MARGIN}}", " " * MARGIN)
    if not troubles:
        yield "Nothing is wrong: `frobench run` measures it."
    for trouble in troubles:
        head = f"{trouble.severity}: {trouble.message} ({trouble.code})"
        yield from wrapped(head, width, "", GAP)
        yield from wrapped(f"advice: {trouble.advice}", width, GAP, GAP * 2)


def _host(host: Host) -> Iterable[Line]:
    cpu = host.cpu
    facts = {
        "CPU": cpu.model or cpu.architecture,
        "cores": _joined(
            f"{cpu.usable_cores} usable",
            cpu.logical_cores and f"of {cpu.logical_cores}",
            cpu.quota_cores and f"limited to {cpu.quota_cores:g}",
            cpu.numa_nodes and counted(cpu.numa_nodes, "memory node"),
            host.others is not None and f"others use {host.others:.1f}",
        ),
        "clock": _joined(
            host.clock_hz and format_value(host.clock_hz, "Hz"),
            cpu.max_frequency_hz and f"of {format_value(cpu.max_frequency_hz, 'Hz')}",
            f"governor {cpu.governor or 'unknown'}",
        ),
        "memory": _joined(
            f"{format_value(host.memory_free_bytes, 'B')} free",
            f"of {format_value(cpu.memory_bytes, 'B')}",
            host.shared_memory_bytes
            and f"{format_value(host.shared_memory_bytes, 'B')} may be shared",
        ),
        "disk": f"{format_value(host.disk_free_bytes, 'B')} free for results",
        "system": _joined(host.os, host.kernel, host.container and "in a container"),
    }
    return facts.items()


def _torch(there: ExaminedMachine) -> Iterator[Line]:
    yield "Python", there.host.python
    offer = there.torch
    if offer is not None and offer.version is not None:
        built = [
            name if build == "built in" else f"{name} {build}"
            for name, build in offer.builds.items()
            if build
        ]
        kinds = f"built for {' and '.join(built) or 'the CPU alone'}"
        yield (
            "PyTorch",
            _joined(offer.version, kinds, f"sees {counted(offer.devices, 'accelerator')}"),
        )
    for name, package, version in installed():
        yield "backend", f"{name}, of {package} {version}"
    yield from offer.out_of_tree if offer else ()
    if masks := there.host.masks:
        yield "masks", _joined(*(f"{name}={value!r}" for name, value in masks.items()))


def _device(device: ExaminedAccelerator) -> Iterator[Line]:
    number = "" if device.index is None else f" {device.index}"
    known = _joined(device.name, device.driver and f"driver {device.driver}", device.fault)
    yield f"{device.vendor}{number}", known
    default = device.power_limit_default_watts
    facts = {
        "memory in use": _part(device.memory_used_bytes, device.memory_bytes, "B"),
        "clock": _part(device.clock_hz, device.max_clock_hz, "Hz"),
        "its memory's": _part(device.memory_clock_hz, device.max_memory_clock_hz or None, "Hz"),
        "power": _joined(
            _part(device.power_watts, device.power_limit_watts, "W"),
            default and f"by default {default:g} W",
        ),
        "temperature": _joined(
            device.temperature_celsius is not None and f"{device.temperature_celsius:g} °C"
        ),
        "use": _joined(
            device.utilization is not None and f"busy {device.utilization:.0%} of the time",
            device.processes is not None and f"processes on it: {device.processes}",
        ),
        "held back": _joined(*(name for name in device.held_back or () if name != IDLE)),
        "link": _joined(
            device.pcie_generation
            and f"PCIe {device.pcie_generation} of {device.pcie_generation_max}",
            device.pcie_width and f"{device.pcie_width} of {device.pcie_width_max} lanes",
        ),
        "modes": _joined(
            device.ecc and "ECC", device.mig and "MIG", device.persistence and "persistence"
        ),
    }
    yield from ((f"  {name}", text) for name, text in facts.items() if text)


def _part(now: float | None, most: float | None, unit: str) -> str:
    return " of ".join(format_value(value, unit) for value in (now, most) if value is not None)


def _joined(*parts: str | float | bool | None) -> str:
    """Return what is known, as a list; a part that begins with "of" belongs to the one before."""
    spelt = (f"{'' if str(part).startswith('of ') else ','} {part}" for part in parts if part)
    return "".join(spelt).removeprefix(",").removeprefix(" ")
