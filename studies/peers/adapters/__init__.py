# SPDX-License-Identifier: MIT
"""The tools: every module here offers a `TOOL`."""

from importlib import import_module
from pkgutil import iter_modules

from studies.peers.tool import Tool

OURS = "Frobench"


def tools() -> list[Tool]:
    """Return all tools, Frobench first."""
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    found: list[Tool] = [module.TOOL for module in modules]
    return sorted(found, key=lambda tool: (tool.name != OURS, tool.name.lower()))
