# SPDX-License-Identifier: MIT
"""What an accelerator without a datasheet can do at most, by its generation; and laptops' chips.

What a multiprocessor does in a clock belongs to the generation: the most that any device of it does
by the catalog. The tests compare that with NVIDIA's CUDA C++ Programming Guide.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from frobench.suite.datasheets import catalog
from frobench.suite.datasheets.catalog import PATH, PRECISIONS, Figure, rows
from frobench.suite.stored.types import Accelerator

COLUMNS = ("devices", "capability")
CAPABILITIES = {
    pattern: known for _, (pattern, known) in rows(PATH.with_name("capabilities.csv"), COLUMNS)
}
"""Capabilities by patterns of the catalog's names. Sources: NVIDIA, CUDA GPUs; AMD, ROCm docs, GPU
hardware specifications."""
SEEN_BOOST = 1.2
"""Rate of a product relative to the peak at the datasheet's clock, at most: 1.16 is published."""
_LAPTOP = re.compile(
    r"\b(Laptop|Max-Q|Max-P|Mobile|Notebook)\b"
    r"|\bMX\d{3}\b|\b\d{3}MX\b"  # GeForce MX450, 940MX
    r"|\b[A-Z]?\d{3,4}M\b"  # GeForce GTX 1060M, Quadro M2000M, Radeon 780M, Arc A370M
    r"|\bRX \d{4}S\b|\b8\d{3}S\b"  # Radeon RX 7600S, Radeon 8060S
    r"|\bGTX 1650 Ti\b"  # of which no card for a desktop was made
)
_DESKTOP = re.compile(r"\bMax-Q Workstation\b")
"""RTX PRO 6000 Blackwell Max-Q Workstation Edition, a card of 300 W."""


class Bound(NamedTuple):
    """A rate that the units of a device allow at their clock.

    known : whether the catalog has the generation; else these are the vendor's best units
    """

    rate: float
    known: bool


def is_laptop(name: str) -> bool:
    """Tell whether a device of this name is a laptop's, whose power limit moves while it works.

    Some laptops of the GeForce 10, 16 and 20 series have the name of the desktop's card.
    """
    return _LAPTOP.search(name) is not None and _DESKTOP.search(name) is None


def capability(device: str) -> str | None:
    """Return the capability of a device by its name in the catalog."""
    names = (known for pattern, known in CAPABILITIES.items() if re.search(pattern, device))
    return next(names, None)


def plain(stated: str | None) -> str:
    """Return a capability without the features that ROCm appends: gfx942:sramecc+:xnack-."""
    return (stated or "").partition(":")[0]


def peak(accelerator: Accelerator, precision: str, clock_hz: float | None) -> Bound | None:
    """Return what a device's multiprocessors can do in a precision; `None` where none are known.

    precision : one of `PRECISIONS`, in place of which a generation without it has its fastest
    clock_hz : the highest that is known; else that of the catalog's devices times `SEEN_BOOST`
    """
    units = accelerator.multiprocessors
    if units is None or units < 1:
        return None
    generation, vendors = _alike(accelerator)
    for names in ([precision], [name for name in PRECISIONS if name != "int8"]):
        for alike in generation or [vendors]:
            rates = [_of_a_unit(figures, name, clock_hz) for figures in alike for name in names]
            if rate := max(rates, default=0.0):
                return Bound(units * rate, bool(generation))
    return None


def last_level_cache(accelerator: Accelerator) -> float | None:
    """Return the bytes of the largest cache that a device of its generation has, where known."""
    generation, _ = _alike(accelerator)
    largest = (max(catalog.last_level_cache(each) or 0 for each in alike) for alike in generation)
    return next(filter(None, largest), None)


def _of_a_unit(figures: Mapping[str, Figure], precision: str, clock_hz: float | None) -> float:
    """Return what a multiprocessor of a listed device does in a second; 0 where it is not known."""
    figure, units = figures.get(f"peak_{precision}"), figures.get("multiprocessors")
    if figure is None or units is None:
        return 0.0
    rate, boost = figure.value / units.value, figures.get("boost_clock")
    if clock_hz is None:
        return SEEN_BOOST * rate
    own = figure.clock_hz or (boost and boost.value)
    return rate * clock_hz / own if own else 0.0


Listed = list[Mapping[str, Figure]]


def _alike(accelerator: Accelerator) -> tuple[list[Listed], Listed]:
    """Return the listed devices of the same capability, of its major version, and of the vendor."""
    stated = plain(accelerator.capability)
    is_amd = stated.startswith("gfx") or re.search("AMD|Radeon|Instinct", accelerator.name)
    vendors = {"xpu": "Intel", "mps": "Apple"}
    return _listed(vendors.get(accelerator.type, "AMD" if is_amd else "NVIDIA"), stated)


@cache
def _listed(vendor: str, stated: str) -> tuple[list[Listed], Listed]:
    listed = catalog.devices()
    ours = [figures for figures in listed.values() if next(iter(figures.values())).vendor == vendor]
    generation = [
        [
            figures
            for device, figures in listed.items()
            if version(capability(device) or "") == version(stated)
        ]
        for version in (str, _major)
        if version(stated)
    ]
    return [alike for alike in generation if alike], ours


def _major(stated: str) -> str:
    """Return the major version of a capability: 8 of 8.6, gfx11 of gfx1151."""
    return stated[:-2] if stated.startswith("gfx") else stated.partition(".")[0]
