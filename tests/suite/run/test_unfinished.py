# SPDX-License-Identifier: MIT
"""Runs that were cut short wait in folders, and two runs never measure one machine at once."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.suite.errors import CannotRunError
from frobench.suite.profiles import settings_for
from frobench.suite.run import unfinished
from frobench.suite.run.lock import VARIABLE, machine_lock
from frobench.suite.run.unfinished import RunClock
from tests.instruments.processes.command import TRICKY, start
from tests.instruments.processes.warm import frobench
from tests.instruments.runs import made_up_records

PLAN = made_up_records.plan(settings_for("standard", ["cpu"]))


def begun(results: Path, *names: str) -> list[Path]:
    """Return the folders of runs with these names that were cut short."""
    folders = [results / unfinished.RUNS / name for name in names]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / unfinished.LOCK).touch()
        PLAN.write(folder)
    return folders


def test_the_last_run_is_the_newest_and_any_other_has_its_name(tmp_path: Path) -> None:
    older, newer = begun(tmp_path, "20260101T000000Z-a", "20260102T000000Z-a")
    assert unfinished.find(tmp_path, "last") == newer
    assert unfinished.find(tmp_path, older.name) == older


def test_who_names_no_run_that_waits_is_told_which_do_and_what_is_stored(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match=r"'last' in .*; there is none"):
        unfinished.find(tmp_path, "last")
    begun(tmp_path, "one", "two")
    with pytest.raises(CannotRunError, match=r"'three' in .*; there are one, two"):
        unfinished.find(tmp_path, "three")
    stored = tmp_path / "machine" / "three.json"
    stored.parent.mkdir()
    stored.touch()
    with pytest.raises(CannotRunError, match=f"finished and stored in {stored}"):
        unfinished.find(tmp_path, "three")


def test_of_runs_that_begin_in_one_second_each_has_a_name_of_its_own(tmp_path: Path) -> None:
    first, second = (unfinished.begin(tmp_path, replace(PLAN)) for _ in range(2))
    assert first < second


def test_old_folders_of_no_plan_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits, young, old = begun(tmp_path, "waits", "young", "old")
    for folder in (young, old):
        (folder / "plan.json").unlink()
    now = float(round(time.time()))
    monkeypatch.setattr(time, "time", lambda: now)
    for folder, age in ((waits, 1e6), (young, 60), (old, 60.5)):
        os.utime(folder, (now - age, now - age))
    unfinished.sweep(tmp_path)
    assert [folder.exists() for folder in (waits, young, old)] == [True, True, False]


def test_the_clock_of_a_run_goes_on_from_its_last_reading_and_never_back() -> None:
    clock = RunClock()
    clock.advance_to(100.0)
    clock.advance_to(50.0)
    assert 100 <= clock.seconds() < 200


# Two runs never measure one machine at the same time

IMPORTS = """import os
from frobench.suite.errors import CannotRunError
from frobench.suite.run.lock import machine_lock
"""


@pytest.fixture(autouse=True)
def _lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "frobench.lock"))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, partial(os.symlink, "elsewhere")])
def test_only_a_plain_file_is_a_lock(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "frobench.lock")
    with pytest.raises(CannotRunError, match="is a link or no plain file"), machine_lock():
        pass


def test_who_does_not_wait_is_told_who_measures(tmp_path: Path) -> None:
    with machine_lock():
        ended = frobench("run", "--benchmarks", TRICKY, folder=tmp_path)
    assert ended.returncode == 3
    assert re.search(rf"\(process {os.getpid()}, since .*: --wait waits", ended.stderr)


def test_who_waits_is_told_for_whom_and_goes_on_when_the_machine_is_free() -> None:
    code = "with machine_lock(waiting=lambda it: print(it, flush=True)): pass"
    command = [sys.executable, "-c", IMPORTS + code]
    with ExitStack() as held:
        held.enter_context(machine_lock())
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiting:
            assert waiting.stdout is not None
            assert f"process {os.getpid()}" in waiting.stdout.readline()
            assert waiting.poll() is None
            held.close()
            assert waiting.wait() == 0


def test_an_interrupted_wait_ends_with_the_exit_code_of_an_interruption(tmp_path: Path) -> None:
    options = ("run", "--wait", "--benchmarks", TRICKY)
    with machine_lock(), start(*options, folder=tmp_path) as process:
        assert process.stderr is not None
        assert "waiting until it ends" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "nothing was measured" in process.stderr.read()
        assert process.wait() == 130
    assert not (tmp_path / "results").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user, whom only root can become")
@pytest.mark.parametrize("mode", [0o666, 0o644])
def test_a_second_user_takes_turns_with_the_first_in_a_sticky_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    folder = tmp_path_factory.mktemp("shared")
    for above in (folder, *folder.parents[:3]):
        above.chmod(above.stat().st_mode | 0o055)
    folder.chmod(0o1777)
    path = folder / "frobench.lock"
    monkeypatch.setenv(VARIABLE, str(path))
    with machine_lock():
        path.chmod(mode)
        assert "another run is measuring" in locked_by_another_user()
    assert locked_by_another_user() == "held"


def locked_by_another_user() -> str:
    """Return what a user without rights makes of the lock."""
    code = IMPORTS + (
        "os.setuid(65534)\n"
        "try:\n"
        "    with machine_lock(): print('held')\n"
        "except CannotRunError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()
