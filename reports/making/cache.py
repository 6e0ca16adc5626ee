# SPDX-License-Identifier: MIT
"""What was made from stored runs, kept beside the site so that it need not be made again.

An entry that is damaged, of other sources or of something else is as good as none.
"""

import hashlib
import os
import re
from collections.abc import Container, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from os.path import getsize, isfile
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from frobench.suite.checkout import REPORTS, SUITE

T = TypeVar("T")
SOURCES = (REPORTS, SUITE)
SUFFIXES = {".css", ".csv", ".html", ".js", ".json", ".py", ".svg"}
LIBRARIES = ("jinja2", "matplotlib", "msgspec", "numpy", "pandas", "pillow", "pyarrow")
"""Libraries whose output becomes part of a page or of what is kept."""
_UNSAFE = re.compile(r"[^A-Za-z0-9.+-]+")
_MADE_OF = re.compile(r"[0-9a-f]{64}\.[a-z]+")


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """By what a file that was written is known again: its size in bytes, and its digest."""

    size: int
    sha256: str


Marks = dict[str, Mark]
"""Files by their path below a folder, or by their suffix."""


class _Entry(msgspec.Struct):
    """A value with what it was made with; any change of that makes it worthless."""

    code: str
    value: msgspec.Raw


@dataclass(frozen=True)
class Cache:
    """A folder of entries, which several processes may fill.

    code : a digest of what the entries are made with
    """

    folder: Path
    code: str

    def get(self, name: str, kind: type[T], *, of_any_code: bool = False) -> T | None:
        """Return an entry if it is there and was made by the same code, or by whatever code."""
        with suppress(OSError, msgspec.DecodeError):
            entry = msgspec.msgpack.decode((self.folder / name).read_bytes(), type=_Entry)
            if of_any_code or entry.code == self.code:
                return msgspec.msgpack.decode(entry.value, type=kind)
        return None

    def put(self, name: str, value: object) -> None:
        """Keep an entry, whole or not at all."""
        entry = _Entry(self.code, msgspec.Raw(msgspec.msgpack.encode(value)))
        self.folder.mkdir(parents=True, exist_ok=True)
        write(self.folder / name, msgspec.msgpack.encode(entry))

    def forget(self, but: Container[str]) -> None:
        """Forget what was made of other files than those with these digests."""
        for path in self.folder.iterdir():
            if _MADE_OF.fullmatch(path.name) and path.stem not in but:
                path.unlink()


class Source(NamedTuple):
    """A stored file, and the cache of what is made of it."""

    path: Path
    sha256: str
    cache: Cache

    @property
    def source(self) -> "Source":
        """The file that a job is about; a file is the job where nothing else is needed."""
        return self

    def get(self, name: str, kind: type[T]) -> T | None:
        """Return what was made of the file."""
        return self.cache.get(f"{self.sha256}.{name}", kind)

    def kept(self, name: str, value: T) -> T:
        """Keep what was made of the file, and return it."""
        self.cache.put(f"{self.sha256}.{name}", value)
        return value


def slug(name: str) -> str:
    """Return a name that is safe as a file name and in a link, equal only for equal names."""
    safe = _UNSAFE.sub("-", name).strip(".-")[:100]
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return safe if safe and safe == name else f"{safe or 'unnamed'}-{digest}"


def write(path: Path, content: bytes) -> None:
    """Write a file, so that whoever reads it meanwhile finds the old or the new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)


def mark(content: bytes) -> Mark:
    """Return by what a file with this content is known again."""
    return Mark(len(content), hashlib.sha256(content).hexdigest())


def stand(marks: Marks, out: Path) -> bool:
    """Tell whether files that were written below a folder still lie there."""
    paths = {f"{out}/{name}": mark.size for name, mark in marks.items()}
    # Of tens of thousands of files, for which pathlib is slow.
    return all(isfile(path) and getsize(path) == size for path, size in paths.items())  # noqa: PTH113, PTH202


def remove(names: Iterable[str], marks: Marks, out: Path) -> None:
    """Remove files that were written below a folder, if they are still as they were written."""
    root = out.resolve()
    for name in names:
        path = (out / name).resolve()
        if path.is_relative_to(root) and path.is_file() and mark(path.read_bytes()) == marks[name]:
            path.unlink()
            with suppress(OSError):  # there is more in the folder
                path.parent.rmdir()


@cache
def code() -> str:
    """Return a digest of all sources that make pages from runs, and of what they rest on."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES and "__pycache__" not in path.parts:
                digest.update(path.relative_to(folder).as_posix().encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    for library in LIBRARIES:
        digest.update(f"{library} {version(library)}".encode())
    return digest.hexdigest()
