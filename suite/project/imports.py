# SPDX-License-Identifier: MIT
"""Where a process has imported a project's code from."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from frobench.suite.checkout import BENCHMARKS, CHECKOUT, SUITE
from frobench.suite.project import git

INSTALLED = {"site-packages", "dist-packages"}
"""Folders that packages are installed into."""
NO_SOURCES = {"docs", "examples", "test", "tests", "third_party", "vendor"}
"""Folders whose packages may have the names of others."""


class Foreign(Struct, frozen=True):
    """A package of a project that was imported from elsewhere.

    folder : the one that it was imported from
    root : the one in the project that it should have been imported from, relative to the project
    """

    name: str
    folder: str
    root: str


def imported(paths: Iterable[str]) -> int:
    """Return the number of modules that this process imported from some folders."""
    folders = [Path(path).resolve() for path in paths]
    return sum(any(map(file.resolve().is_relative_to, folders)) for _, file in _modules())


def foreign(project: Path, benchmarks: Path, *, installed: bool = False) -> Foreign | None:
    """Return a package that a project has at any depth and this process imported from elsewhere.

    What lies among the benchmarks is theirs.

    installed : accept an installed copy whose files are those of the project
    """
    packages = _packages(project)
    own = (BENCHMARKS, SUITE, CHECKOUT / "frobench")
    folders = (project.resolve(), benchmarks.resolve(), *own)
    for name, file in _modules():
        parts, path = name.split("."), file.resolve()
        beginnings = (".".join(parts[: end + 1]) for end in range(len(parts)))
        package = next((name for name in beginnings if name in packages), None)
        if package is None or any(map(path.is_relative_to, folders)):
            continue
        if installed and INSTALLED & {*path.parts} and _is_copy(parts, path, packages[package]):
            continue
        folder = path.parents[len(parts) - (path.name != "__init__.py")]
        root = packages[package][0].relative_to(project)
        return Foreign(package, str(folder), str(root))
    return None


def foreign_code(project: Path, benchmarks: Path) -> str | None:
    """Say which package of a project this process imported from elsewhere, and what to do."""
    if (found := foreign(project, benchmarks, installed=True)) is None:
        return None
    problem = f"{found.name} was imported from {found.folder}, and not from the project, {project}"
    if Path(found.folder) == benchmarks.resolve().parent:
        return (
            f"{problem}: pytest puts the folder above the benchmarks first if it has a "
            "conftest.py, or they an __init__.py. Copy the folder of benchmarks elsewhere, and "
            "let --benchmarks name the copy"
        )
    root = project / found.root
    return f"{problem}; install that one (`pip install .`), or set PYTHONPATH={root}"


def _packages(project: Path) -> Mapping[str, Sequence[Path]]:
    """Return the packages and modules that are tracked, each with the folders that hold it.

    A package in folders that are none, such as `python/company/mylib`, has each name that it may
    be imported by: `mylib` and `company.mylib`.
    """
    tracked = (git.ask(project, "ls-files", "-z", "*.py") or "").split("\0")
    files = [PurePosixPath(name) for name in tracked if name]
    packages = {file.parent for file in files if file.name == "__init__.py" and file.parent.name}
    found: dict[str, list[Path]] = {}
    for file in files:
        place = file.parent if file.parent in packages else file.with_suffix("")
        parts = place.parts
        if not packages.isdisjoint(place.parents) or NO_SOURCES & {*parts[:-1]}:
            continue
        for begin in range(len(parts)):
            if parts[begin] not in sys.stdlib_module_names and place.name != "conftest":
                roots = found.setdefault(".".join(parts[begin:]), [])
                roots.append(project.joinpath(*parts[:begin]))
    return found


def _is_copy(parts: Sequence[str], file: Path, roots: Iterable[Path]) -> bool:
    """Tell whether an installed module is as the project has it, if it has it.

    A file of the version may be written anew when the project is installed.
    """
    own = [root.joinpath(*parts) for root in roots]
    own = [path / file.name if file.stem == "__init__" else path.with_suffix(".py") for path in own]
    texts = [path.read_bytes() for path in own if path.is_file()]
    written = file.suffix != ".py" or "version" in file.stem
    return written or not texts or file.read_bytes() in texts


def _modules() -> Iterator[tuple[str, Path]]:
    """Yield the modules of this process by name, each with its file."""
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and Path(file).is_absolute():
            yield name, Path(file)
