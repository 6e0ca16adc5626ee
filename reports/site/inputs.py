# SPDX-License-Identifier: MIT
"""The stored files of a site by their content, without reading again what nobody touched since."""

import hashlib
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from frobench.reports.making.cache import Cache
from frobench.reports.making.workers import cores
from frobench.reports.site.run_files import Source
from frobench.suite import checks
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import Conclusion

NOTED = "files"
"""Name among what is kept of the files that were read."""
SETTLED = 1_000_000_000
"""Nanoseconds since a file changed from which the next change shows in its times."""


class Noted(NamedTuple):
    """A file that was read.

    Parameters
    ----------
    look
        Its number, its size, and when its content and anything else about it changed.
    sha256
        Of its content.
    """

    look: tuple[int, int, int, int]
    sha256: str


def find(paths: Iterable[Path], kept: Cache) -> tuple[dict[str, Source], dict[Path, Conclusion]]:
    """Return the stored files among files and folders by their digests, each content once.

    A file that looks as it did when it was read is not read again. What is no file that can be
    read is returned by its path, with what is wrong.
    """
    before = kept.get(NOTED, dict[str, Noted], None) or {}
    now = time.time_ns()
    looks = {path: _look(path) for path in store.find(paths)}
    names = {path: str(path.absolute()) for path in looks}
    known: dict[Path, str | Conclusion] = {
        path: before[name].sha256
        for path, name in names.items()
        if name in before and before[name].look == looks[path]
    }
    unknown = [path for path in looks if path not in known]
    with ThreadPoolExecutor(cores()) as threads:  # hashing leaves the interpreter to others
        known |= zip(unknown, threads.map(_digest, unknown), strict=True)
    digests = {path: kept for path, kept in known.items() if isinstance(kept, str)}
    settled = {
        names[path]: Noted(look, digests[path])
        for path, look in looks.items()
        if look and path in digests and now - max(look[2:]) > SETTLED
    }
    if settled != before:
        kept.put(NOTED, settled)
    sources = {
        digests[path]: Source(path, digests[path], kept)
        for path in reversed(looks)
        if path in digests
    }
    return sources, {path: kept for path, kept in known.items() if isinstance(kept, Conclusion)}


def asked(paths: Iterable[Path]) -> tuple[AskedNodes | None, dict[Path, Conclusion]]:
    """Return which nodes the newest fleet of some folders asked; or what is wrong with its file."""
    path = asked_nodes.newest(paths)
    if path is None:
        return None, {}
    try:
        return asked_nodes.read(path), {}
    except store.InvalidResult as fault:
        return None, {path: checks.unreadable(fault)}


def _look(path: Path) -> tuple[int, int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _digest(path: Path) -> str | Conclusion:
    try:
        return hashlib.sha256(store.content(path)).hexdigest()
    except store.InvalidResult as fault:
        return checks.unreadable(fault)
