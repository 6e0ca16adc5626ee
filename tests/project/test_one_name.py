# SPDX-License-Identifier: MIT
"""Frobench is one package, `frobench`, and is in the way of no project's own packages."""

import json
import os
import shutil
import zipfile
from functools import partial
from pathlib import Path

import pytest

from frobench.suite.project import git
from frobench.suite.stored import store
from tests.instruments.processes import git_project
from tests.instruments.processes.command import ROOT, program, python

BENCHMARK = '''# SPDX-License-Identifier: MIT
"""How long does a product take?"""

import benchmarks
import reports
import suite
from frobench import Measure


def bench_product(measure: Measure) -> None:
    """How long does a product of three numbers take?"""
    measure(lambda: suite.FACTOR * reports.FACTOR * benchmarks.FACTOR)
'''
CONFTEST = """
import json, sys
from pathlib import Path

import frobench.suite.checkout as there

HOMES = (there.SUITE, there.REPORTS, there.BENCHMARKS, Path(there.CHECKOUT, "frobench"))

def pytest_unconfigure():
    modules = {}
    for name, module in sys.modules.items():
        path = Path(getattr(module, "__file__", None) or "/").resolve()
        if name != "__main__" and any(map(path.is_relative_to, HOMES)):
            modules.setdefault(str(path), []).append(name)
    Path("modules.json").write_text(json.dumps(modules))
"""
BUILD = "from setuptools import build_meta; build_meta.build_wheel('.')"


@pytest.fixture
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the wheel, built from a copy of what is installed."""
    clone, folder = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("wheel")
    leave_out = shutil.ignore_patterns("__pycache__")
    for name in ("frobench", "suite", "reports", "benchmarks"):
        shutil.copytree(ROOT / name, clone / name, symlinks=True, ignore=leave_out)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone)
    python("-c", BUILD, folder=clone)
    (built,) = clone.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project whose packages have the names of Frobench's folders."""
    for number, name in enumerate(("suite", "reports", "benchmarks"), start=2):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"FACTOR = {number}\n")
    (tmp_path / "measured").mkdir()
    (tmp_path / "measured" / "bench_product.py").write_text(BENCHMARK)
    (tmp_path / "measured" / "conftest.py").write_text(CONFTEST)
    return tmp_path


def call(module: str, *words: object, project: Path, path: Path) -> str:
    """Run a module in a project, with a folder in Python's path; return what it prints."""
    others = ("PYTEST_", "PYTHONPATH")  # pytest has variables of its own here
    variables = {key: text for key, text in os.environ.items() if not key.startswith(others)}
    variables |= {"FROBENCH_LOCK": str(project / "lock"), "PYTHONPATH": str(path)}
    done = program(module, words, project, variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules(project: Path, home: Path) -> dict[str, list[str]]:
    """Return the name of each of Frobench's modules in the last launch, by file: it has one."""
    found: dict[str, list[str]] = json.loads((project / "modules.json").read_bytes())
    assert len(found) > 50
    assert all(Path(file).is_relative_to(home.resolve()) for file in found)
    assert [names for names in found.values() if len(names) > 1] == []
    return found


def test_a_project_with_packages_of_those_names_measures_itself(wheel: Path, project: Path) -> None:
    table = 'benchmarks = "measured"\nlaunches = 1\nprofile = "quick"\nresults = "speed"\n'
    (project / "pyproject.toml").write_text(f"[tool.frobench]\n{table}")
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "Measure"]):
        git_project.git(project, *words)
    frobench = partial(call, "frobench", project=project, path=wheel)
    file = frobench("run").splitlines()[-1]
    assert modules(project, wheel)
    stored = store.read(project / file)
    assert file.startswith("speed/")
    assert stored.frobench.exercises["product"].question == "How long does a product take?"
    assert stored.frobench.project == git.facts(project)
    assert "1 case measured" in frobench("show", file)
    frobench("report")
    (page,) = (project / "site").glob(f"*/{Path(file).stem}.html")
    assert "Product" in page.read_text("utf-8")
    asked = ("pytest", "measured", "--benchmark-columns=median")
    timed = call(*asked, project=project, path=wheel).splitlines()
    assert len([line for line in timed if line.startswith("bench_product ")]) == 1
    assert modules(project, wheel)
