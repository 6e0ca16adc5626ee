# SPDX-License-Identifier: MIT
"""Runs tests on a checkout with a mutant in it, in processes forked from one that has torch."""

import ast
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from coverage import CoverageData

PROJECT = {"benchmarks", "frobench", "noxfile", "reports", "suite", "tests"}
"""Packages that a forked process imports from the checkout, whatever was imported before."""
CPU_LIMIT = 60
"""Seconds of a processor that one process of a test may take more than ten times without mutant."""
WAIT_LIMIT = 600
"""Seconds that a test file may take, whatever it waits for."""
COVERAGE = """
[run]
parallel = true
patch = _exit, subprocess
source = suite, reports
"""


class Mutant(NamedTuple):
    """A changed file.

    line : of the change, from 1
    source : the text of the file with the change
    change : the changed lines, before and after
    """

    path: str
    line: int
    source: str
    change: str


class Tested(NamedTuple):
    """A file of tests.

    path : relative to the checkout
    seconds : that it takes without a mutant, while coverage is measured
    lines : of each file of the code, those that it runs, by their paths
    """

    path: str
    seconds: float
    lines: dict[str, set[int]]


def examine(checkout: Path, tests: Iterable[str]) -> list[Tested]:
    """Run each file of tests without a mutant; return those that pass, the quickest first."""
    (checkout / ".mutation.cfg").write_text(COVERAGE)
    options = ("--cov", "--cov-config=.mutation.cfg", "--cov-report=")
    passed = []
    for path in tests:
        data = checkout / ".coverage"
        begun = time.monotonic()
        if _passes(checkout, path, options, WAIT_LIMIT):
            passed.append(Tested(path, time.monotonic() - begun, _lines(checkout, data)))
        else:
            print(f"left out, since it fails without a mutant: {path}", flush=True)
        data.unlink(missing_ok=True)
    return sorted(passed, key=lambda tested: tested.seconds)


def killer(checkout: Path, mutant: Mutant, tests: Sequence[Tested]) -> str | None:
    """Return the first file of tests that fails with a mutant, if one does."""
    with _in_place(checkout / mutant.path, mutant.source):
        for tested in tests:
            limit = CPU_LIMIT + 10 * round(tested.seconds)
            if not _passes(checkout, tested.path, ("-x",), limit):
                return tested.path
    return None


def reaching(checkout: Path, mutant: Mutant, tests: Iterable[Tested]) -> list[Tested]:
    """Return the tests that enter the mutant's function, or import its module if it is in none."""
    body = _body(ast.parse((checkout / mutant.path).read_text("utf-8")), mutant.line)
    return [tested for tested in tests if body & tested.lines.get(mutant.path, set())]


def _body(tree: ast.Module, line: int) -> set[int]:
    """Return the lines of the innermost function around a line; all lines if there is none."""
    body: Sequence[ast.stmt] = tree.body
    for node in ast.walk(tree):  # inner functions come after outer ones
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (
            node.body[0].lineno <= line <= (node.end_lineno or 0)
        ):
            body = node.body
    return set(range(body[0].lineno, (body[-1].end_lineno or 0) + 1))


def _lines(checkout: Path, data: Path) -> dict[str, set[int]]:
    measured = CoverageData(str(data))
    measured.read()
    return {
        Path(name).relative_to(checkout).as_posix(): set(measured.lines(name) or ())
        for name in measured.measured_files()
    }


@contextmanager
def _in_place(path: Path, source: str) -> Iterator[None]:
    """Replace a file for a while, with another time of change: Python keeps what it compiled."""
    text, stat = path.read_bytes(), path.stat()
    try:
        path.write_text(source, encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**10))
        yield
    finally:
        path.write_bytes(text)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _passes(checkout: Path, path: str, options: Sequence[str], limit: int) -> bool:
    """Run a file of tests in a process of its own; say whether all of it passes in time.

    limit : seconds of a processor for each process
    """
    scratch = checkout.parent / "scratch"
    arguments = [path, "-q", "-p", "no:cacheprovider", f"--basetemp={scratch}", *options]

    def run() -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        _enter(checkout, writes="--cov" in options)
        return int(pytest.main(arguments))

    passed = _forked(run) == 0
    shutil.rmtree(scratch, ignore_errors=True)
    return passed


def _enter(checkout: Path, *, writes: bool) -> None:
    """Let this process import the project from a checkout.

    writes : whether it keeps what it compiles; with a mutant it must not
    """
    folders = {"", str(Path.cwd())}
    os.chdir(checkout)
    sys.path[:] = [str(checkout), *(path for path in sys.path if path not in folders)]
    for name in [*sys.modules]:
        if name.partition(".")[0] in PROJECT:
            del sys.modules[name]
    os.environ["PYTHONPATH"] = str(checkout)
    sys.dont_write_bytecode = not writes
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if not writes:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def _forked(call: Callable[[], int]) -> int:
    """Call something in a forked process that says nothing; return its exit code.

    It and the processes that it started are killed after `WAIT_LIMIT` seconds, or at its end.
    """
    pid = os.fork()
    if pid == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        code = 1
        try:
            code = call()
        finally:
            os._exit(code)
    deadline = time.monotonic() + WAIT_LIMIT
    while not (ended := os.waitpid(pid, os.WNOHANG))[0] and time.monotonic() < deadline:
        time.sleep(0.05)
    with suppress(ProcessLookupError):  # no process is left of its session
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(ended[1] if ended[0] else os.waitpid(pid, 0)[1])
