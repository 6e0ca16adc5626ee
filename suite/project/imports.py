# SPDX-License-Identifier: MIT
"""Where a process has imported a project's code from."""

import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from suite.checkout import CHECKOUT

INSTALLED = {"site-packages", "dist-packages"}
"""Folders that packages are installed into."""


def imported(paths: Iterable[str], kept_out: str) -> tuple[int, list[str]]:
    """Return the number of modules from folders, and names of those from a tree to be kept out.

    What is installed counts for neither, although an environment may lie in the project's folder.
    """
    first, tree = [Path(path).resolve() for path in paths], Path(kept_out).resolve()
    schemes = map(sysconfig.get_path, ("stdlib", "purelib", "platlib"))
    installed = [Path(path).resolve() for path in schemes]
    inside, outside = 0, []
    for name, file in _modules():
        path = file.resolve()
        if any(path.is_relative_to(folder) for folder in first):
            inside += 1
        elif path.is_relative_to(tree) and not any(map(path.is_relative_to, installed)):
            outside.append(name)
    return inside, sorted(outside)[:5]


def foreign_code(project: Path, benchmarks: Path) -> str | None:
    """Say which package of a project this process imported from elsewhere, and what to do.

    What is installed counts as the project's, and what lies among the benchmarks as theirs.
    """
    for name, file in _modules():
        if "." in name or name == "conftest":
            continue
        path = file.resolve()
        own = [
            file
            for folder in (project / "src", project)
            for file in (folder / name / "__init__.py", folder / f"{name}.py")
            if file.exists()
        ]
        folders = [project.resolve(), benchmarks.resolve(), CHECKOUT]
        folders += [file.resolve().parent for file in own]
        if not own or INSTALLED & {*path.parts} or any(map(path.is_relative_to, folders)):
            continue
        folder = path.parent.parent if path.name == "__init__.py" else path.parent
        problem = f"{name} was imported from {folder}, and not from the project, {project}"
        if folder == benchmarks.resolve().parent:
            return (
                f"{problem}: pytest puts the folder above the benchmarks first if it has a "
                "conftest.py, or they an __init__.py. Copy the folder of benchmarks elsewhere, and "
                "let --benchmarks name the copy"
            )
        return f"{problem}; install that one (`pip install .`), or let PYTHONPATH name its folder"
    return None


def _modules() -> Iterator[tuple[str, Path]]:
    """Yield the modules of this process by name, each with its file."""
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and Path(file).is_absolute():
            yield name, Path(file)
