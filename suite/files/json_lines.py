# SPDX-License-Identifier: MIT
"""Files of JSON lines: one process appends, another may read meanwhile, and each may be killed.

A killed process leaves at most half a line, which is not read, and is cut off before the next
process writes.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

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
