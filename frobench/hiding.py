# SPDX-License-Identifier: MIT
"""Folders and modules of others that hide a package of Frobench."""

from importlib.machinery import ModuleSpec
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
"""The folder that this package, `suite/`, `reports/` and `benchmarks/` lie in."""


def hidden(spec: ModuleSpec | None) -> str | None:
    """Say what Python would import by this spec instead of a package of Frobench, if it would."""
    if spec is None:
        return None
    folders = spec.submodule_search_locations or [str(spec.origin)]
    if (path := Path(folders[0]).resolve()) == HOME / spec.name:
        return None
    return (
        f"{path} hides Frobench's own package `{spec.name}`: rename it, or call frobench where "
        "Python does not find it (in a clone of Frobench: `python -m frobench`)"
    )
