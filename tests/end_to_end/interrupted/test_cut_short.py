# SPDX-License-Identifier: MIT
"""A run that is cut short at any moment loses nothing finished, and is resumed as the same run."""

import signal
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from frobench.suite.checks.plausibility import launch_beyond_run
from frobench.suite.errors import CannotRunError, Interrupted
from frobench.suite.plan import Plan
from frobench.suite.run import unfinished
from frobench.suite.run.runner import Interruptions
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.faults.faulty_disk import Killed, faulty, full_from, killed_at
from tests.instruments.runs import made_up_launches
from tests.instruments.runs.made_up_launches import LAUNCHES, Launch, made_up, run


def samples(stored: Run) -> set[float]:
    return {sample for case in stored.benchmarks for sample in case.stats.data}


def files(results: Path) -> list[Path]:
    return [path for path in results.rglob("*") if path.is_file()]


def finish(results: Path, name: str = "last") -> None:
    """Resume a run, and see that it is whole and holds all that was measured before."""
    before = set(Launch.seconds)
    path, stored = run(results, resume=name)
    assert stored.frobench.complete
    assert before <= samples(stored)
    assert all(case.extra_info.launches == [3] * LAUNCHES for case in stored.benchmarks)
    assert [case.name for case in stored.benchmarks] == made_up_launches.NAMES
    assert made_up_launches.follow_each_other(stored)
    assert not [*launch_beyond_run(stored)]
    assert files(results) == [path]
    assert not list((results / unfinished.RUNS).iterdir())


def at_every_change(folder: Path, cut: Callable[[Path, int], bool]) -> None:
    """Cut a run short at its first change of the disk, its second ..., until none is left.

    cut : makes a run in a folder of its own and cuts it short at a change; tells whether it was
    """
    for number in count(1):
        results = folder / str(number)
        results.mkdir()
        with made_up():
            if not cut(results, number):
                break
    assert number > 50


@pytest.mark.usefixtures("unjudged")
def test_a_run_that_finds_the_disk_full_says_so_and_can_be_resumed(tmp_path: Path) -> None:
    def fill(results: Path, number: int) -> bool:
        with faulty(full_from(number)) as disk:
            try:
                run(results)
            except (CannotRunError, OSError) as error:
                message, name = str(error), getattr(error, "run", None)
            else:
                return disk.changes >= number  # what comes behind the stored file needs no room
        assert "No space left on device" in message or "is there room on it?" in message
        if name is not None:
            finish(results, name)
        else:
            assert Launch.modes in ([], ["pilot"])  # nothing is lost
            assert not files(results)
        return True

    at_every_change(tmp_path, fill)


@pytest.mark.usefixtures("unjudged")
def test_a_killed_run_is_resumed_as_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "ABANDONED_SECONDS", -1.0)

    def kill(results: Path, number: int) -> bool:
        with faulty(killed_at(number)):
            try:
                run(results)
            except Killed:
                pass
            else:
                return False
        begun = list(results.glob(f"{unfinished.RUNS}/[!.]*/{Plan.FILE}"))
        stored = list(results.glob("*/*.json"))
        planned = [path for path in begun if Plan.read(path.parent).cases]
        modes = list(Launch.modes)
        if begun:
            finish(results)
            assert not planned or "pilot" not in Launch.modes[len(modes) :]
        else:
            with pytest.raises(CannotRunError, match="no interrupted run"):
                run(results, resume="last")
            assert files(results) == stored
            assert stored or not Launch.modes
        assert not stored or Launch.modes == modes
        return True

    at_every_change(tmp_path, kill)


def test_an_interruption_is_raised_again_until_what_is_finished_is_stored() -> None:
    timer = partial(signal.getitimer, signal.ITIMER_REAL)
    with Interruptions() as interruptions:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)  # so soon it is ignored
        assert 4 < timer()[0] <= 5
        interruptions.hold()
        signal.raise_signal(signal.SIGHUP)
        assert timer() == (0.0, 0.0)


def test_a_run_saves_what_is_finished_however_often_it_is_interrupted(tmp_path: Path) -> None:
    def interrupt(results: Path, number: int) -> bool:
        def happen(change: int, _kind: str) -> None:
            if change in {number, number + 1, number + 3}:
                signal.raise_signal(signal.SIGTERM if number % 2 else signal.SIGINT)

        with faulty(happen) as disk:
            try:
                _, stored = run(results)
            except KeyboardInterrupt:
                assert not files(results)
                return True
            except Interrupted as stopped:
                saved, name = stopped.stored, stopped.run
            else:
                assert stored.frobench.complete
                return disk.changes >= number
        assert bool(saved) == bool(Launch.seconds)
        if saved:
            partial = store.read(saved)
            assert not partial.frobench.complete
            assert "incomplete-run" in {one.code for one in partial.frobench.conclusions}
            assert samples(partial) == set(Launch.seconds)
        finish(results, name)
        return True

    at_every_change(tmp_path, interrupt)
