# SPDX-License-Identifier: MIT
"""Runs tests in a checkout, in processes forked from one that has imported torch."""

import ctypes
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Literal, NamedTuple

import psutil
import pytest

PROJECT = {"frobench", "noxfile", "studies", "tests"}
"""Packages that a forked process imports from its checkout, whatever was imported before."""
PR_SET_CHILD_SUBREAPER = 36
"""The option of `prctl` that makes a process the parent of orphaned descendants (linux/prctl.h)."""
LIMIT = 60.0
"""Seconds of tests of other folders that are tried on a mutant, as they took without it."""
PATIENCE, FACTOR = 20.0, 4.0
"""A test hangs if it takes this many seconds, and this many times as long as without the mutant."""
QUICK = 1.0
"""Seconds of a test, at most, that is not repeated without the mutant after it failed."""
SITES = "FROBENCH_TEST_SITES"
"""Variable that tells the tests of `tests/browser` where their sites lie."""
Outcome = Literal["caught", "missed", "not run"]
PASSED = {0, pytest.ExitCode.NO_TESTS_COLLECTED}
"""Exit codes of pytest that say of no test that it failed."""
_changes = count(1)


class Mutant(NamedTuple):
    """A changed file: its text with the change, the line from 1, the lines before and after."""

    folder: str
    path: str
    line: int
    source: str
    change: str


class Chosen(NamedTuple):
    """A test that may catch a mutant.

    seconds : that it took without a mutant
    longest : those of the longest test of its file: the first test makes what the others share
    """

    name: str
    seconds: float
    longest: float


class Copy(NamedTuple):
    """A checkout that a process changes, and the sites that its tests show in a browser."""

    checkout: Path
    sites: Path


class Ended(NamedTuple):
    """How tests ended: pytest's exit code, the test that began last, and whether it hung."""

    code: int
    test: str
    hung: bool = False


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parents end."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def attempt(copy: Copy, mutant: Mutant, chosen: list[Chosen]) -> tuple[Outcome, str]:
    """Run tests on a mutant until one fails or hangs; return the outcome, and the test's name.

    A test that takes long is repeated. It counts only if it passes without the mutant and fails
    again with it: such tests may wait in vain on a busy machine.
    """
    while chosen:
        with _in_place(copy, mutant) as changed:
            ended = run_chosen(changed, chosen)
        if ended.code in PASSED:
            break
        failed = [test for test in chosen if test.name == ended.test]
        slow = ended.hung or any(test.seconds > QUICK for test in failed)
        if not slow or _fails_again(copy, mutant, failed or chosen[:1]):
            return "caught", ended.test or "collection"
        chosen = [test for test in chosen if test not in failed] if failed else []
    return "missed", ""


def _fails_again(copy: Copy, mutant: Mutant, tests: list[Chosen]) -> bool:
    if run_chosen(copy, tests).code != 0:
        return False
    with _in_place(copy, mutant) as changed:
        return run_chosen(changed, tests).code not in PASSED


def run_chosen(copy: Copy, chosen: list[Chosen]) -> Ended:
    """Run some tests, in this order of their files, until one fails or hangs.

    They pass where they take more than twice as long as without a mutant.
    """
    files = dict.fromkeys(test.name.partition("::")[0] for test in chosen)
    known = {test.name: test.longest for test in chosen}
    last = time.monotonic() + 2 * sum(test.seconds for test in chosen) + PATIENCE

    def waits(test: str, seconds: float) -> Ended | None:
        if seconds > PATIENCE + FACTOR * known.get(test, LIMIT):
            return Ended(1, test, hung=True)
        return Ended(0, test) if time.monotonic() > last else None

    names = {name: place for place, name in enumerate(files)}
    return forked_tests(copy, ["-x", *files], _Selection(names, known), waits)


class _Selection:
    """A plugin that runs some tests, those of one file after those of another."""

    def __init__(self, files: dict[str, int], tests: Iterable[str]) -> None:
        self._files, self._tests = files, {*tests}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._tests]
        items.sort(key=lambda item: self._files[item.nodeid.partition("::")[0]])


class _Progress:
    """A plugin that writes down which test begins."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._file.write_text(nodeid, encoding="utf-8")


def forked_tests(
    copy: Copy,
    arguments: Iterable[str],
    plugin: object,
    waits: Callable[[str, float], Ended | None],
    around: Callable[[Callable[[], int]], int] = lambda call: call(),
) -> Ended:
    """Run pytest in a process of its own; kill whatever it started at its end.

    waits : called with the test that began last and the seconds since; may end the process
    around : calls what runs pytest, in the new process
    """
    scratch = copy.checkout.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    begun = copy.checkout.parent / "begun"
    begun.write_text("", encoding="utf-8")
    words = ["-q", "-p", "no:cacheprovider", f"--basetemp={scratch / 'tests'}", *arguments]

    def call() -> int:
        _enter(copy, scratch)
        return around(lambda: int(pytest.main(words, [plugin, _Progress(begun)])))

    pid = os.fork()
    if pid == 0:
        _become(call)
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0] != pid:  # or an orphan, for which tests wait
            test = begun.read_text("utf-8")
            if stopped := waits(test, time.time() - begun.stat().st_mtime):
                return stopped
            time.sleep(0.02)
        return Ended(os.waitstatus_to_exitcode(ended[1]), begun.read_text("utf-8"))
    finally:
        _kill_descendants()
        shutil.rmtree(scratch, ignore_errors=True)


def _become(call: Callable[[], int]) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    code = 1
    try:
        code = call()
    finally:
        os._exit(code)


def _kill_descendants() -> None:
    while children := psutil.Process().children(recursive=True):
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _enter(copy: Copy, scratch: Path) -> None:
    """Let this process import the project from a checkout."""
    folders = {"", str(Path.cwd())}
    os.chdir(copy.checkout)
    sys.path[:] = [str(copy.checkout), *(path for path in sys.path if path not in folders)]
    for name in [*sys.modules]:
        if name.partition(".")[0] in PROJECT:
            del sys.modules[name]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tempfile.tempdir = None
    os.environ |= {"PYTHONPATH": str(copy.checkout), "TMPDIR": str(scratch), SITES: str(copy.sites)}


@contextmanager
def _in_place(copy: Copy, mutant: Mutant) -> Iterator[Copy]:
    """Replace a file for a while, a script also in the pages of sites of its own.

    Python compiles a file anew whose time of change differs, so that of each mutant does.
    """
    path, shown = copy.checkout / mutant.path, copy.checkout.parent / "sites"
    text, stat = path.read_text("utf-8"), path.stat()
    try:
        path.write_text(mutant.source, encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**10 * next(_changes)))
        if path.suffix == ".js" and copy.sites.exists():
            _show(copy.sites, shown, text, mutant.source)
            yield Copy(copy.checkout, shown)
        else:
            yield copy
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        shutil.rmtree(shown, ignore_errors=True)


def _show(sites: Path, shown: Path, before: str, after: str) -> None:
    """Copy sites, with another script in their pages, which name the digest of each script."""
    from frobench.reports.web import render  # noqa: PLC0415 - tests import that of their checkout

    old, new = (render._COMMENT.sub("", text) for text in (before, after))
    digest, changed = (render._policy("", [text]).split("'")[5] for text in (old, new))
    shutil.copytree(sites, shown)
    for page in shown.rglob("*.html"):
        text = page.read_text("utf-8")
        if old in text:
            page.write_text(text.replace(old, new).replace(digest, changed), encoding="utf-8")
