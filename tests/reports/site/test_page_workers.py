# SPDX-License-Identifier: MIT
"""Pages are made by several processes, which leave the caller's folder and keyboard alone."""

import os
import subprocess
import sys
from pathlib import Path

from frobench.reports.making.workers import FEW
from tests.instruments.processes.command import ROOT

WORK = f"""
import os
from frobench.reports.making.workers import Workers

if __name__ == "__main__":
    with Workers(2) as workers:
        made = [*workers.map(eval, ["__import__('os').getpid()"] * {FEW})]
        print(len(made), os.getpid() in made)
    assert not os.environ.get("PYTHONSAFEPATH")  # other programs that it starts have theirs
"""


def test_modules_in_the_folder_of_the_command_are_not_taken_for_others(tmp_path: Path) -> None:
    for name in ("frobench", "signal"):
        (tmp_path / f"{name}.py").write_text("print(__file__)", encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    assert said(WORK, tmp_path / "elsewhere", tmp_path) == (f"{FEW} False\n", "")


def said(program: str, folder: Path, current: Path | None = None) -> tuple[str, str]:
    """Run a program from a folder, and return its output and its errors."""
    script = folder / "work.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=current,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.stderr
