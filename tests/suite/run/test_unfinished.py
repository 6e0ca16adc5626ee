# SPDX-License-Identifier: MIT
"""Runs that were cut short wait in folders: found by name, held by one process, never swept."""

import os
import time
from pathlib import Path

import pytest

from frobench.suite.errors import CannotRunError
from frobench.suite.profiles import settings_for
from frobench.suite.run import unfinished
from frobench.suite.run.unfinished import RunClock
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


def test_only_an_old_folder_without_a_plan_is_swept(tmp_path: Path) -> None:
    waits, young, old = begun(tmp_path, "waits", "young", "old")
    for folder in (young, old):
        (folder / "plan.json").unlink()
    now = time.time()
    for folder, age in ((waits, 1e6), (young, 50), (old, 70)):
        os.utime(folder, (now - age, now - age))
    unfinished.sweep(tmp_path)
    assert [folder.exists() for folder in (waits, young, old)] == [True, True, False]


def test_a_run_goes_on_in_one_process_at_a_time(tmp_path: Path) -> None:
    (folder,) = begun(tmp_path, "one")
    again = pytest.raises(CannotRunError, match="goes on in another process")
    with unfinished.locked(folder), again, unfinished.locked(folder):
        pass
    with unfinished.locked(folder):
        pass


def test_the_clock_of_a_run_goes_on_from_its_last_reading_and_never_back() -> None:
    clock = RunClock()
    clock.advance_to(100.0)
    assert 100 <= clock.seconds() < 200
    clock.advance_to(50.0)
    assert 100 <= clock.seconds() < 200
