# SPDX-License-Identifier: MIT
"""Where a process has imported a project's code from."""

import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

MOST_NAMED = 5
"""Modules that are named, at most."""


class Origins(NamedTuple):
    """See `suite.running.journal.Imported`."""

    inside: int
    outside: list[str]


def imported(paths: Iterable[str], kept_out: str) -> Origins:
    """Look through the modules of this process.

    What is installed counts for neither, although an environment may lie in the project's folder.

    paths : folders that were put first
    kept_out : a working tree from which nothing may come
    """
    first = [Path(path).resolve() for path in paths]
    tree = Path(kept_out).resolve()
    installed = [
        Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")
    ]
    inside, outside = 0, []
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not Path(file).is_absolute():
            continue
        path = Path(file).resolve()
        if any(path.is_relative_to(folder) for folder in first):
            inside += 1
        elif path.is_relative_to(tree) and not any(map(path.is_relative_to, installed)):
            outside.append(name)
    return Origins(inside, sorted(outside)[:MOST_NAMED])
