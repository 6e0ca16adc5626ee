# SPDX-License-Identifier: MIT
"""Which nodes a fleet asked, and which of them stored no whole run: a small file beside the runs.

The page that compares nodes takes from it which are missing. It holds labels, no name of a host.
"""

import re
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

import msgspec
from msgspec import Struct

from frobench.suite.files import keep
from frobench.suite.stored.store import InvalidResult, content
from frobench.suite.stored.types import Label, Name, Text

FOLDER = ".fleets"
"""The folder of these files, in a folder of results; git ignores it for its dot."""
_FLEET = re.compile(r"\d{8}T\d+Z")


class AskedNodes(Struct, frozen=True, kw_only=True):
    """What a fleet asked of which nodes."""

    fleet: Name  # when it began (UTC), such as ``20260101T120000000000Z``; the name of its file
    nodes: list[Label]
    lost: dict[Label, Text]  # why a node stored no whole run


def write(asked: AskedNodes, results: Path) -> None:
    """Write the file of a fleet in place of the one that it wrote before; may raise `OSError`."""
    path = results / FOLDER / f"{asked.fleet}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    keep(path, msgspec.json.format(msgspec.json.encode(asked)) + b"\n")


def newest(paths: Iterable[Path]) -> Path | None:
    """Return the file of the newest fleet among folders of results, if there is any."""
    files = (file for path in paths for file in (path / FOLDER).glob("*.json"))
    fleets = (file for file in files if _FLEET.fullmatch(file.stem))
    return max(fleets, default=None, key=attrgetter("name"))


def read(path: Path) -> AskedNodes:
    """Read the file of a fleet; raises `InvalidResult` if it cannot be read."""
    try:
        return msgspec.json.decode(content(path), type=AskedNodes)
    except msgspec.DecodeError as error:
        raise InvalidResult(str(error)) from None
