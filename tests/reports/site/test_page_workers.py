# SPDX-License-Identifier: MIT
"""Pages are made by several processes, which leave the caller's folder and keyboard alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from frobench.reports.making.workers import FEW
from tests.instruments.processes.command import ROOT

INTERRUPTED = f"""
import signal, time
from frobench.reports.making.workers import Workers

if __name__ == "__main__":
    with Workers(2) as workers:
        workers.map(str, range({FEW}))
        try:
            print("ready", flush=True)
            while True:  # a signal right before a single long sleep would wait for its end
                time.sleep(0.01)
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
        assert process.stderr
        assert (process.stdout.read(), process.stderr.read()) == ("1\n", "")
