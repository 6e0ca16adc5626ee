# SPDX-License-Identifier: MIT
"""A folder of the user's with the name of one of Frobench's packages is named, never imported."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.instruments.processes.command import ROOT, TRICKY
from tests.instruments.processes.project_files import stored_runs

FILE = stored_runs()[-1]
SCRIPT = "import sys\nfrom frobench import main\nsys.exit(main())\n"
"""What an installation puts beside Python."""
TRAP = "raise RuntimeError('this module is not of Frobench')\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with Frobench's modules and its command, as an installation has them."""
    folder = tmp_path_factory.mktemp("installed")
    leave = shutil.ignore_patterns("__pycache__")
    for package in ("frobench", "suite", "reports", "benchmarks"):
        shutil.copytree(ROOT / package, folder / package, ignore=leave)
    (folder / "bin").mkdir()
    (folder / "bin" / "frobench").write_text(SCRIPT)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return an empty folder of a user's."""
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def call(installed: Path, project: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Call Python in the user's project, with Frobench on its path as an installation has it."""
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def refused(done: subprocess.CompletedProcess[str], path: Path, package: str) -> bool:
    """Tell whether a call ended with one line that names what hides a package."""
    assert done.stderr.count("\n") == 1, done.stderr
    line = f"frobench: {path} hides Frobench's own package `{package}`: rename it, or "
    return done.returncode == 3 and done.stderr.startswith(line)


@pytest.mark.parametrize("package", ["suite", "reports"])
@pytest.mark.parametrize("file", ["{}/__init__.py", "{}.py"])
def test_what_hides_a_package_is_named_before_it_is_imported(
    installed: Path, project: Path, package: str, file: str
) -> None:
    trap = project / file.format(package)
    trap.parent.mkdir(exist_ok=True)
    trap.write_text(TRAP)
    done = call(installed, project, "-m", "frobench", "--help")
    assert refused(done, trap.parent if trap.stem == "__init__" else trap, package)


def test_the_installed_command_reads_runs_beside_any_folder_and_measures_nothing_beside_suite(
    installed: Path, project: Path
) -> None:
    for package in ("suite", "reports", "benchmarks"):
        (project / package).mkdir()
        (project / package / "__init__.py").write_text(TRAP)
    command = installed / "bin" / "frobench"
    assert call(installed, project, command, "validate", FILE).returncode == 0
    for verb in (["run"], ["list"], ["reproduce", FILE]):
        assert refused(call(installed, project, command, *verb), project / "suite", "suite")


def test_folders_that_hide_nothing_are_in_nobodys_way(installed: Path, project: Path) -> None:
    (project / "suite").mkdir()
    (project / "reports").mkdir()
    (project / "benchmarks").mkdir()
    (project / "benchmarks" / "__init__.py").write_text(TRAP)
    command = ("-m", "frobench", "list", "--devices", "cpu", "--benchmarks", TRICKY)
    done = call(installed, project, *command)
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_clone_is_called_as_a_module_beside_an_installation(installed: Path) -> None:
    assert call(installed, ROOT, "-m", "frobench", "--version").returncode == 0
    script = installed / "bin" / "frobench"
    assert refused(call(installed, ROOT, script, "list"), ROOT / "suite", "suite")
