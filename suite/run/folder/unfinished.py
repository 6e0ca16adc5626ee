# SPDX-License-Identifier: MIT
"""The folders of runs that are not finished, below `results/.runs/`.

A folder takes its run's name once it holds the draft, and loses it before it is removed. So a
name stands for a run that can be resumed, whenever a process is killed.
"""

import fcntl
import glob
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from suite.errors import CannotRunError
from suite.run.plan import Draft

RUNS = ".runs"
NEW, REMOVED = ".new", ".removed"
"""How the names of folders end that hold no draft yet, and of those that are being removed."""
ABANDONED_SECONDS = 60.0
"""The age from which a folder without a draft belongs to no process that still lives."""
PAUSE = 0.05


def begin(
    results: Path, commit: str, make_draft: Callable[[str], Draft], label: str | None = None
) -> Path:
    """Make the folder of a run whose name no other run in `results` has, and put its draft there.

    commit : hexadecimal; its beginning is a part of the name, as is the second
    label : of the machine, the last part of the name: others may begin a run in the same second
    make_draft : returns the draft of a run with a name
    """
    runs = results / RUNS
    runs.mkdir(parents=True, exist_ok=True)
    while True:
        parts = [f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}", commit[:7], *([label] if label else [])]
        name = "-".join(parts)
        folder, new = runs / name, runs / f".{name}{NEW}"
        with suppress(FileExistsError):  # another run began in this second
            new.mkdir()
            if not folder.exists() and not _stored(results, name):
                break
            new.rmdir()
        time.sleep(PAUSE)
    try:
        make_draft(name).write(new)
        new.rename(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return folder


def find(results: Path, wanted: str) -> Path:
    """Return the folder of the run to resume.

    wanted : its name, or ``last``

    Raises `CannotRunError` if there is none.
    """
    runs = results / RUNS
    names = sorted(path.parent.name for path in runs.glob(f"[!.]*/{Draft.FILE}"))
    name = names[-1] if wanted == "last" and names else wanted
    if name in names:
        return _plain(runs / name)
    if stored := _stored(results, name):
        raise CannotRunError(f"the run {name} is finished and stored in {stored[0]}")
    known = f"there are {', '.join(names)}" if names else "there is none"
    raise CannotRunError(f"no interrupted run {name!r} in {results}; {known}")


def _plain(folder: Path) -> Path:
    """Return a run's folder if only files and folders lie there, which do not block who opens them.

    Raises `CannotRunError` otherwise.
    """
    for path in folder.iterdir():
        if not path.is_file() and not path.is_dir():
            raise CannotRunError(f"{path} is not a regular file; remove it to resume the run")
    return folder


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from the folder of a run; the system releases it when this one ends.

    Where several machines share `results`, each may try to resume what another one measures.

    Raises `CannotRunError` if another process holds it.
    """
    with (folder / Draft.FILE).open("r+b") as file:
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
    """Take the folder of a run away that is stored, or that measured nothing."""
    removed = folder.with_name(f".{folder.name}{REMOVED}")
    folder.rename(removed)
    shutil.rmtree(removed, ignore_errors=True)


def sweep(results: Path) -> None:
    """Remove what processes left that were killed while they made or removed a folder."""
    for path in (results / RUNS).glob(".*"):
        if path.suffix == REMOVED or (path.suffix == NEW and _age(path) > ABANDONED_SECONDS):
            shutil.rmtree(path, ignore_errors=True)


def _stored(results: Path, name: str) -> list[Path]:
    return list(results.glob(f"*/{glob.escape(name)}.json"))


def _age(path: Path) -> float:
    """Return the seconds since a folder changed; none if it has just been renamed."""
    with suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime
    return 0.0
