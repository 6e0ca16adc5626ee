# SPDX-License-Identifier: MIT
"""One run at a time on a machine: two would measure each other."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from frobench.suite.errors import CannotRunError
from frobench.suite.printable import printable

LOCK = Path("/tmp/frobench.lock")  # noqa: S108 - every user can open it; links are refused
"""The lock's file, the same for every user and whatever the folder for temporary files."""
VARIABLE = "FROBENCH_LOCK"
"""The environment variable that names another file, such as one that two containers share."""
MODE = 0o666
LONGEST_NOTE = 100
"""Bytes that are read of what the holder wrote about itself."""


@contextmanager
def machine_lock(waiting: Callable[[str], object] | None = None) -> Iterator[None]:
    """Hold the machine while a run measures; the system releases it when the process ends.

    waiting : gets a message before this process waits for another one; without it none waits

    Raises `CannotRunError` if another process holds the machine, or if the lock's file is unfit.
    """
    with _opened() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note = os.pread(handle, LONGEST_NOTE, 0).decode(errors="replace")
            named = f" ({printable(note)})" if note else ", and has just begun"
            holder = f"another run is measuring this machine{named}"
            if waiting is None:
                raise CannotRunError(
                    f"{holder}; two at a time would disturb each other: --wait waits for it"
                ) from None
            waiting(f"{holder}; waiting until it ends")
            fcntl.flock(handle, fcntl.LOCK_EX)
        with suppress(OSError):  # the file of a user who does not share it
            holder = f"process {os.getpid()}, since {datetime.now(UTC):%H:%M:%S} UTC"
            os.pwrite(handle, holder.encode(), 0)
            os.truncate(handle, len(holder))
        yield


def lock_identity() -> str:
    """Return what processes with the same lock's file have in common."""
    with _opened() as handle:
        file = os.fstat(handle)
    return f"{file.st_dev}:{file.st_ino}"


@contextmanager
def _opened() -> Iterator[int]:
    """Open the lock's file, made if it is missing, without following a link."""
    path = Path(os.environ.get(VARIABLE) or LOCK)
    unfit = CannotRunError(
        f"{path}, by which runs take turns on this machine, is a link or no plain file; "
        f"remove it, or name another file in {VARIABLE}"
    )
    try:
        handle = _open(path)
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENXIO, errno.EISDIR}:
            raise
        raise unfit from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise unfit
        if status.st_size == 0:  # just made: whatever the umask, the next user may open it too
            with suppress(PermissionError):
                os.fchmod(handle, MODE)
        yield handle
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    # Linux refuses O_CREAT for another user's file in a sticky folder. Reading is enough to lock.
    flags = os.O_NOFOLLOW | os.O_NONBLOCK
    for way in (os.O_RDWR | os.O_CREAT, os.O_RDWR):
        with suppress(PermissionError):
            return os.open(path, way | flags, MODE)
    return os.open(path, os.O_RDONLY | flags)
