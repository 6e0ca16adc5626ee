# SPDX-License-Identifier: MIT
"""AMD's GPUs, read through the driver's library amdsmi where it is installed (the extra `amd`)."""

import contextlib
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from frobench.suite.machine.host import read
from frobench.suite.machine.vendors.vendor import DISPLAYS, Identity, Reader, Vendor
from frobench.suite.units import counted

PROCESSING = "0x1200"
"""PCI class of Instinct accelerators."""
INTEGRATED_BYTES = 6 * 2**30
"""Bytes of own memory below which a display is part of a processor."""
ACTIVE = "active_"
"""Beginning of amdsmi's names of what holds a clock back at this moment."""
NO_CAUSE = {"low_utilization", "gfx_clk_below_host_limit_total"}
"""What amdsmi names beside them: a device with little to do, and all causes together."""
MOST_FAN = 255


class Card(NamedTuple):
    """A device of amdsmi."""

    smi: Any
    gpu: Any

    def get(self, what: str, *arguments: Any) -> Any:
        """Ask the library."""
        return getattr(self.smi, f"amdsmi_get_{what}")(self.gpu, *arguments)


def _clock(kind: str) -> Reader:
    return lambda card: (
        1e6 * float(card.get("clock_info", getattr(card.smi.AmdSmiClkType, kind))["clk"])
    )


def _power(card: Card) -> float:
    watts = card.get("power_info")
    now, mean = watts["current_socket_power"], watts["average_socket_power"]
    return float(now if isinstance(now, int | float) else mean)  # else "N/A", by model


def _energy(card: Card) -> float:
    counter = card.get("energy_count")
    count = counter["energy_accumulator"] if "energy_accumulator" in counter else counter["power"]
    return float(count * counter["counter_resolution"]) / 1e6


def _temperature(card: Card) -> float:
    kinds, metrics = card.smi.AmdSmiTemperatureType, card.smi.AmdSmiTemperatureMetric
    return float(card.get("temp_metric", kinds.HOTSPOT, metrics.CURRENT))


def _held_back(card: Card) -> list[str]:
    states = card.get("violation_status").items()
    active = {name.removeprefix(ACTIVE) for name, state in states if ACTIVE in name and _any(state)}
    return sorted(active - NO_CAUSE)


def _any(state: object) -> bool:
    """Return whether the state of the device or of any of its chiplets is true."""
    return any(map(_any, state)) if isinstance(state, list) else state is True


class Amd(Vendor):
    """AMD's cards and Instinct accelerators, without the displays of its processors."""

    name, type, build, pci = "AMD", "cuda", "ROCm", "0x1002"
    guide = "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/"
    driver = ("sys/module/amdgpu",)
    nodes = "dev/kfd"
    masks = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
    container = "--device /dev/kfd --device /dev/dri"
    set_limit = "sudo amd-smi reset -g all --power-cap"
    api = "amdsmi (the extra `amd`)"
    readers: ClassVar[Mapping[str, Reader]] = {
        "sm_clock_hz": _clock("GFX"),
        "memory_clock_hz": _clock("MEM"),
        "power_watts": _power,
        "energy_joules": _energy,
        "temperature_celsius": _temperature,
        "fan": lambda card: card.get("gpu_fan_speed", 0) / MOST_FAN,
        "utilization": lambda card: card.get("gpu_activity")["gfx_activity"] / 100,
        "held_back": _held_back,
    }
    """amdsmi counts megahertz, watts and microjoules. The text `N/A`, which it returns for what it
    does not know, is no number: the quantity is dropped."""

    def is_accelerator(self, card: Path, kind: str) -> bool:
        """Distinguish cards from displays of processors, and from a server's old PCI display."""
        memory = read(card / "mem_info_vram_total")  # missing if the kernel is older than a card
        is_large = not memory or int(memory) >= INTEGRATED_BYTES
        is_display = kind in DISPLAYS and (card / "max_link_speed").exists()
        return kind == PROCESSING or (is_display and is_large)

    def model(self, card: Path, root: Path) -> str:  # noqa: ARG002 - the card has it
        """Return what the kernel calls a device, if it says so."""
        return read(card / "product_name")

    def handles(self, devices: Mapping[str, Identity], salt: str) -> Mapping[str, Any]:  # noqa: ARG002 - there is no UUID
        """Return the device at each address on the PCI bus."""
        with contextlib.redirect_stdout(None):  # it prints where there is no driver
            smi: Any = importlib.import_module("amdsmi")
        smi.amdsmi_init()
        cards = [Card(smi, gpu) for gpu in smi.amdsmi_get_processor_handles()]
        wanted = [address for _, address in devices.values()]
        found: dict[str, Card | str] = {}
        for device, (_, address) in devices.items():
            here = [card for card in cards if address and _address(card) == address]
            parts = wanted.count(address)
            told = counted(parts, "device")
            counts = f"at its PCI address torch has {told}, amdsmi {len(here)}"
            found[device] = here[0] if parts == len(here) == 1 else counts
        return found


def _address(card: Card) -> str | None:
    """Return where a device is, without the function number, which torch does not have."""
    try:
        return str(card.get("gpu_device_bdf")).lower().rpartition(".")[0]
    except Exception:  # noqa: BLE001 - lost, or of an older library: others may be found
        return None
