# SPDX-License-Identifier: MIT
"""What a run loses when it hangs, is killed, is interrupted or has no disk left: very little."""

import resource
import signal
import time
from pathlib import Path

import psutil
import pytest

from suite import checks, store
from suite.model import Run
from suite.running.journal import Begun, Journal, Measured
from tests.command import QUICK, TRICKY, frobench, kill, outcomes, start, stored

pytestmark = pytest.mark.long


def test_a_hung_case_is_ended_at_its_deadline_and_larger_ones_are_not_tried(
    tmp_path: Path,
) -> None:
    run = frobench(
        *("run", "--benchmarks", TRICKY, "--devices", "cpu", "--profile", "rigorous"),
        *("-k", "hang or wait", "--launches", 1, "--deadline", 3),
        folder=tmp_path,
    )
    assert run.returncode == 1
    told = outcomes(stored(run, tmp_path))
    assert told["bench_hang[cpu-1]"].reason == "did not end within its deadline of 3 s"
    assert told["bench_hang[cpu-2]"].status == "skipped"
    assert told["bench_wait[cpu-0.001]"].status == "passed"


def wait_for_samples(results: Path, cases: int) -> Path:
    """Wait until a launch has measured some cases; return the run's folder."""
    for _ in range(1200):
        for folder in results.glob(".runs/*"):
            measured = [r for r in Journal(folder / "launches.jsonl") if isinstance(r, Measured)]
            if len(measured) >= cases:
                return folder
        time.sleep(0.05)
    pytest.fail("the run measured nothing")


def resumed(folder: Path) -> Run:
    run = frobench("run", "--resume", "last", folder=folder)
    return stored(run, folder)


SOME = ("-k", "fine or wait or slow", "--launches", 2)
SOME_CASES = {
    "bench_fine[cpu-8]",
    "bench_fine[cpu-16]",
    "bench_wait[cpu-0.001]",
    "bench_slow[cpu-1]",
}


def test_a_killed_run_loses_at_most_the_case_in_flight(tmp_path: Path) -> None:
    process = start(*QUICK, *SOME, folder=tmp_path)
    folder = wait_for_samples(tmp_path / "results", 2)
    kill(process)
    records = list(Journal(folder / "launches.jsonl"))
    before = {r.case for r in records if isinstance(r, Measured)}
    begun = [r.case for r in records if isinstance(r, Begun)]
    assert set(begun) - before <= set(begun[-1:])

    run = resumed(tmp_path)
    assert {case.name for case in run.benchmarks} == SOME_CASES
    assert all(len(case.extra_info.launches) == 2 for case in run.benchmarks)
    assert run.frobench.complete


IN_BACKGROUND = ("sh", "-c", 'trap "" INT HUP; exec "$@"', "sh")
"""Starts a command as a script does in the background, with SIGINT ignored, and as nohup does."""


@pytest.mark.parametrize(
    ("through", "ending"),
    [((), signal.SIGINT), (IN_BACKGROUND, signal.SIGTERM)],
    ids=["by Ctrl-C", "in the background"],
)
def test_an_interrupted_run_is_saved_and_can_be_finished(
    tmp_path: Path, through: tuple[str, ...], ending: signal.Signals
) -> None:
    process = start(*QUICK, *SOME, folder=tmp_path, through=through)
    folder = wait_for_samples(tmp_path / "results", 3)
    process.send_signal(ending)
    time.sleep(0.1)
    process.send_signal(ending)  # as the impatient do
    _, err = process.communicate()
    assert process.returncode == 130
    assert f"--resume {folder.name}" in err
    assert "incomplete-run" in err
    [partial] = (tmp_path / "results").glob("*/*.partial.json")
    saved = store.read(partial)
    assert not saved.frobench.complete
    assert len(saved.benchmarks) >= 3
    said = checks.validate(partial)
    assert "incomplete-run" in {one.code for one in said}
    assert all(one.severity == "warning" for one in said)

    run = resumed(tmp_path)
    assert {case.name for case in run.benchmarks} == SOME_CASES
    assert not partial.exists()
    assert not list((tmp_path / "results" / ".runs").iterdir())


def test_a_full_disk_is_told_and_what_was_finished_stays(tmp_path: Path) -> None:
    process = start(*QUICK, "--launches", 30, "-k", "fine", folder=tmp_path)
    folder = wait_for_samples(tmp_path / "results", 1)
    full = (folder / "launches.jsonl").stat().st_size + 1000
    for pid in (process.pid, *(child.pid for child in psutil.Process(process.pid).children())):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (full, full))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "everything finished stays" in err
    assert "Traceback" not in err
    assert sum(isinstance(r, Measured) for r in Journal(folder / "launches.jsonl")) >= 1


def test_a_run_that_was_killed_before_its_plan_is_resumed_as_it_was_asked_for(
    tmp_path: Path,
) -> None:
    process = start(*QUICK, "-k", "fine", "--launches", 1, "--seed", 5, folder=tmp_path)
    while not list(tmp_path.glob("results/.runs/*/pilot-000.json")):
        time.sleep(0.02)
    kill(process)

    run = resumed(tmp_path)
    assert {case.name for case in run.benchmarks} == {"bench_fine[cpu-8]", "bench_fine[cpu-16]"}
    assert run.frobench.profile == "quick"
    assert run.frobench.seed == 5
