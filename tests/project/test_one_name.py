# SPDX-License-Identifier: MIT
"""Frobench is one package, `frobench`, and is in the way of no project's own packages."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from frobench.suite.project import git
from frobench.suite.stored import store
from tests.instruments.processes import git_project
from tests.instruments.processes.command import ROOT, python
from tests.instruments.processes.project_files import planted

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
    subprocess.run([sys.executable, "-c", BUILD], cwd=clone, capture_output=True, check=True)
    (built,) = clone.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder)
    return folder


def call(command: list[object], project: Path, path: Path) -> str:
    """Call a command in a project, with a folder in Python's path; return what it prints."""
    others = ("PYTEST_", "PYTHONPATH")  # pytest has variables of its own here
    variables = {key: text for key, text in os.environ.items() if not key.startswith(others)}
    variables["FROBENCH_LOCK"] = str(project / "lock")
    done = python(*command, folder=project, variables=variables | {"PYTHONPATH": str(path)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules(project: Path, home: Path) -> dict[str, list[str]]:
    """Return the name of each of Frobench's modules in the last launch, by file: it has one."""
    found: dict[str, list[str]] = json.loads((project / "modules.json").read_bytes())
    assert len(found) > 50
    assert all(Path(file).is_relative_to(home.resolve()) for file in found)
    assert [names for names in found.values() if len(names) > 1] == []
    return found


def test_a_project_with_packages_of_those_names_measures_itself_from_the_wheel(
    wheel: Path, tmp_path: Path
) -> None:
    table = 'benchmarks = "measured"\nlaunches = 1\nprofile = "quick"\nresults = "speed"'
    folders = {"suite": 2, "reports": 3, "benchmarks": 4}
    project = planted(
        git_project.repository(tmp_path / "project"),
        {f"{name}/__init__.py": f"FACTOR = {number}" for name, number in folders.items()},
        {"measured/bench_product.py": BENCHMARK, "measured/conftest.py": CONFTEST},
        {"pyproject.toml": f"[tool.frobench]\n{table}"},
    )
    git_project.commit(project, "Measure")
    file = call(["-m", "frobench", "run"], project, wheel).splitlines()[-1]
    assert modules(project, wheel)
    stored = store.read(project / file)
    assert file.startswith("speed/")
    assert stored.frobench.exercises["product"].question == "How long does a product take?"
    assert stored.frobench.project == git.facts(project)
    assert "1 case measured" in call(["-m", "frobench", "show", file], project, wheel)
    call(["-m", "frobench", "report"], project, wheel)
    (page,) = (project / "site").glob(f"*/{Path(file).stem}.html")
    assert "Product" in page.read_text("utf-8")
    timed = call(["-m", "pytest", "measured", "--benchmark-columns=median"], project, wheel)
    assert [line.split()[0] for line in timed.splitlines() if line.startswith("bench_")] == [
        "bench_product"
    ]
    assert modules(project, wheel)
