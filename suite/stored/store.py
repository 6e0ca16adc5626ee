# SPDX-License-Identifier: MIT
"""Stored runs: one file a run, read with the place of every fault, written once and whole.

A file may hold about thirty times what a standard run holds, so that no file makes its reader grow.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from frobench.suite.files import UnusableFileError, content_of, create
from frobench.suite.stored.machine_identity import described
from frobench.suite.stored.types import MINOR, SCHEMA, CaseStats, Run

MOST_VALUES = 1_000_000
"""Values of a file at most, lists and tables included; nearly all are samples."""
VALUES_BESIDE = 30
"""Values for each case and launch, beside the samples."""


def most_launches(cases: int, samples: int) -> int:
    """Return how many launches of so many samples a case a file may hold."""
    return MOST_VALUES // max(1, cases * (samples + VALUES_BESIDE))


NO_RUN = "not a run of Frobench"
PARTIAL = ".partial.json"
"""The end of the name of a file that holds what an interrupted run finished."""
_FOLDED_LIST = re.compile(rb"\[[^][{}]*\]")
_LINE_BREAK = re.compile(rb"\n *")
_FILE_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)


class InvalidResult(ValueError):  # noqa: N818 - it names the thing that is wrong
    """A stored run that cannot be read, or must not be written; the message names the place."""


class _FrobenchHead(msgspec.Struct):
    schema: int
    minor: int = 0


class _Head(msgspec.Struct):
    """As much of a file as tells who can read it."""

    frobench: _FrobenchHead


def read(path: Path) -> Run:
    """Read a stored run.

    Raises `InvalidResult` if there is no regular file that can be opened, or it is no whole stored
    run, or was written by a newer Frobench.
    """
    return decode(content(path))


def content(path: Path) -> bytes:
    """Return the bytes of a stored file, opening nothing but a regular file; see `read`."""
    try:
        return content_of(path)
    except UnusableFileError as error:
        raise InvalidResult(str(error)) from None


def decode(data: bytes) -> Run:
    """Read the text of a stored file; see `read`."""
    return run_of(plain_of(data))


def plain_of(data: bytes) -> dict[str, Any]:
    """Return the plain JSON of a file's text, also what no reader knows; raises as `read`."""
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise InvalidResult(f"more than {MOST_VALUES:,} values")
    try:
        plain: dict[str, Any] = msgspec.json.decode(data)
    except UnicodeDecodeError:
        raise InvalidResult("not UTF-8") from None
    except (msgspec.DecodeError, RecursionError) as error:
        cut = "truncated" in str(error)
        raise InvalidResult("the file is cut off" if cut else f"{NO_RUN}: {error}") from None
    if not isinstance(plain, dict):
        raise InvalidResult(f"{NO_RUN}: not a table")
    return plain


def require_single_names(data: bytes) -> None:
    """Raise `InvalidResult` if a table has a name twice; readers differ in which entry they take.

    It takes longer than to read the file, and so is asked once, where the file is judged.
    """

    def entries(pairs: list[tuple[str, object]]) -> None:
        if len({name for name, _ in pairs}) < len(pairs):
            raise InvalidResult("a table has two entries of one name")

    json.loads(data, object_pairs_hook=entries, parse_int=len, parse_float=len)


def run_of(plain: dict[str, Any]) -> Run:
    """Return the run that plain JSON holds; raises as `read`."""
    minor = 0
    try:
        head = msgspec.convert(plain, _Head).frobench
        schema, minor = head.schema, head.minor
        if not 1 <= schema <= SCHEMA:
            by = "a newer Frobench" if schema > SCHEMA else "no Frobench"
            raise InvalidResult(f"written by {by}: schema {schema}")
        run = msgspec.convert(plain, Run)
    except msgspec.ValidationError as error:
        if minor > MINOR:  # it may have a value that this version does not know
            newer = f"written by a newer Frobench: schema {SCHEMA}.{minor}"
            raise InvalidResult(newer) from None
        foreign = f"{NO_RUN}: " * ("frobench" not in plain)
        raise InvalidResult(f"{foreign}{error}") from None
    cpu, info = run.frobench.environment.cpu, run.machine_info.get("cpu")
    if cpu.family is UNSET and isinstance(info, dict) and "family" in info:  # an older file
        for name, value in described(info).items():
            setattr(cpu, name, value)
    return run


def _plain(run: Run) -> dict[str, Any]:
    """Return the run as the plain JSON that a reader of the file gets.

    A field of floats holds no integer here: they are spelled differently, which the digest shows.
    """
    built = msgspec.to_builtins(run)
    try:
        typed = msgspec.convert(built, Run)
    except msgspec.ValidationError as error:
        raise InvalidResult(str(error)) from None
    result: dict[str, Any] = msgspec.to_builtins(typed)
    return result


def digest(run: Run) -> str:
    """Return the digest of the file that a run makes.

    Raises `InvalidResult` where a value is not finite, or not of its field's type.
    """
    return digest_of(_plain(run))


def digest_of(plain: dict[str, Any]) -> str:
    """Return the sha256 of a file's canonical JSON without its digest field.

    Canonical is what Python's ``json.dumps`` writes with sorted keys, no spaces and
    non-ASCII characters escaped.

    plain : all that the file holds, also fields that a later version added

    Raises `InvalidResult` where a value is not finite.
    """
    frobench = {name: value for name, value in plain["frobench"].items() if name != "digest"}
    bare = plain | {"frobench": frobench}
    try:
        canonical = json.dumps(
            bare, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
        )
    except ValueError:
        raise InvalidResult("a number is not finite") from None
    return hashlib.sha256(canonical.encode()).hexdigest()


def encode(run: Run) -> bytes:
    """Return the text of the stored file, sealed with its digest; raises as `digest`.

    A field is a line, and so is a list of numbers: two files differ where the runs do.
    """
    plain = _plain(run)
    plain["frobench"]["digest"] = digest_of(plain)
    text = msgspec.json.format(msgspec.json.encode(plain), indent=1)
    return _FOLDED_LIST.sub(lambda match: _LINE_BREAK.sub(b"", match[0]), text) + b"\n"


def write(run: Run, folder: Path) -> Path:
    """Store a run as ``<folder>/<machine>/<run>.json`` and return that path.

    The file appears whole or not at all, and never takes the place of another.

    Raises `InvalidResult` if the run cannot be encoded, or its names are no file names, and
    `OSError` with the path if the file exists (`FileExistsError`) or cannot be written.
    """
    name, machine = run.frobench.run, run.frobench.environment.machine
    for field, text in {"run": name, "environment.machine": machine}.items():
        if not _FILE_NAME.fullmatch(text):
            raise InvalidResult(f"not a file name: {text!r} - at `$.frobench.{field}`")
    content = encode(run)
    target = folder / machine / f"{name}.json"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        create(target, content)
    except OSError as error:
        error.filename, error.filename2 = str(target), None
        raise
    return target


def write_once(run: Run, folder: Path) -> Path:
    """Store a run as `write` does, unless the same file is there already."""
    try:
        return write(run, folder)
    except FileExistsError as error:
        path = Path(error.filename)
        if content(path) == encode(run):
            return path
        raise


def find(paths: Iterable[Path]) -> list[Path]:
    """Return the stored files among files and folders, each once, sorted within a folder.

    Names that begin with a dot are passed over inside a folder. What else is called ``*.json``
    there, such as a pipe, is returned too: reading it says that it is no stored run.

    Raises `FileNotFoundError` if a path leads nowhere.
    """
    paths_by_file: dict[str, Path] = {}
    for path in paths:
        path.lstat()
        for file in sorted(_inside(path)) if path.is_dir() else [path]:
            paths_by_file.setdefault(os.path.realpath(file), file)  # of links to themselves too
    return list(paths_by_file.values())


def _inside(folder: Path) -> Iterator[Path]:
    """Yield what is called ``*.json`` below a folder, however deep; no link is followed there."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in (*folders, *files):
            if name.endswith(".json") and not name.startswith("."):
                yield Path(place, name)


def case_stats(samples: Sequence[float], iterations: int) -> CaseStats:
    """Describe host samples, in seconds for each call, by pytest-benchmark's statistics."""
    from pytest_benchmark.stats import Stats  # noqa: PLC0415 - costs 15 ms, readers do without

    stats: Any = Stats()  # type: ignore[no-untyped-call]  # pytest-benchmark has no types
    stats.data = list(samples)
    return CaseStats(**stats.as_dict(), data=stats.data, iterations=iterations)
