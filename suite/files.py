# SPDX-License-Identifier: MIT
"""Files read with care, and written so that a killed process spoils none."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from errno import EEXIST
from pathlib import Path
from secrets import token_hex
from typing import Any, Generic, TypeVar

import msgspec

LARGEST_FILE = 50_000_000
"""Bytes of a stored file, at most."""


class UnusableFileError(ValueError):
    """There is no regular file of at most `LARGEST_FILE` bytes; the message says what is there."""


def content_of(path: Path) -> bytes:
    """Return the content of a regular file, or of the one that a link leads to.

    Nothing else is opened, as that may wait for ever or change a device.

    Raises `UnusableFileError`.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnusableFileError("not a regular file")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UnusableFileError(f"cannot be read: {error.strerror or error}") from None
    if len(data) > LARGEST_FILE:
        raise UnusableFileError(f"larger than {LARGEST_FILE // 10**6} MB, which no stored run is")
    return data


def keep(path: Path, data: bytes) -> None:
    """Put data into the place of whatever a file held: all of it or, if killed, nothing."""
    draft = path.with_name(f"{path.name}.new")
    try:
        write_through(draft, data)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def create(path: Path, data: bytes) -> None:
    """Make a file: all of it or, if killed, nothing, and never in the place of another one.

    Raises `FileExistsError` if the path has one.
    """
    draft = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        write_through(draft, data)
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if path.exists():
                raise FileExistsError(EEXIST, os.strerror(EEXIST)) from None
            draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)


def write_through(path: Path, data: bytes) -> None:
    """Write a file, and see it on the disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


Line = TypeVar("Line")


def encoded(line: object) -> bytes:
    """Return a line as the file holds it."""
    return msgspec.json.encode(line) + b"\n"


class JsonLines(Generic[Line]):
    """Append to and read one file of JSON lines, which need not exist.

    kind : the type of a line, or a union of tagged types
    unsynced : types of lines that need not be on the disk before the next thing happens
    damaged : numbers of the lines, from 1, that cannot be read and were passed over
    """

    def __init__(
        self,
        path: Path,
        kind: Any,  # noqa: ANN401 - a union is no type
        unsynced: tuple[type, ...] = (),
    ) -> None:
        self.path = path
        self._unsynced = unsynced
        self._decoder = msgspec.json.Decoder(kind)
        self._offset = 0
        self._lines = 0
        self.damaged: list[int] = []

    def write(self, line: Line) -> None:
        """Append a line, and see it on the disk unless its type need not be."""
        with self.path.open("ab") as file:
            file.write(encoded(line))
            file.flush()
            if not isinstance(line, self._unsynced):
                os.fsync(file.fileno())

    def append(self, lines: Iterable[Line]) -> None:
        """Append lines as they come, each in one piece, since other processes append too."""
        with self.path.open("ab", buffering=0) as file:
            for line in lines:
                file.write(encoded(line))

    def news(self) -> Iterator[Line]:
        """Yield the lines that were appended since the last call, without the damaged ones."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                self._lines += 1
                try:
                    decoded = self._decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    self.damaged.append(self._lines)
                else:
                    yield decoded

    def mend(self) -> None:
        """Cut off the half line that a killed process left; whole lines are not written anew."""
        if self.path.exists():
            os.truncate(self.path, self.path.read_bytes().rfind(b"\n") + 1)

    def __iter__(self) -> Iterator[Line]:
        """Yield every line, also those that `news` yielded."""
        yield from JsonLines[Line](self.path, self._decoder.type).news()
