# SPDX-License-Identifier: MIT
"""SIGINT, SIGTERM and SIGHUP at random moments, twice within 0.3 s."""

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from frobench.suite.stored import store
from studies.faults.forked import CHEAP, Command, processes_left
from studies.faults.kept import finish, measured, watch_records
from studies.faults.trials import Extent, Trial
from tests.instruments.processes.forking import INTERRUPTED

PROMISE = (
    "An interrupted run ends with exit code 130, however often it is interrupted. What it measured "
    "is stored at once in a partial file that says it is incomplete, and the run can be resumed."
)
KINDS = ("SIGINT", "SIGTERM", "SIGHUP")
EACH = 15
"""Trials of each kind."""
LATEST, BETWEEN = 2200, 300
"""Milliseconds until the first signal and from the first to the second, at most."""


def trials(extent: Extent) -> list[Trial]:
    """Return some moments for each signal."""
    chance = extent.random(__name__)
    return [Trial(__name__, kind, chance.randrange(LATEST)) for kind in KINDS for _ in range(EACH)]


def attempt(trial: Trial, folder: Path) -> Iterable[str]:
    """Interrupt a run twice, and see what it has saved."""
    number = signal.Signals[trial.kind]
    command = Command(CHEAP, folder, partial(watch_records, folder))
    for pause in (trial.number, trial.number * 7 % BETWEEN):
        time.sleep(pause / 1000)
        with suppress(ProcessLookupError):
            os.kill(command.pid, number)
    ended = command.end()
    faults = [*processes_left(), *_saved(folder, ended.code, number)]
    if "Traceback" in ended.err:
        faults.append(ended.err[-2000:])
    return [*faults, *finish(folder)]


def _saved(folder: Path, code: int | None, number: signal.Signals) -> Iterator[str]:
    paths = [*folder.glob("results/*/*.json")]
    whole = [path for path in paths if ".partial." not in path.name]
    before = measured(folder, folder / "results")
    if code not in ({0, INTERRUPTED, -number} if whole or not before else {INTERRUPTED}):
        yield f"exit code {code}"
    if before and not paths:
        yield f"{len(before)} measurements are journaled, and no partial file is stored"
    for path in set(paths) - {*whole}:
        if store.read(path).frobench.complete:
            yield "the partial file is said to be complete"
