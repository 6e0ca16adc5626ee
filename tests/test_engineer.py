# SPDX-License-Identifier: MIT
"""An engineer lets a comparison of two runs decide whether a change of their own code may land.

The code lies beside its benchmark in a git repository. It runs on a simulated accelerator, in the
simulation's own time: what is 10% slower there is so on any machine.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from frobench import main
from suite import store
from tests.command import ROOT, start
from tests.conftest import QUIET

pytestmark = pytest.mark.long

CODE = '''"""What the engineer writes."""


def multiply_often(matrix):
    for _ in range({steps}):
        product = matrix @ matrix
    return product
'''
BENCHMARK = '''"""How long does the engineer's own code take?"""

from code_of_mine import multiply_often

from suite import Device, Measure, Work, cases, close_to


@cases("quick", n=[64])
def bench_multiply_often(measure: Measure, accelerator: Device, n: int) -> None:
    """Multiply a matrix by itself, several times."""
    matrix = accelerator.uniform(n, n)
    exact = matrix.cpu().double() @ matrix.cpu().double()
    measure(
        lambda: multiply_often(matrix),
        work=Work(items=1),
        check=close_to(exact, 1e-3, "the product"),
    )
'''
COMMITS = {
    "base": CODE.format(steps=20),
    "equal": CODE.format(steps=20).replace("product", "squared"),
    "slower": CODE.format(steps=22),
}
SPEC = {"virtual": True, "devices": 1, "launch": 70e-6, "faults": {"noise": 0.002, "jitter": 0.01}}
"""Runs of a machine that differ so little are never called different by chance."""


def _git(folder: Path, *arguments: str) -> None:
    person = ("-c", "user.name=An Engineer", "-c", "user.email=engineer@example.org")
    subprocess.run(["git", *person, *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S607 - as found


def _commit(folder: Path, code: str) -> None:
    """Put the benchmark and one state of the code into a repository."""
    benchmarks = folder / "benchmarks"
    benchmarks.mkdir(parents=True)
    _git(folder, "init", "--quiet")
    (benchmarks / "bench_mine.py").write_text(BENCHMARK)
    (benchmarks / "code_of_mine.py").write_text(code)
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "-m", "Change the code")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Measure every commit; return the stored files."""
    made, folder = {}, tmp_path_factory.mktemp("engineer")
    paths = os.pathsep.join(map(str, (QUIET, ROOT, ROOT / "tests" / "simulated")))
    for name, code in COMMITS.items():
        _commit(folder / name, code)
        made[name] = start(
            *("run", "--benchmarks", "benchmarks", "--profile", "quick", "--launches", 6),
            *("--devices", "sim:0"),
            folder=folder / name,
            environment={"PYTHONPATH": paths, "SIM_SPEC": json.dumps(SPEC)},
        )
    files = {}
    for name, process in made.items():
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        assert "compared with another run of 6 launches, a slow-down of about" in err
        files[name] = folder / name / out.splitlines()[-1]
    return files


def _compared(*arguments: object) -> tuple[int, str]:
    shown = CliRunner().invoke(main, ["compare", *map(str, arguments)])
    return shown.exit_code, shown.output


def test_code_that_is_ten_percent_slower_is_stopped(runs: dict[str, Path]) -> None:
    code, shown = _compared(runs["base"], runs["slower"])
    assert code == 4, shown
    assert "  slower: mine multiply_often[sim:0-64]: 1.10" in shown


def test_code_that_is_as_fast_passes(runs: dict[str, Path]) -> None:
    code, shown = _compared(runs["base"], runs["equal"])
    assert code == 0, shown
    assert "incomparable" not in shown


@pytest.fixture
def other_torch(runs: dict[str, Path], tmp_path: Path) -> Path:
    """Store the slower run as another torch would have stored it."""
    run = store.read(runs["slower"])
    software = run.frobench.environment.software
    software.torch = software.packages["torch"] = "2.99.0"
    return store.write(run, tmp_path)


def test_another_torch_decides_nothing_unless_it_is_the_question(
    runs: dict[str, Path], other_torch: Path
) -> None:
    code, shown = _compared(runs["base"], other_torch)
    assert code == 3, shown
    assert "add `--across software.torch`" in shown
    code, shown = _compared(runs["base"], other_torch, "--across", "software.torch")
    assert code == 4, shown
