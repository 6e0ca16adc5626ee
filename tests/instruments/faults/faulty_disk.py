# SPDX-License-Identifier: MIT
"""A disk on which something happens at the n-th change: it is full, or the process is killed."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import IO, Any, Self

import pytest

CHANGES = ("link", "mkdir", "rename", "replace", "rmdir", "truncate", "unlink")
TAKING_ROOM = ("link", "mkdir", "open", "write")


class Killed(BaseException):
    """The process is killed: nothing that it does afterwards reaches the disk."""


class Disk:
    """Counts the changes of a disk, and lets something happen at each.

    happen : is told the number of the change, from 1, and its kind; raises where it fails
    """

    def __init__(self, happen: Callable[[int, str], None]) -> None:
        self.changes = 0
        self._happen = happen

    def change(self, kind: str) -> None:
        """Count a change before it is made."""
        self.changes += 1
        self._happen(self.changes, kind)


class File:
    """A file that is written through a `Disk`; what fails writes half."""

    def __init__(self, file: IO[Any], disk: Disk) -> None:
        self._file = file
        self._disk = disk

    def write(self, data: bytes) -> int:
        """Write what there is room for."""
        try:
            self._disk.change("write")
        except BaseException:
            self._file.write(data[: len(data) // 2])
            raise
        return self._file.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a file has
        return getattr(self._file, name)


@contextmanager
def faulty(happen: Callable[[int, str], None]) -> Iterator[Disk]:
    """Let what Python changes on the disk go through a `Disk`."""
    disk, plain_open = Disk(happen), Path.open

    def opened(path: Path, mode: str = "r", *rest: Any, **options: Any) -> Any:  # noqa: ANN401
        if mode.startswith("r"):
            return plain_open(path, mode, *rest, **options)
        disk.change("open")
        return File(plain_open(path, mode, *rest, **options), disk)

    def counted(kind: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            disk.change(kind)
            return plain(*arguments, **options)

        return changed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", opened)
        for kind in CHANGES:
            patch.setattr(os, kind, counted(kind, getattr(os, kind)))
        yield disk


def full_from(first: int) -> Callable[[int, str], None]:
    """Return what happens on a disk that is full from some change on."""

    def happen(number: int, kind: str) -> None:
        if number >= first and kind in TAKING_ROOM:
            raise OSError(ENOSPC, os.strerror(ENOSPC))

    return happen


def killed_at(last: int) -> Callable[[int, str], None]:
    """Return what happens if the process is killed at some change."""

    def happen(number: int, _kind: str) -> None:
        if number >= last:
            raise Killed

    return happen
