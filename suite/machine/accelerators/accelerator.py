# SPDX-License-Identifier: MIT
"""One accelerator: what torch says of it, and what its driver or the kernel says."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from frobench.suite.machine.accelerators.hardware import complete
from frobench.suite.machine.limits import ROOT
from frobench.suite.machine.sensors import nvml
from frobench.suite.machine.system import known
from frobench.suite.stored.run import Accelerator


def accelerator(name: str, part: str, unknown: dict[str, str], root: Path = ROOT) -> Accelerator:
    """Describe the accelerator that torch calls `name`, such as `cuda:0`.

    part : what precedes a fact's name in `unknown`, which takes the reasons for what is not known
    """
    device = torch.device(name)
    properties = _properties(device)
    drivers, reasons = nvml.driver_facts(str(properties.uuid)) if _is_nvidia(device) else ({}, {})
    address = bus_address(name)
    card = root / f"sys/bus/pci/devices/{address}.0" if address else None
    facts = complete(card, _torch_facts(device, properties) | drivers)
    for fact in [fact for fact in facts if fact.endswith(("_watts", "_hz")) and facts[fact] == 0]:
        del facts[fact]
        reasons[fact] = "its driver says 0"
    otherwise = f"neither torch nor a library asked here tells it of {device.type} devices"
    stored = {
        fact: (facts.get(fact), reasons.get(fact, otherwise))
        for fact in ("memory_bytes", "capability", "multiprocessors", *nvml.CONSTANT)
    }
    return Accelerator(
        name=facts.get("name") or device.type,
        type=device.type,
        index=device.index or 0,
        **known(stored, part, unknown),
    )


def topology(names: Sequence[str], unknown: dict[str, str]) -> dict[str, str] | None:
    """Return what lies between each two accelerators (`cuda:0-cuda:1`); `unknown` says why not."""
    devices = {name: torch.device(name) for name in names}
    links: dict[str, str] | str = "only NVIDIA's library is asked for it"
    if all(map(_is_nvidia, devices.values())):
        uuids = {name: str(_properties(device).uuid) for name, device in devices.items()}
        links = nvml.links_between(uuids)
    if isinstance(links, str):
        unknown["topology"] = links
        return None
    return links


def bus_address(name: str) -> str | None:
    """Return where a card is on the PCI bus, such as `0000:c1:00`, if torch tells."""
    properties = _properties(torch.device(name))
    parts = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    numbers = [part for part in parts if isinstance(part, int)]
    return "{:04x}:{:02x}:{:02x}".format(*numbers) if numbers == parts else None


def _is_nvidia(device: torch.device) -> bool:
    return device.type == "cuda" and torch.version.hip is None


def _properties(device: torch.device) -> Any:
    with suppress(AttributeError, NotImplementedError, RuntimeError):  # a backend may lack it
        return torch.get_device_module(device).get_device_properties(device)
    return None


def _torch_facts(device: torch.device, properties: Any) -> dict[str, Any]:
    """Return what torch tells, and nothing that it does not."""
    if device.type == "mps":
        return {
            "name": torch.backends.mps.get_name(),
            "memory_bytes": torch.mps.recommended_max_memory(),
            "multiprocessors": torch.backends.mps.get_core_count(),
        }

    def stated(name: str) -> Any:
        return getattr(properties, name, None)

    capability = None
    if stated("major") is not None:
        gfx = stated("gcnArchName") if torch.version.hip else None
        capability = gfx or f"{properties.major}.{properties.minor}"
    facts = {
        "name": stated("name"),
        "memory_bytes": stated("total_memory"),
        "capability": capability,
        "multiprocessors": stated("multi_processor_count") or stated("max_compute_units"),
        "driver": stated("driver_version"),
    }
    return {fact: value for fact, value in facts.items() if value is not None}
