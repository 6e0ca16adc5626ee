# SPDX-License-Identifier: MIT
"""What a run loses when it hangs, is killed, is interrupted or has no disk left: very little."""

import re
import signal
import time
from pathlib import Path

import pytest

from frobench.suite.journal import Journal, Measured
from frobench.suite.stored import store
from tests.instruments.faults.judging import validate_file
from tests.instruments.processes.command import QUICK, start, stored
from tests.instruments.processes.warm import frobench

pytestmark = pytest.mark.long


def wait_for_samples(results: Path, cases: int) -> Path:
    """Wait until a launch has measured some cases; return the run's folder."""
    for _ in range(1200):
        for folder in results.glob(".runs/*"):
            measured = [r for r in Journal(folder / "launches.jsonl") if isinstance(r, Measured)]
            if len(measured) >= cases:
                return folder
        time.sleep(0.05)
    pytest.fail("the run measured nothing")


SOME = ("-k", "fine or wait or slow", "--launches", 2)
SOME_CASES = {
    "bench_fine[cpu-8]",
    "bench_fine[cpu-16]",
    "bench_wait[cpu-0.001]",
    "bench_slow[cpu-1]",
}


def test_an_interrupted_run_is_saved_and_can_be_finished(tmp_path: Path) -> None:
    process = start(*QUICK, *SOME, folder=tmp_path)
    folder = wait_for_samples(tmp_path / "results", 3)
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)  # as the impatient do
    _, err = process.communicate()
    assert process.returncode == 130
    where = rf"; what was finished is in \S+{folder.name}\.partial\.json; "
    assert re.search(rf"{where}.*--resume {folder.name}", err)
    assert "incomplete-run" in err
    [partial] = (tmp_path / "results").glob("*/*.partial.json")
    saved = store.read(partial)
    assert not saved.frobench.complete
    assert len(saved.benchmarks) >= 3
    said = validate_file(partial)
    assert "incomplete-run" in {one.code for one in said}
    assert all(one.severity == "warning" for one in said)

    run = stored(frobench("run", "--resume", "last", folder=tmp_path), tmp_path)
    assert {case.name for case in run.benchmarks} == SOME_CASES
    assert not partial.exists()
    assert not list((tmp_path / "results" / ".runs").iterdir())
