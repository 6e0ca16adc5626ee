# SPDX-License-Identifier: MIT
"""Few calls lie between the command and the loop that times a body."""

import subprocess
import sys
from pathlib import Path

from tests.instruments.processes.command import PATIENCE, variables

MOST = 14
"""Calls of our own from the command to the timed loop, in the runner and in a launch together."""
CONFTEST = 'pytest_plugins = ["frobench.suite.launch.plugin"]\n'
NOTE = '''
import sys


def note(path):
    """Write down which functions of Frobench lie on the stack."""
    frame, names = sys._getframe(1), []
    while frame is not None:
        module, name = frame.f_globals.get("__spec__"), frame.f_code.co_qualname
        if module is not None and module.name.startswith("frobench") and name != "<module>":
            names.append(name)
        frame = frame.f_back
    with open(path, "w") as file:
        print(*names[::-1], sep="\\n", file=file)
'''
BENCH = (
    NOTE
    + '''

def bench_depth(measure):
    """Note the stack."""
    measure(lambda: note("launch.txt"))
'''
)
RUNNER = (
    NOTE
    + """
import runpy
import subprocess

start = subprocess.Popen.__init__


def noting(process, command, *args, **options):
    if "frobench.suite.launch.entry" in command:
        note("runner.txt")
    start(process, command, *args, **options)


subprocess.Popen.__init__ = noting
sys.argv = ["frobench", *sys.argv[1:]]
runpy.run_module("frobench", run_name="__main__", alter_sys=True)
"""
)


def test_few_calls_lie_between_the_command_and_the_timed_loop(tmp_path: Path) -> None:
    benches = tmp_path / "benches"
    benches.mkdir()
    (benches / "conftest.py").write_text(CONFTEST)
    (benches / "bench_depth.py").write_text(BENCH.replace("launch.txt", str(tmp_path / "launch")))
    runner = RUNNER.replace("runner.txt", str(tmp_path / "runner"))
    choices = ("--benchmarks", str(benches), "--profile", "quick", "--devices", "cpu")
    ended = subprocess.run(
        [sys.executable, "-c", runner, "run", *choices, "--launches", "1"],
        cwd=tmp_path,
        env=variables(tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    calls = [(tmp_path / name).read_text().split() for name in ("runner", "launch")]
    assert calls[0][0] == calls[1][0] == "main"
    assert calls[1][-1] == "Sampler.timed"
    assert len([*calls[0], *calls[1]]) <= MOST, calls
