# SPDX-License-Identifier: MIT
"""Pages are made by several processes, wherever the folder for temporary files lies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from frobench.reports.making.workers import FEW, LONGEST_FOLDER
from tests.instruments.processes.command import ROOT

WORK = f"""
from frobench.reports.making.workers import Workers

if __name__ == "__main__":
    with Workers(2) as workers:
        print(*workers.map(str, range({FEW})))
"""
SHORT = Path("/tmp")  # noqa: S108 - a name that leaves room for that of a socket
EARLY = """
import os
from frobench.reports.making.workers import Workers

if __name__ == "__main__":
    with Workers(2, early=True) as workers:
        [process] = workers.map(eval, ["__import__('os').getpid()"])
        print(process != os.getpid())
"""


def test_processes_that_were_started_early_do_a_single_job_too(tmp_path: Path) -> None:
    assert said(EARLY, tmp_path, SHORT) == ("True\n", "")


def test_modules_in_the_folder_of_the_command_are_not_taken_for_others(tmp_path: Path) -> None:
    for name in ("frobench", "signal"):
        (tmp_path / f"{name}.py").write_text("print(__file__)", encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    assert said(EARLY, tmp_path / "elsewhere", SHORT, tmp_path) == ("True\n", "")


def test_a_process_that_may_start_no_other_does_the_work_itself(tmp_path: Path) -> None:
    inner = "    from multiprocessing import current_process\n    current_process().daemon = True\n"
    early = EARLY.replace("    with", f"{inner}    with")
    assert said(early, tmp_path, SHORT) == ("False\n", "")


def test_a_folder_for_temporary_files_that_is_gone_leaves_the_work_to_this_process(
    tmp_path: Path,
) -> None:
    early = EARLY.replace("if __name__", "import tempfile\n\nif __name__").replace(
        "    with", "    tempfile.tempdir = '/proc/none'\n    with"
    )
    assert said(early, tmp_path, tmp_path) == ("False\n", "")


INTERRUPTED = """
import signal, time
from frobench.reports.making.workers import Workers

if __name__ == "__main__":
    with Workers(2, early=True) as workers:
        try:
            print("ready", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            print("interrupted", flush=True)
        print(*workers.map(str, [1]))
"""


def test_an_interruption_while_processes_start_is_heard_once(tmp_path: Path) -> None:
    script = tmp_path / "work.py"
    script.write_text(INTERRUPTED, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that all its processes are interrupted, as by a terminal
    ) as process:
        assert process.stdout
        for line in ("ready\n", "interrupted\n"):
            assert process.stdout.readline() == line
            os.killpg(process.pid, signal.SIGINT)
        while process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.01)
        assert process.communicate() == ("1\n", "")


def test_a_long_name_of_the_folder_for_temporary_files_is_no_obstacle(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * (2 * LONGEST_FOLDER))
    folder.mkdir()
    output, errors = said(WORK, tmp_path, folder)
    assert (output.split(), errors) == ([str(n) for n in range(FEW)], "")


def said(
    program: str, folder: Path, temporary: Path, current: Path | None = None
) -> tuple[str, str]:
    """Run a program with a folder for temporary files, and return its output and its errors."""
    script = folder / "work.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=current,
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.stderr
