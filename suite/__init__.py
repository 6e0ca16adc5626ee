# SPDX-License-Identifier: MIT
"""The harness: everything between a benchmark body and a stored number.

The names below are what a benchmark needs. They are loaded on first use, so that
`suite.model`, `suite.store` and `suite.statistics` stay importable without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suite.abilities import capture as capture
    from suite.abilities import compiled as compiled
    from suite.abilities import needed as needed
    from suite.abilities import pinned as pinned
    from suite.abilities import precision as precision
    from suite.devices import Device as Device
    from suite.devices import all_devices as all_devices
    from suite.devices import try_device as try_device
    from suite.grids import cases as cases
    from suite.grids import cpu_twins as cpu_twins
    from suite.lanes import Lane as Lane
    from suite.measuring import Measure as Measure
    from suite.model import Check as Check
    from suite.model import Work as Work
    from suite.searches import ShapeSearch as ShapeSearch
    from suite.shapes import Shape as Shape
    from suite.verify import close_to as close_to
    from suite.verify import freivalds as freivalds
    from suite.verify import same_bytes as same_bytes
    from suite.verify import worst as worst
    from suite.workers import Worker as Worker
    from suite.workers import together as together

_HOME = {
    "Check": "suite.model",
    "Device": "suite.devices",
    "Lane": "suite.lanes",
    "Measure": "suite.measuring",
    "Shape": "suite.shapes",
    "ShapeSearch": "suite.searches",
    "Work": "suite.model",
    "Worker": "suite.workers",
    "all_devices": "suite.devices",
    "capture": "suite.abilities",
    "cases": "suite.grids",
    "close_to": "suite.verify",
    "compiled": "suite.abilities",
    "cpu_twins": "suite.grids",
    "freivalds": "suite.verify",
    "needed": "suite.abilities",
    "pinned": "suite.abilities",
    "precision": "suite.abilities",
    "same_bytes": "suite.verify",
    "together": "suite.workers",
    "try_device": "suite.devices",
    "worst": "suite.verify",
}

__all__ = (
    "Check",
    "Device",
    "Lane",
    "Measure",
    "Shape",
    "ShapeSearch",
    "Work",
    "Worker",
    "all_devices",
    "capture",
    "cases",
    "close_to",
    "compiled",
    "cpu_twins",
    "freivalds",
    "needed",
    "pinned",
    "precision",
    "same_bytes",
    "together",
    "try_device",
    "worst",
)


def __getattr__(name: str) -> object:
    """Load a public name from its home module on first use (PEP 562)."""
    if name not in _HOME:
        msg = f"module 'suite' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_HOME[name]), name)
