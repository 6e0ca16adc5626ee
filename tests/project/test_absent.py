# SPDX-License-Identifier: MIT
"""Where a package is missing one is told which, and `docs/offline.md` names all that one needs."""

import ast
import os
import shlex
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.instruments.processes.command import ROOT, frobench
from tests.project.test_project import PROJECT, text

RESULTS = ROOT / "results"
COMMAND = "python3 -m pip download "
BROUGHT_ALREADY = {"torch", "numpy"}
"""By a machine that has a torch of its own."""
BLOCKER = """
import os, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == os.environ["ABSENT"]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""


@pytest.mark.parametrize(
    ("verb", "module", "package"),
    [
        (("run",), "click", "click"),
        (("validate", RESULTS), "msgspec", "msgspec"),
        (("doctor",), "pynvml", "nvidia-ml-py"),
        (("run", "--devices", "cpu"), "pluggy", "pluggy"),  # seen by a launch alone
        (("report", RESULTS), "pyarrow", "pyarrow"),
    ],
)
def test_what_is_missing_is_named_in_one_line(
    tmp_path: Path, verb: tuple[object, ...], module: str, package: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCKER)
    before = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join([str(tmp_path), str(ROOT), before])
    environment = {"ABSENT": module, "PYTHONPATH": paths}
    said = frobench(*verb, folder=tmp_path, environment=environment)
    assert "Traceback" not in said.stderr
    line = said.stderr.splitlines()[-1]
    assert line.startswith("frobench: ")
    assert f" has no package {package}; " in line
    assert "docs/offline.md" in line
    assert said.returncode == 3


def test_the_wheels_to_carry_are_those_that_the_code_imports_and_what_these_need() -> None:
    measuring, pages = downloaded("docs/offline.md")
    stated = {Requirement(need).name for need in PROJECT["project"]["dependencies"]}
    imported = distributions(imports([ROOT / "frobench", ROOT / "suite", ROOT / "benchmarks"]))
    assert measuring == needed(imported & stated)
    assert pages == needed(stated) - measuring


def downloaded(page: str) -> list[set[str]]:
    """Return the packages that each `pip download` of a page names."""
    lines = text(page).replace("\\\n", " ").splitlines()
    commands = [shlex.split(line) for line in lines if line.startswith(COMMAND)]
    return [{word for word in command[4:] if not word.startswith("-")} for command in commands]


def imports(places: Iterable[Path]) -> set[str]:
    """Return the top-level modules that some files import, wherever they do."""
    files = [
        file for place in places for file in ([place] if place.is_file() else place.rglob("*.py"))
    ]
    return {
        name.partition(".")[0] for file in files for name in _imports(ast.parse(file.read_text()))
    }


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def distributions(modules: set[str]) -> set[str]:
    """Return the packages that modules come with, as far as they are installed."""
    homes = metadata.packages_distributions()
    return {canonicalize_name(home) for module in modules for home in homes.get(module, [])}


def needed(packages: Iterable[str]) -> set[str]:
    """Return packages with what they need in turn, but for what is there already."""
    seen: set[str] = set()
    todo = list(packages)
    while todo:
        name = canonicalize_name(todo.pop())
        if name not in seen | BROUGHT_ALREADY:
            seen.add(name)
            needs = [Requirement(need) for need in metadata.requires(name) or []]
            todo += [
                need.name
                for need in needs
                if not need.marker or need.marker.evaluate({"extra": ""})
            ]
    return seen
