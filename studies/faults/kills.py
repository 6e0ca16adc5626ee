# SPDX-License-Identifier: MIT
"""SIGKILL at every record of the journal and every change of the disk."""

import os
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from studies.faults.forked import CHEAP, Command, processes_left, run
from studies.faults.kept import Counter, append, finish, watch_disk, watch_records
from studies.faults.trials import Extent, Trial
from tests.instruments.processes.command import kill, start

PROMISE = (
    "A kill at any moment loses no measurement that the journal holds. The run is resumed as "
    "itself, ends with the cases of an uninterrupted one, and leaves no process behind."
)
DISK = "runner, at a change of the disk"
RECORDS = {
    "runner, before a record": ("runner", "before"),
    "runner, after a record": ("runner", "after"),
    "launch, before a record": ("writer", "before"),
    "launch, within a record": ("writer", "within"),
    "launch, after a record": ("writer", "after"),
}
"""Who is killed, and when."""
MOMENT, WHOLE = "runner, at a random moment", "runner with its own Python"
MOST, MOMENTS, WHOLE_RUNS = 200, 20, 4
"""Kills of a campaign, those at random moments, and those of newly started processes."""


def trials(extent: Extent) -> list[Trial]:
    """Return a kill at every change and record, or as many as there is time for."""
    chance = extent.random(__name__)
    changes, records = count()
    every = [Trial(__name__, DISK, number) for number in range(1, changes + 1)]
    every += [Trial(__name__, kind, n) for kind in RECORDS for n in range(1, records + 1)]
    others = [Trial(__name__, MOMENT, chance.randrange(2000)) for _ in range(MOMENTS)]
    others += [Trial(__name__, WHOLE, chance.randrange(8000)) for _ in range(WHOLE_RUNS)]
    return [*chance.sample(every, min(len(every), MOST - len(others))), *others]


def count() -> tuple[int, int]:
    """Return how many changes a whole run makes to the disk, and how many records it writes."""
    changes, records = Counter(), Counter()

    def prepare(folder: Path) -> None:
        watch_disk(lambda *_: changes.next())
        watch_records(folder, lambda when, *_: when == "before" and records.next())

    with TemporaryDirectory() as name:
        ended = run(CHEAP, Path(name), partial(prepare, Path(name)))
    if ended.code != 0:
        raise RuntimeError(ended.err)
    return changes.value, records.value


def attempt(trial: Trial, folder: Path) -> Iterable[str]:
    """Kill a process of a run, and see what is left of the run."""
    if trial.kind == WHOLE:
        process = start(*CHEAP, folder=folder)
        time.sleep(trial.number / 1000)
        kill(process)
    elif trial.kind == MOMENT:
        command = Command(CHEAP, folder, partial(watch_records, folder))
        time.sleep(trial.number / 1000)
        os.kill(command.pid, signal.SIGKILL)
        command.end()
    else:
        run(CHEAP, folder, partial(_prepare, trial, folder))
    return [*processes_left(), *finish(folder)]


def _prepare(trial: Trial, folder: Path) -> None:
    if trial.kind == DISK:
        watch_disk(partial(_kill_at_change, trial.number))
        watch_records(folder)
    else:
        whom, when = RECORDS[trial.kind]
        watch_records(
            folder, _at_record(trial.number, when, os.getpid() if whom == "runner" else 0)
        )


def _kill_at_change(last: int, number: int, _kind: str) -> None:
    if number == last:
        os.kill(os.getpid(), signal.SIGKILL)


def _at_record(number: int, when: str, pid: int) -> Callable[[str, bytes, Path], None]:
    """Return what kills a process, or that which writes if it is 0, at a record."""
    records = Counter()

    def happen(now: str, line: bytes, path: Path) -> None:
        if now == "before":
            records.next()
        if records.value != number or now != ("before" if when == "within" else when):
            return
        if when == "within":
            append(path, line[: len(line) // 2])
        os.kill(pid or os.getpid(), signal.SIGKILL)

    return happen
