# SPDX-License-Identifier: MIT
"""Benchmarks whose arithmetic was changed: their checks must find it out."""

from pathlib import Path
from typing import Any, NamedTuple

from frobench.suite.stored.types import Check
from tests.instruments.processes.alone import BENCHMARKS, Recorder, copied, load


class Fault(NamedTuple):
    """What the code of a benchmark says, what it is made to say, and how it is called."""

    function: str
    old: str
    new: str
    arguments: dict[str, Any]


def changed(fault: Fault, folder: Path) -> Path:
    """Write a copy of a module with the fault planted."""
    module = BENCHMARKS / f"bench_{fault.function.partition('.')[0]}.py"
    code = module.read_text("utf-8")
    assert fault.old in code
    copy = copied(folder) / module.name
    copy.write_text(code.replace(fault.old, fault.new), "utf-8")
    return copy


def checked(fault: Fault, folder: Path) -> Check:
    """Return what the check says of a benchmark with the fault planted."""
    seen = Recorder()
    function = f"bench_{fault.function.partition('.')[2]}"
    getattr(load(changed(fault, folder)), function)(seen, **fault.arguments)
    return seen.check
