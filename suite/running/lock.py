# SPDX-License-Identifier: MIT
"""One run at a time on a machine: two would measure each other."""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from suite.errors import CannotRunError


@contextmanager
def machine_lock(folder: Path | None = None) -> Iterator[None]:
    """Hold the machine while a run measures; the system lets go when the process ends.

    folder : where the lock lies, the system's folder for temporary files unless given

    Raises `CannotRunError`, which names the process that holds it.
    """
    path = (folder or Path(tempfile.gettempdir())) / "frobench.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(PermissionError):  # whatever the umask, the next user may open it too
        os.fchmod(handle, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotRunError(_holder(handle)) from None
        os.truncate(handle, 0)
        now = f"{datetime.now(UTC):%H:%M:%S} UTC"
        os.pwrite(handle, json.dumps({"pid": os.getpid(), "since": now}).encode(), 0)
        yield
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    try:
        holder = json.loads(os.pread(handle, 1000, 0))
        who = f"process {holder['pid']}, since {holder['since']}"
    except (ValueError, KeyError):
        who = "a process that has only just begun"
    return f"another run is measuring this machine ({who}); two at a time would disturb each other"
