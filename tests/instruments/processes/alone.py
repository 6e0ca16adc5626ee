# SPDX-License-Identifier: MIT
"""Benchmarks by themselves: as `pytest benchmarks` runs them, and called as plain functions."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from types import MappingProxyType, ModuleType
from typing import Any
from unittest.mock import Mock

import pytest
from torch.utils.flop_counter import FlopCounterMode

from frobench.suite.kit.worker_process import Seat, serve
from frobench.suite.measure.caches_and_inputs import Inputs
from frobench.suite.stored.types import Check, Work
from tests.instruments.processes import command, warm
from tests.instruments.processes.command import ROOT

BENCHMARKS = ROOT / "benchmarks"
IMPORTED = "ignore::pytest.PytestAssertRewriteWarning"
"""Of modules that a warm process has imported before pytest."""


def run_pytest(
    *arguments: object, devices: str = "cpu", afresh: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run pytest on the benchmarks, or parts of them, that the arguments name.

    afresh : in a new Python, as a user does
    """
    options = ("-c", ROOT / "pyproject.toml", "-q", "-p", "no:cacheprovider", "--frobench-devices")
    # These tests may be run several at once, where pytest-benchmark would time nothing.
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    words = [*options, devices, *arguments]
    if warm.CAN_FORK and not afresh:
        words = ["-W", IMPORTED, *words]
    run = command.program if afresh else warm.program
    return run("pytest", words, ROOT, outer | environment)


def copied(folder: Path) -> Path:
    """Prepare a folder for benchmarks of one's own: with everything but benchmarks."""
    for module in set(BENCHMARKS.glob("*.py")) - set(BENCHMARKS.glob("bench_*.py")):
        (folder / module.name).write_bytes(module.read_bytes())
    return folder


def smaller(folder: Path, changes: Mapping[str, Mapping[str, str]]) -> Path:
    """Write benchmarks into a folder, by their names, with parts of their code replaced."""
    for name, replaced in changes.items():
        path = copied(folder) / f"bench_{name}.py"
        code = (BENCHMARKS / path.name).read_text("utf-8")
        for old, new in replaced.items():
            assert old in code
            code = code.replace(old, new)
        path.write_text(code, "utf-8")
    return folder


def load(path: Path) -> ModuleType:
    """Import a module of benchmarks, and what it needs of its folder, without the plugin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)
        for sibling in path.parent.glob("*.py"):  # another folder's may have the same name
            # It is set before it is deleted, so that afterwards the new module is removed too.
            patch.setitem(sys.modules, sibling.stem, ModuleType(sibling.stem))
            del sys.modules[sibling.stem]
        return import_module(path.stem)


def planted(folder: Path, name: str, old: str, new: str) -> Path:
    """Write benchmarks with a fault in them, or else in the helpers that say what is changed."""
    path = copied(folder) / f"{name}.py"
    path.write_bytes((BENCHMARKS / path.name).read_bytes())
    texts = {one: one.read_text("utf-8") for one in (path, *folder.glob("*.py"))}
    faulty = [one for one in texts if old in texts[one]]
    assert faulty
    for one in faulty[:1] if faulty[0] == path else faulty:
        one.write_text(texts[one].replace(old, new), "utf-8")
    return path


def in_thread(seat: Seat, seed: int) -> tuple[Connection, Mock]:
    """Let a thread of this process be a worker, whose lines are then seen to run."""
    ours, theirs = Pipe()
    thread = Thread(target=serve, args=(theirs, seat, seed))
    thread.start()
    return ours, Mock(kill=gc.enable, join=thread.join)  # a worker disables it


class Recorder:
    """Stands where `Measure` does: calls the body once, and keeps what is known of it.

    counter : counts products; by default torch's, which a compiled body refuses

    products : floating-point operations of its products, as torch counts them
    commonest : the part of an input that is one and the same value, where inputs are seen
    beside : the check of the other version's result
    more : how many lanes the body has, and what else is said of it
    """

    def __init__(self, counter: AbstractContextManager[Any] | None = None) -> None:
        self._counter = counter or FlopCounterMode(display=False)

    def __call__(  # noqa: PLR0913 - as the face that it stands for
        self,
        body: Callable[[], Any],
        *,
        work: Work,
        check: Callable[[Any], Check],
        before: Callable[[], object] | None = None,
        apart: Mapping[str, float] = MappingProxyType({}),
        against: Callable[[], Any] | None = None,
        lanes: Sequence[object] = (),
        **more: object,
    ) -> None:
        """Call the body, and its other version if it has one."""
        inputs = Inputs(body)
        if before is not None:
            before()
        with self._counter as counter:
            result = body()
        self.commonest = inputs.commonest()
        self.products = counter.get_total_flops() if counter else 0
        self.work, self.check, self.apart = work, check(result), apart
        self.more = {"lanes": len(lanes)} | more
        if against is not None and before is not None:
            before()
        self.beside = None if against is None else check(against())
