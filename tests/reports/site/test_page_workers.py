# SPDX-License-Identifier: MIT
"""Pages are made by several processes wherever the folder for temporary files lies."""

import os
import subprocess
import sys
from pathlib import Path

from reports.making.workers import FEW, LONGEST_FOLDER
from tests.instruments.processes.command import ROOT

WORK = f"""
from reports.making.workers import Workers

if __name__ == "__main__":
    with Workers(2) as workers:
        print(*workers.map(str, range({FEW})))
"""


def test_a_long_name_of_the_folder_for_temporary_files_is_no_obstacle(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * (2 * LONGEST_FOLDER))
    folder.mkdir()
    script = tmp_path / "work.py"
    script.write_text(WORK, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"TMPDIR": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == ([str(n) for n in range(FEW)], "")
