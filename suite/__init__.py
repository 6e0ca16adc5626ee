# SPDX-License-Identifier: MIT
"""The harness: everything between a benchmark body and a stored number.

The names below are what a benchmark needs. They are loaded on first use, so that
`suite.model`, `suite.store` and `suite.statistics` stay importable without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suite.devices import Device as Device
    from suite.devices import all_devices as all_devices
    from suite.devices import try_device as try_device
    from suite.grids import cases as cases
    from suite.lanes import Lane as Lane
    from suite.model import Work as Work
    from suite.plugin import Measure as Measure

_HOME = {
    "Device": "suite.devices",
    "Lane": "suite.lanes",
    "Measure": "suite.plugin",
    "Work": "suite.model",
    "all_devices": "suite.devices",
    "cases": "suite.grids",
    "try_device": "suite.devices",
}

__all__ = (
    "Device",
    "Lane",
    "Measure",
    "Work",
    "all_devices",
    "cases",
    "try_device",
)


def __getattr__(name: str) -> object:
    """Load a public name from its home module on first use (PEP 562)."""
    if name not in _HOME:
        msg = f"module 'suite' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_HOME[name]), name)
