# SPDX-License-Identifier: MIT
"""The content of files: read whoever may have made them, and written whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path

LARGEST_FILE = 50_000_000
"""Bytes of a stored file, at most."""
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
"""Opens a pipe at once, should one have taken the file's place."""


class UnusableFileError(ValueError):
    """There is no regular file of at most `LARGEST_FILE` bytes; the message says what is there."""


def read(path: Path) -> bytes:
    """Return the content of a regular file, or of the one that a link leads to.

    Nothing else is opened, as that may wait for ever or change a device.

    Raises `UnusableFileError`.
    """
    try:
        _refuse(path.stat())
        handle = os.open(path, os.O_RDONLY | _NO_WAITING)
        with open(handle, "rb") as file:  # noqa: PTH123 - of a handle
            status = os.fstat(handle)
            _refuse(status)
            data = file.read(status.st_size + 1)  # a larger buffer would take time
            if len(data) > status.st_size:
                data += file.read(LARGEST_FILE + 1 - len(data))
    except OSError as error:
        raise UnusableFileError(f"cannot be read: {error.strerror or error}") from None
    _refuse_size(len(data))  # it may have grown, or its size is not told
    return data


def keep(path: Path, data: bytes) -> None:
    """Put data into the place of whatever a file held: all of it or, if killed, nothing."""
    draft = path.with_name(f"{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _refuse(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kinds = (kind for is_kind, kind in _KINDS if is_kind(status.st_mode))
        raise UnusableFileError(f"{next(kinds, 'something else')}, not a regular file")
    _refuse_size(status.st_size)


def _refuse_size(size: int) -> None:
    if size > LARGEST_FILE:
        raise UnusableFileError(f"larger than {LARGEST_FILE // 10**6} MB, which no stored run is")
