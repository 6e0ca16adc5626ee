# SPDX-License-Identifier: MIT
"""The command as a user types it, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import psutil

from suite.stored import store
from suite.stored.run import Outcome, Run

ROOT = Path(__file__).resolve().parents[2]
TRICKY = Path(__file__).parent / "tricky"
QUICK = ("run", "--profile", "quick", "--benchmarks", TRICKY, "--devices", "cpu")


def start(
    *arguments: object,
    folder: Path,
    environment: dict[str, str] | None = None,
    through: tuple[str, ...] = (),
) -> subprocess.Popen[str]:
    """Start `frobench` in `folder`, with a machine lock of its own.

    through : a program and its arguments that start the command
    """
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [*through, sys.executable, "-m", "frobench", *map(str, arguments)],
        cwd=folder,
        env=os.environ
        | {"FROBENCH_LOCK": str(folder / "frobench.lock"), "PYTHONPATH": os.pathsep.join(paths)}
        | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def frobench(
    *arguments: object, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `frobench` in `folder` to its end."""
    process = start(*arguments, folder=folder, environment=environment)
    out, err = process.communicate(timeout=240)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


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
