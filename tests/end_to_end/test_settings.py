# SPDX-License-Identifier: MIT
"""`[tool.frobench]` in a project's pyproject.toml: plain pytest times that project's benchmarks."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from unittest.mock import Mock

import pytest

from frobench.pytest_entry import pytest_load_initial_conftests
from tests.end_to_end.test_options import settings
from tests.instruments.processes.command import ROOT, python
from tests.instruments.processes.project_files import planted

BENCHMARK = '''"""How long does sorting take?"""

def bench_mine(measure):
    """Sort numbers."""
    measure(lambda: sorted(range(1000)))
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a benchmark and no settings yet, in which commands are called."""
    monkeypatch.chdir(tmp_path)
    return planted(tmp_path, {"benchmarks/bench_mine.py": BENCHMARK})


def pytest_in(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Call plain pytest in a project; the installation brings the entry point."""
    if not any(one.name == "frobench" for one in entry_points(group="pytest11")):
        pytest.skip("Frobench is not installed here")
    ours = {k: text for k, text in os.environ.items() if not k.startswith("PYTEST_")}
    return python("-m", "pytest", *words, folder=project, variables=ours)


@pytest.mark.parametrize("more", [(), ("-p", "frobench.suite.launch.plugin")])
def test_plain_pytest_times_the_benchmarks(project: Path, more: tuple[str, ...]) -> None:
    settings(project, "")
    if not more:
        conftest = 'pytest_plugins = ["frobench.suite.launch.plugin"]\n'
        (project / "benchmarks" / "conftest.py").write_text(conftest)
    done = pytest_in(project, *more, "benchmarks", "--benchmark-columns=median,rounds")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("bench_mine")]
    assert len(row.split()) > 2
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[tool.other] # as [tool.frobench] says\n", None),
        (b"\xff", None),
        (b"[tool.frobench]\nlaunches = 3\n", ["benchmarks"]),
        (b'[tool.frobench]\nprofile = "quick"\n', ["--frobench-profile=quick", "benchmarks"]),
    ],
)
def test_plain_pytest_takes_the_profile_of_the_table_and_leaves_other_projects_alone(
    tmp_path: Path, text: bytes, words: list[str] | None
) -> None:
    config, given = Mock(rootpath=tmp_path), ["benchmarks"]
    pytest_load_initial_conftests(config, given)
    (tmp_path / "pyproject.toml").write_bytes(text)
    pytest_load_initial_conftests(config, given)
    assert given == (words or ["benchmarks"])
    assert config.pluginmanager.import_plugin.call_count == (words is not None)


def test_the_entry_point_imports_the_standard_library_alone() -> None:
    source = (
        "import sys; before = {*sys.modules}; import frobench.pytest_entry; "
        "print(*{name.partition('.')[0] for name in {*sys.modules} - before}); frobench.Work"
    )
    found = {*python("-c", source).stdout.split()}
    assert {"frobench"} <= found <= {"frobench", *sys.stdlib_module_names}
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert points["pytest11"] == {"frobench": "frobench.pytest_entry"}
