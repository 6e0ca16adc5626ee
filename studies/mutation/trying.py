# SPDX-License-Identifier: MIT
"""Runs tests on a checkout with a mutant in it, in processes forked from one that has torch."""

import ast
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from coverage import CoverageData

PROJECT = {"benchmarks", "frobench", "noxfile", "reports", "suite", "tests"}
"""Packages that a forked process imports from the checkout, whatever was imported before."""
CPU_LIMIT = 45
"""Seconds of a processor that a process may take with a mutant; without one it takes half."""
WAIT_LIMIT = 600
"""Seconds that tests may take, whatever they wait for."""
EXAMINED = ("--cov", "--cov-config=.mutation.cfg", "--cov-context=test", "--cov-report=")
COVERAGE = """
[run]
parallel = true
patch = _exit, subprocess
include =
"""
"""What coverage measures; the files of the subject follow."""


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


class Tests(NamedTuple):
    """The tests of a subject, and what each runs.

    files : of them, relative to the checkout
    runs : of each file of the code by its path: of each line, the tests that run it, by their
        node ids; where a fixture or another process runs it, the file of the test
    """

    files: list[str]
    runs: dict[str, dict[int, set[str]]]


def examine(checkout: Path, code: Iterable[Path], files: Iterable[str]) -> Tests:
    """Run each file of tests without a mutant; those that fail are left out.

    code : the files that are mutated
    """
    (checkout / ".mutation.cfg").write_text(COVERAGE + "".join(f"    {path}\n" for path in code))
    data, tests = checkout / ".coverage", Tests([], {})
    for path in files:
        if _passes(checkout, [path], EXAMINED, WAIT_LIMIT):
            tests.files.append(path)
            _note_runs(checkout, data, tests)
        else:
            print(f"left out, since it fails without a mutant: {path}", flush=True)
        data.unlink(missing_ok=True)
    return tests


def survives(checkout: Path, mutant: Mutant, tests: Tests, able: Collection[str]) -> bool:
    """Tell whether tests pass with a mutant; see `reaching`."""
    files = [path for path in tests.files if any(test.startswith(path) for test in able)]
    with _in_place(checkout / mutant.path, mutant.source):
        return _passes(checkout, files, ("-x",), CPU_LIMIT, able)


def reaching(checkout: Path, mutant: Mutant, tests: Tests) -> set[str]:
    """Return the tests that enter the mutant's function, as node ids or whole files.

    Of a mutant outside functions, those that enter any function of its module; if it has none,
    all tests.
    """
    tree = ast.parse((checkout / mutant.path).read_text("utf-8"))
    bodies = [_body(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    around = [body for body in bodies if mutant.line in body]
    lines = min(around, key=len) if around else set().union(*bodies)
    runs = tests.runs.get(mutant.path, {})
    return set().union(*(runs.get(line, ()) for line in lines)) if lines else set(tests.files)


def _body(function: ast.FunctionDef) -> set[int]:
    return set(range(function.body[0].lineno, (function.end_lineno or 0) + 1))


def _note_runs(checkout: Path, data: Path, tests: Tests) -> None:
    """Take up which tests run which lines."""
    measured = CoverageData(str(data))
    measured.read()
    for name in measured.measured_files():
        runs = tests.runs.setdefault(Path(name).relative_to(checkout).as_posix(), {})
        for line, contexts in measured.contexts_by_lineno(name).items():
            for test, _, phase in (context.rpartition("|") for context in contexts):
                runs.setdefault(line, set()).add(test if phase == "run" else tests.files[-1])


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


def _passes(
    checkout: Path,
    files: Sequence[str],
    options: Sequence[str],
    limit: int,
    able: Collection[str] | None = None,
) -> bool:
    """Run tests in a process of its own; say whether all of them pass in time.

    limit : seconds of a processor for each process
    able : the tests to run, as node ids or whole files; without it all
    """
    scratch = checkout.parent / "scratch"
    arguments = [*files, "-q", "-p", "no:cacheprovider", f"--basetemp={scratch}", *options]

    def run() -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        _enter(checkout, writes=able is None)
        return int(pytest.main(arguments, [_Selection(able)]))

    passed = _forked(run) == 0
    shutil.rmtree(scratch, ignore_errors=True)
    return passed


class _Selection:
    """A plugin that leaves tests out."""

    def __init__(self, able: Collection[str] | None) -> None:
        self._able = able

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests to run."""
        if self._able is not None:
            items[:] = [
                item for item in items if {item.nodeid, item.nodeid.split("::")[0]} & {*self._able}
            ]


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
