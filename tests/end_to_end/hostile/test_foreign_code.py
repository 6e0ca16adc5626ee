# SPDX-License-Identifier: MIT
"""A run that imports a project's code from elsewhere is refused: it would be of another commit."""

import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from frobench.suite.project.imports import foreign_code
from tests.instruments.processes.git_project import commit, git, repository
from tests.instruments.processes.project_files import planted
from tests.instruments.processes.warm import frobench

BENCHMARK = '''"""How long does it take?"""
import mylib
from frobench import Measure, Work, cases

@cases("quick", n=[1])
def bench_it(measure: Measure, n: int) -> None:
    """Do it."""
    measure(lambda: sum(range(mylib.COST)), work=Work(items=n))
'''


def imported(monkeypatch: pytest.MonkeyPatch, name: str, path: Path) -> None:
    """Let this process have imported a module from a file."""
    module = ModuleType(name)
    module.__file__ = str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    monkeypatch.setitem(sys.modules, name, module)


pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with the package `mylib`, whose module `mylib_extra` lies beside it."""
    tree = repository(tmp_path / "project")
    (tree / "src" / "mylib").mkdir(parents=True)
    commit(tree, "Begin", mylib_extra="", **{"src/mylib/__init__": ""})
    return tree


@pytest.mark.parametrize("place", ["src/mylib", "python/mylib", "lib/deep/mylib"])
@pytest.mark.parametrize("there", ["site-packages", "other/src"])
def test_a_package_at_any_depth_must_be_the_projects_and_the_option_that_mends_it_is_named(
    place: str, there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = planted(repository(tmp_path / "project"), {f"{place}/__init__.py": "COST = 2"})
    (tree / "docs").mkdir()
    commit(tree, "Begin", projinfo="", **{"docs/conf": "", f"{Path(place).parent}/beside": ""})
    older = tmp_path / there / "mylib" / "__init__.py"
    imported(monkeypatch, "projinfo", tree / "projinfo.py")
    imported(monkeypatch, "mylib", older)
    message = foreign_code(tree, tree / "benchmarks") or ""
    named = f"mylib was imported from {tmp_path / there}, and not from the project, {tree}"
    assert named in message
    assert message.endswith(f"or set PYTHONPATH={(tree / place).parent}")
    older.write_text("COST = 2\n")  # as an installation of this commit has it
    assert (foreign_code(tree, tree / "benchmarks") is None) == (there == "site-packages")


@pytest.mark.parametrize(
    "path",
    [
        "project/src/mylib/__init__.py",
        "project/build/mylib/__init__.py",
        "python/site-packages/mylib/__init__.py",
        "other/benchmarks/mylib.py",
    ],
)
def test_what_is_the_projects_or_installed_or_a_helper_is_not_foreign(
    path: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(monkeypatch, "mylib", tmp_path / path)
    assert foreign_code(project, tmp_path / "other" / "benchmarks") is None


def test_a_base_is_never_measured_with_the_code_of_the_change(tmp_path: Path) -> None:
    change = planted(repository(tmp_path / "change"), {"benchmarks/bench_it.py": BENCHMARK})
    commit(change, "Begin", mylib="COST = 1\n", conftest="")
    git(change, "worktree", "add", "--quiet", "--detach", str(tmp_path / "base"))
    commit(change, "Change", mylib="COST = 2\n")
    settings = ("--profile", "quick", "--devices", "cpu", "--launches", "1")
    options = ("--benchmarks", change / "benchmarks", "--project", ".", *settings)
    done = frobench("run", *options, folder=tmp_path / "base")
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines()[-1].startswith(
        f"frobench: mylib was imported from {change}, and not from the project, {tmp_path}/base"
    )
    assert not [*(tmp_path / "base" / "results").rglob("*.json")]
