# SPDX-License-Identifier: MIT
"""The folders of runs that are not finished, below `results/.runs/`, and what they hold so far.

A folder that holds a plan belongs to a run that can be resumed, whenever a process is killed: it is
whole before the plan is written, and the plan is removed first.
"""

import glob
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from frobench.suite.errors import CannotRunError
from frobench.suite.plan import Plan

RUNS = ".runs"
ABANDONED_SECONDS = 60.0
"""The age from which a folder without a plan belongs to no living process."""
PAUSE = 0.05
PILOT, LAUNCHES, READINGS = "pilot.jsonl", "launches.jsonl", "telemetry.jsonl"
"""Files of a run's folder: the journals of pilot and launches, and the readings of sensors."""
LOCK = "lock"
"""The file that a running process locks."""


def begin(results: Path, plan: Plan) -> Path:
    """Make the folder of a run whose name no other run in `results` has, and put its plan there.

    The name consists of the second, the first digits of the project's commit or else of Frobench's,
    and the machine's label if it has one: another machine may begin a run in the same second.
    """
    commit = (plan.project and plan.project.id) or plan.commit.id or "unknown"
    runs = results / RUNS
    runs.mkdir(parents=True, exist_ok=True)
    while True:
        second = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        plan.run = "-".join(filter(None, [second, commit[:7], plan.label]))
        folder = runs / plan.run
        with suppress(FileExistsError):  # another run began in this second
            folder.mkdir()
            if not _stored(results, plan.run):
                break
            folder.rmdir()
        time.sleep(PAUSE)
    try:
        (folder / LOCK).touch()
        plan.write(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def find(results: Path, wanted: str) -> Path:
    """Return the folder of the run to resume, by its name or ``last``.

    Raises `CannotRunError` if there is none.
    """
    runs = results / RUNS
    names = sorted(path.parent.name for path in runs.glob(f"[!.]*/{Plan.FILE}"))
    name = names[-1] if wanted == "last" and names else wanted
    if name in names:
        return runs / name
    if stored := _stored(results, name):
        raise CannotRunError(f"the run {name} is finished and stored in {stored[0]}")
    known = f"there are {', '.join(names)}" if names else "there is none"
    raise CannotRunError(f"no interrupted run {name!r} in {results}; {known}")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from a run's folder; the system releases it when this process ends.

    Raises `CannotRunError` if another process holds it, maybe on a machine that shares `results`.
    """
    import fcntl  # noqa: PLC0415 - Windows has none, and makes pages all the same

    with (folder / LOCK).open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotRunError(
                f"the run {folder.name} goes on in another process, perhaps on another machine"
            ) from None
        except OSError:  # a file system without locks
            pass
        yield


def remove(folder: Path) -> None:
    """Remove the folder of a run that is stored, or that measured nothing."""
    (folder / Plan.FILE).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def sweep(results: Path) -> None:
    """Remove what is left of processes that were killed while they made or removed a folder."""
    for folder in (results / RUNS).glob("*"):
        with suppress(FileNotFoundError):  # another process has just removed it
            age = time.time() - folder.stat().st_mtime
            if age > ABANDONED_SECONDS and not (folder / Plan.FILE).exists():
                shutil.rmtree(folder, ignore_errors=True)


def _stored(results: Path, name: str) -> list[Path]:
    return list(results.glob(f"*/{glob.escape(name)}.json"))


class RunClock:
    """Counts the seconds of a run; it stands still between two sittings."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def seconds(self) -> float:
        """Return the seconds that the run has taken so far."""
        return time.monotonic() - self._begun

    def advance_to(self, seconds: float) -> None:
        """Count at least so many seconds, which earlier sittings have recorded."""
        self._begun = min(self._begun, time.monotonic() - seconds)
