# SPDX-License-Identifier: MIT
"""The harness: everything between a benchmark body and a stored number.

The names below are what a benchmark needs. They are loaded on first use, so that
`suite.stored.run`, `suite.stored.store` and `suite.statistics` stay importable without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suite.kit.abilities import capture as capture
    from suite.kit.abilities import compiled as compiled
    from suite.kit.abilities import needed as needed
    from suite.kit.abilities import pinned as pinned
    from suite.kit.abilities import precision as precision
    from suite.kit.cases import cases as cases
    from suite.kit.cases import cpu_twins as cpu_twins
    from suite.kit.cases import on_one_machine as on_one_machine
    from suite.kit.check_result import close_to as close_to
    from suite.kit.check_result import freivalds as freivalds
    from suite.kit.check_result import same_bytes as same_bytes
    from suite.kit.check_result import worst as worst
    from suite.kit.device import Device as Device
    from suite.kit.device import all_devices as all_devices
    from suite.kit.device import try_device as try_device
    from suite.kit.group import Group as Group
    from suite.kit.lanes import Lane as Lane
    from suite.kit.search_strategy import Shape as Shape
    from suite.kit.workers import Worker as Worker
    from suite.kit.workers import together as together
    from suite.launch.measure import Measure as Measure
    from suite.launch.search import ShapeSearch as ShapeSearch
    from suite.stored.run import Check as Check
    from suite.stored.run import Work as Work

_NAMES = {
    "suite.kit.abilities": ("capture", "compiled", "needed", "pinned", "precision"),
    "suite.kit.cases": ("cases", "cpu_twins", "on_one_machine"),
    "suite.kit.check_result": ("close_to", "freivalds", "same_bytes", "worst"),
    "suite.kit.device": ("Device", "all_devices", "try_device"),
    "suite.kit.group": ("Group",),
    "suite.kit.lanes": ("Lane",),
    "suite.kit.search_strategy": ("Shape",),
    "suite.kit.workers": ("Worker", "together"),
    "suite.launch.measure": ("Measure",),
    "suite.launch.search": ("ShapeSearch",),
    "suite.stored.run": ("Check", "Work"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}
__all__ = tuple(_HOME)


def __getattr__(name: str) -> object:
    """Load a public name from its home module on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'suite' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
