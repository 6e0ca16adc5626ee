# SPDX-License-Identifier: MIT
"""Other stored runs, which show how far the runs of a machine lie apart."""

import os
from collections.abc import Iterable
from pathlib import Path

from suite.compare.verdicts.levels import MOST_RUNS, Levels, levels
from suite.stored import store

MOST_FILES = 2 * MOST_RUNS
"""Files that are read, at most; some will be of other machines."""


def others(folders: Iterable[Path]) -> list[Levels]:
    """Return what the newest stored runs of some folders say, the newest first.

    Files that cannot be read are passed over, folders that are not there, and runs whose launches
    came in turn with those of other runs. Folders inside them are not searched. The checks are not
    made anew, which would take half a second a file: cases count that the file itself finds no
    error in.
    """
    named = (file for folder in folders for file in folder.glob("*.json") if file.is_file())
    files = {Path(os.path.realpath(file)) for file in named}
    newest = sorted(files, key=lambda file: file.name, reverse=True)[:MOST_FILES]
    return [run for run in map(_levels, newest) if run is not None]


def _levels(file: Path) -> Levels | None:
    try:
        run = store.read(file)
    except store.InvalidResult:
        return None
    return None if run.frobench.beside else levels(run)
