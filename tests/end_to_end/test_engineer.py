# SPDX-License-Identifier: MIT
"""An engineer lets CI decide whether a change of their own package may land.

The commands are those of `docs/ci.md`. They run on a simulated accelerator, in the simulation's own
time: what is 10% slower there is so on any machine.
"""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from frobench.suite.stored import store
from tests.conftest import QUIET
from tests.instruments.processes import warm
from tests.instruments.processes.command import ROOT, simulated
from tests.instruments.processes.git_project import commit, git, repository
from tests.instruments.processes.project_files import planted

pytestmark = pytest.mark.long

PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
CODE = '''"""What the engineer writes."""

def multiply_often(matrix):
    for _ in range({steps}):
        product = matrix @ matrix
    return product
'''
BENCHMARK = '''"""How long does the engineer's own code take?"""

from mine import multiply_often
from frobench import Device, Measure, Work, cases, close_to

@cases("quick", n=[64])
def bench_multiply_often(measure: Measure, accelerator: Device, n: int) -> None:
    """Multiply a matrix by itself, several times."""
    matrix = accelerator.uniform(n, n)
    exact = matrix.cpu().double() @ matrix.cpu().double()
    check = close_to(exact, 1e-3, "the product")
    measure(lambda: multiply_often(matrix), work=Work(items=1), check=check)
'''
BEFORE = CODE.format(steps=20)
SLOWER, EQUAL = CODE.format(steps=22), BEFORE.replace("product", "squared")
FAULTS = {"noise": 0.002, "jitter": 0.01}
DEVICE = simulated({"virtual": True, "devices": 1, "launch": 70e-6, "faults": FAULTS})
"""Runs of a machine that differ so little are never called different by chance."""
PATHS = os.pathsep.join([QUIET, DEVICE["PYTHONPATH"]])
COMMANDS = {"frobench": f'PYTHONPATH="{PATHS}" exec {shlex.join(warm.PROGRAM)} "$@"', "pip": "true"}
"""What the page calls; Python finds the package in the folder that it is called in."""


def _commands(name: str) -> str:
    """Return what a step of the page's workflow runs."""
    (many, one), *_ = re.findall(rf"- name: {name}\n +run: (?:\|\n((?: {{10}}.*\n)+)|(.*)\n)", PAGE)
    return one or dedent(many)


def _start(mine: Path, commands: str) -> subprocess.Popen[str]:
    """Start commands in a repository as a step of a workflow does."""
    descriptors, variables = warm.for_scripts()
    return subprocess.Popen(
        ["bash", "-e", "-o", "pipefail", "-c", commands],  # noqa: S607 - as found
        cwd=mine,
        env=os.environ
        | {
            "BASE": git(mine, "rev-parse", "HEAD^"),
            "GITHUB_WORKSPACE": str(mine),
            "RUNNER_TEMP": str(mine.parent),
            "FROBENCH_LOCK": str(mine / "lock"),
            "PATH": os.pathsep.join([str(mine.parent / "bin"), os.environ["PATH"]]),
            "SIM_SPEC": DEVICE["SIM_SPEC"],
        }
        | variables,
        pass_fds=descriptors,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _end(process: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = process.communicate(timeout=240)
    return process.returncode, said


def _changed(folder: Path, code: str) -> Path:
    """Put a package, a benchmark of it and a change of the package into a repository."""
    (folder / "bin").mkdir(parents=True)
    for name, command in COMMANDS.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{command}\n")
        (folder / "bin" / name).chmod(0o755)
    mine = planted(repository(folder / "mine"), {"benchmarks/bench_mine.py": BENCHMARK})
    commit(mine, "Begin", mine=BEFORE)
    commit(mine, "Change the code", mine=code)
    return mine


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Measure the base and two changes of it, as the workflow of the page does."""
    folder = tmp_path_factory.mktemp("engineer")
    codes = {"slower": SLOWER, "equal": EQUAL}
    slower, equal = (_changed(folder / name, code) for name, code in codes.items())
    both = f"({_commands('Measure the base')})\n{_commands('Measure the change')}"
    jobs = [_start(slower, both), _start(equal, _commands("Measure the change"))]
    for code, said in map(_end, jobs):
        assert code == 0, said
    (equal / "speed" / "base").symlink_to(slower / "speed" / "base")
    return {"slower": slower, "equal": equal}


def _compared(mine: Path, commands: str = "") -> tuple[int, str]:
    return _end(_start(mine, commands or _commands("Compare")))


def test_code_that_is_ten_percent_slower_is_stopped(changes: dict[str, Path]) -> None:
    code, said = _compared(changes["slower"])
    assert code == 4, said
    (ratio,) = re.findall(r"  slower: mine multiply_often\[sim:0-64\]: ([\d.]+)", said)
    assert 1.08 <= float(ratio) <= 1.12, said


def test_code_that_is_as_fast_passes(changes: dict[str, Path]) -> None:
    code, said = _compared(changes["equal"])
    assert code == 0, said
    assert "incomparable" not in said
    assert re.search(r"code measured: mine at (\w+) -> mine at (?!\1)", said)


def test_another_torch_decides_only_when_asked(tmp_path: Path, changes: dict[str, Path]) -> None:
    slower = shutil.copytree(changes["slower"].parent, tmp_path / "slower") / "mine"
    (path,) = slower.glob("speed/new/*/*.json")
    run = store.read(path)  # as another torch would have stored it
    software = run.frobench.environment.software
    software.torch = software.packages["torch"] = "2.99.0"
    path.write_bytes(store.encode(run))
    code, said = _compared(slower)
    assert code == 3, said
    assert "add `--across software.torch`" in said
    (across,) = re.findall(r"(?m)^frobench compare --across .*$", PAGE)
    code, said = _compared(slower, across)
    assert code == 4, said
