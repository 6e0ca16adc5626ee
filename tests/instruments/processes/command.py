# SPDX-License-Identifier: MIT
"""The command as a user types it, in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from frobench.suite.stored import store
from frobench.suite.stored.types import Outcome, Run

ROOT = Path(__file__).resolve().parents[3]
TRICKY, KNOWN = (ROOT / "tests" / "instruments" / name for name in ("tricky", "truth"))
"""Benchmarks that go wrong on purpose, and benchmarks whose times are known."""
PATIENCE = 240.0
"""Seconds that a command may take; on an idle machine it takes a few."""
QUICK = ("run", "--profile", "quick", "--benchmarks", TRICKY, "--devices", "cpu")


def variables(folder: Path, others: dict[str, str] | None = None) -> dict[str, str]:
    """Return the variables of a command, with a machine lock of its own."""
    own = {"FROBENCH_LOCK": str(folder / "frobench.lock"), **found_first()}
    return {**os.environ, **own, **(others or {})}


def found_first(*folders: Path) -> dict[str, str]:
    """Return the variable that lets Python look in these folders before it looks elsewhere."""
    paths = (*map(str, (*folders, ROOT)), os.environ.get("PYTHONPATH"))
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def simulated(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that give a process simulated devices, by fields of their `Spec`."""
    folder = ROOT / "tests" / "instruments" / "simulated"
    return {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "SIM_SPEC": json.dumps(spec)}


def start(
    *arguments: object, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start `frobench` in `folder`, with a machine lock of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "frobench", *map(str, arguments)],
        cwd=folder,
        env=variables(folder, environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def frobench(
    *arguments: object, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `frobench` in `folder` to its end."""
    return program("frobench", arguments, folder, variables(folder, environment))


def python(
    *words: object,
    folder: Path = ROOT,
    variables: Mapping[str, str] = os.environ,
    patience: float = PATIENCE,
) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder to its end.

    variables : all that it has
    """
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )


def program(
    module: str, arguments: Sequence[object], folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `python -m` with a module and its arguments in a folder to its end."""
    return python("-m", module, *arguments, folder=folder, variables=variables)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a command, and wait until the launch that it made has noticed."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    _, left = psutil.wait_procs(children, timeout=30)
    assert not left


def stored(run: subprocess.CompletedProcess[str], folder: Path) -> Run:
    """Read the file that the last line of the output names."""
    return store.read(folder / run.stdout.splitlines()[-1])


def outcomes(run: Run) -> dict[str, Outcome]:
    """Return what became of each case, by its name."""
    return {outcome.fullname.rpartition("::")[2]: outcome for outcome in run.frobench.outcomes}
