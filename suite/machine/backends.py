# SPDX-License-Identifier: MIT
"""Backends that reach torch from other packages, found without torch.

A package names its backend in the entry points `torch.backends`, and `import torch` loads it. If it
fails to load, torch cannot be imported at all.
"""

import re
from collections.abc import Mapping
from importlib import metadata
from typing import NamedTuple

GROUP = "torch.backends"
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
"""The variable that switches the loading of backends off: any value but 1 does."""
MEND_FAILURE = (
    "install the release of that package that its maker names for this release of PyTorch; "
    f"or measure without it: {AUTOLOAD}=0 frobench run --devices cpu"
)
_FAILED = re.compile(r"Failed to load the backend extension: (.+?)\. You can disable")
_CAUSE = re.compile(r"^(\w[^\n]*)\n+The above exception was the direct cause", re.MULTILINE)


class Backend(NamedTuple):
    """A backend by the name of its entry point, and the package that brings it."""

    name: str
    package: str
    version: str


def installed() -> list[Backend]:
    """Return the backends that installed packages bring, each once, by name."""
    entries = {
        Backend(entry.name, entry.dist.name, entry.dist.version)
        for entry in metadata.entry_points(group=GROUP)
        if entry.dist is not None
    }
    return sorted(entries)


def switched_off(environ: Mapping[str, str]) -> bool:
    """Tell whether torch may load no backend."""
    return environ.get(AUTOLOAD, "1") != "1"


def failure(output: str) -> str | None:
    """Return which backend failed to load and why, by what Python printed; else `None`."""
    failed, cause = _FAILED.search(output), _CAUSE.search(output)
    if failed is None:
        return None
    name, why = failed[1], cause[1] if cause else "no cause is told"
    packages = [f"{each.package} {each.version}" for each in installed() if each.name == name]
    brought = f" of {' and '.join(packages)}" if packages else ""
    return f"the backend {name}{brought} cannot be loaded: {why}"
