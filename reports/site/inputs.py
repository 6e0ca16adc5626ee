# SPDX-License-Identifier: MIT
"""The stored files of a site by their content."""

import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from frobench.reports.making.cache import Cache, Source
from frobench.reports.making.workers import cores
from frobench.suite import checks
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import Conclusion


def find(paths: Iterable[Path], kept: Cache) -> tuple[dict[str, Source], dict[Path, Conclusion]]:
    """Return the stored files among files and folders by their digests, each content once.

    What is no file that can be read is returned by its path, with what is wrong.
    """
    found = store.find(paths)
    with ThreadPoolExecutor(cores()) as threads:  # hashing leaves the interpreter to others
        digests = dict(zip(found, threads.map(_digest, found), strict=True))
    sources = {
        digest: Source(path, digest, kept)
        for path, digest in reversed(digests.items())
        if isinstance(digest, str)
    }
    refused = {path: fault for path, fault in digests.items() if isinstance(fault, Conclusion)}
    return sources, refused


def asked(paths: Iterable[Path]) -> tuple[AskedNodes | None, dict[Path, Conclusion]]:
    """Return which nodes the newest fleet of some folders asked; or what is wrong with its file."""
    path = asked_nodes.newest(paths)
    if path is None:
        return None, {}
    try:
        return asked_nodes.read(path), {}
    except store.InvalidResult as fault:
        return None, {path: checks.unreadable(fault)}


def _digest(path: Path) -> str | Conclusion:
    try:
        return hashlib.sha256(store.content(path)).hexdigest()
    except store.InvalidResult as fault:
        return checks.unreadable(fault)
