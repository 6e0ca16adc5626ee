# SPDX-License-Identifier: MIT
"""Benchmarks of PyTorch on the CPU and on GPUs, with intervals: what a benchmark is written with.

Nothing is imported until one of the names below is asked for, so that stored runs can be read
without torch. `suite`, `reports` and `benchmarks` are subpackages; in a clone they are links to the
folders of these names.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frobench.suite.kit.abilities import capture as capture
    from frobench.suite.kit.abilities import compiled as compiled
    from frobench.suite.kit.abilities import needed as needed
    from frobench.suite.kit.abilities import pinned as pinned
    from frobench.suite.kit.abilities import precision as precision
    from frobench.suite.kit.cases import cases as cases
    from frobench.suite.kit.cases import cpu_twins as cpu_twins
    from frobench.suite.kit.cases import on_one_machine as on_one_machine
    from frobench.suite.kit.check_result import close_to as close_to
    from frobench.suite.kit.check_result import freivalds as freivalds
    from frobench.suite.kit.check_result import same_bytes as same_bytes
    from frobench.suite.kit.check_result import worst as worst
    from frobench.suite.kit.device import Device as Device
    from frobench.suite.kit.device import all_devices as all_devices
    from frobench.suite.kit.device import try_device as try_device
    from frobench.suite.kit.group import Group as Group
    from frobench.suite.kit.lanes import Lane as Lane
    from frobench.suite.kit.search_strategy import Shape as Shape
    from frobench.suite.kit.workers import Worker as Worker
    from frobench.suite.kit.workers import together as together
    from frobench.suite.launch.case import Measure as Measure
    from frobench.suite.launch.search import ShapeSearch as ShapeSearch
    from frobench.suite.stored.types import Check as Check
    from frobench.suite.stored.types import Work as Work

__version__ = "1.0.0"

_NAMES = {
    "frobench.suite.kit.abilities": ("capture", "compiled", "needed", "pinned", "precision"),
    "frobench.suite.kit.cases": ("cases", "cpu_twins", "on_one_machine"),
    "frobench.suite.kit.check_result": ("close_to", "freivalds", "same_bytes", "worst"),
    "frobench.suite.kit.device": ("Device", "all_devices", "try_device"),
    "frobench.suite.kit.group": ("Group",),
    "frobench.suite.kit.lanes": ("Lane",),
    "frobench.suite.kit.search_strategy": ("Shape",),
    "frobench.suite.kit.workers": ("Worker", "together"),
    "frobench.suite.launch.case": ("Measure",),
    "frobench.suite.launch.search": ("ShapeSearch",),
    "frobench.suite.stored.types": ("Check", "Work"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}
__all__ = tuple(_HOME)


def __getattr__(name: str) -> object:
    """Load a public name from its home module on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'frobench' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
