# SPDX-License-Identifier: MIT
"""One accelerator: what torch says of it, and what its driver or the kernel says."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import pynvml
import torch

from suite.machine.accelerators import nvidia
from suite.machine.accelerators.bus import kernel_facts
from suite.machine.limits import ROOT
from suite.machine.unknown import Facts
from suite.stored.run import Accelerator

MOST_LINKS = 18
"""NVLinks that a GPU can have."""
ANCESTORS = {
    pynvml.NVML_TOPOLOGY_INTERNAL: "on one board",
    pynvml.NVML_TOPOLOGY_SINGLE: "one PCIe switch",
    pynvml.NVML_TOPOLOGY_MULTIPLE: "several PCIe switches",
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: "one host bridge",
    pynvml.NVML_TOPOLOGY_NODE: "one memory node",
    pynvml.NVML_TOPOLOGY_SYSTEM: "between memory nodes",
}
"""What lies between two GPUs that have no links of their own."""


def accelerator(name: str, facts: Facts, root: Path = ROOT) -> Accelerator:
    """Describe the accelerator that torch calls `name`, such as `cuda:0`."""
    device = torch.device(name)
    properties = _properties(device)
    known = _torch_facts(device, properties)
    reasons: dict[str, str] = {}
    if (address := _bus_address(properties)) is not None:
        kernels = kernel_facts(root / "sys/bus/pci/devices" / address)
        known |= {fact: value for fact, value in kernels.items() if known.get(fact) is None}
    if _is_nvidia(device):
        drivers, reasons = driver_facts(str(properties.uuid))
        # NVML speaks of the node that a GPU's own memory is, the kernel of the one it is on.
        known |= drivers | {"numa_node": known.get("numa_node", drivers.get("numa_node"))}
    otherwise = f"neither torch nor a library asked here tells it of {device.type} devices"
    return Accelerator(
        name=known.pop("name", None) or device.type,
        type=device.type,
        index=device.index or 0,
        **{
            fact: facts.note(fact, known.get(fact), reasons.get(fact, otherwise))
            for fact in ("memory_bytes", "capability", "multiprocessors", *nvidia.CONSTANT)
        },
    )


def driver_facts(uuid: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what NVIDIA's driver knows of a GPU, and the reasons for what it does not say.

    uuid : as torch gives it; torch's own numbers are not the driver's where a mask is set
    """
    try:
        with nvidia.opened():
            return nvidia.ask(pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}"), nvidia.CONSTANT)
    except pynvml.NVMLError as error:
        return {}, dict.fromkeys(nvidia.CONSTANT, f"NVML: {error}")


def topology(names: Sequence[str]) -> Mapping[str, str] | str:
    """Return what lies between each two accelerators, or why that is not known.

    names : as torch has them, such as `cuda:0`; the pairs are called `cuda:0-cuda:1`
    """
    devices = [torch.device(name) for name in names]
    if not all(map(_is_nvidia, devices)):
        return "only NVIDIA's library is asked for it"
    uuids = {name: str(_properties(torch.device(name)).uuid) for name in names}
    return links_between(uuids)


def links_between(uuids: Mapping[str, str]) -> Mapping[str, str] | str:
    """Return what NVIDIA's driver says lies between each two GPUs, or why it does not.

    uuids : by the GPUs' names, as torch gives them
    """
    try:
        with nvidia.opened():
            gpus = {
                name: pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
                for name, uuid in uuids.items()
            }
            return {
                f"{first}-{second}": _between(gpus[first], gpus[second])
                for first, second in combinations(gpus, 2)
            }
    except pynvml.NVMLError as error:
        return f"NVML: {error}"


def _between(first: Any, second: Any) -> str:
    """Return how many NVLinks both have, or what lies between them on the bus.

    Links lead to the other GPU or to a switch that all are on; which of them is not asked.
    """
    links = min(_links(first), _links(second))
    level = pynvml.nvmlDeviceGetTopologyCommonAncestor(first, second)
    bus = ANCESTORS.get(level, f"level {level}")
    return f"{links} NVLinks, {bus}" if links else bus


def _links(gpu: Any) -> int:
    active = 0
    for link in range(MOST_LINKS):
        try:
            active += pynvml.nvmlDeviceGetNvLinkState(gpu, link)
        except pynvml.NVMLError:  # no such link
            break
    return active


def _is_nvidia(device: torch.device) -> bool:
    return device.type == "cuda" and torch.version.hip is None


def _properties(device: torch.device) -> Any:
    with suppress(AttributeError, NotImplementedError, RuntimeError):  # a backend may lack it
        return torch.get_device_module(device).get_device_properties(device)
    return None


def _bus_address(properties: Any) -> str | None:
    """Return the bus address of a card, as the kernel writes it."""
    parts = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    known = [part for part in parts if isinstance(part, int)]
    return "{:04x}:{:02x}:{:02x}.0".format(*known) if known == parts else None


def _torch_facts(device: torch.device, properties: Any) -> dict[str, Any]:
    """Return what torch knows of a device, as far as its backend says."""
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
    return {
        "name": stated("name"),
        "memory_bytes": stated("total_memory"),
        "capability": capability,
        "multiprocessors": stated("multi_processor_count") or stated("max_compute_units"),
        "driver": stated("driver_version"),
    }
