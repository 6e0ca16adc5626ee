# SPDX-License-Identifier: MIT
"""Records which tests run which lines, and chooses those that may catch a mutant."""

import ast
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from operator import or_
from pathlib import Path

import coverage
import msgspec
import pytest
from coverage import CoverageData

from studies.mutation.trying import LIMIT, Chosen, Copy, Ended, Mutant, forked_tests

LONGEST = 900.0
"""Seconds that the tests of one file may take."""
ENGINE = "reports/purchase/script.py"
"""The module that runs scripts without a browser; it names those that it runs."""
CONFIGURATION = """
[run]
parallel = true
patch = _exit, subprocess
include =
    {0}/benchmarks/*
    {0}/frobench/*
    {0}/reports/*
    {0}/suite/*
"""
OF_SCRIPTS = ("tests/browser/", "tests/reports/purchase/")
"""Folders of tests that run scripts first of all."""
Bits = int
"""Lines of a file: bit n is line n."""


class Recorded(msgspec.Struct):
    """The tests of a file that pass, and the lines that they run.

    seconds : of each test, with what it is the first to make for others
    runs : of each file of the project: lines, as hexadecimal digits, by the test that runs them;
        lines that a fixture or an import runs are those of the test file
    share : of each file of the project: its part of all the lines
    """

    seconds: dict[str, float]
    runs: dict[str, dict[str, str]]
    share: dict[str, float]


def record(copy: Copy, file: str, kept: Path) -> int:
    """Run a file of tests without a mutant, and store what it runs; return how many tests pass."""
    folder = copy.checkout.parent / "coverage"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    watch = _Watch(folder)

    def measured(call: Callable[[], int]) -> int:
        settings = folder / "settings"
        settings.write_text(CONFIGURATION.format(copy.checkout), encoding="utf-8")
        watch.measuring = coverage.Coverage(str(folder / "data"), config_file=str(settings))
        watch.measuring.start()
        call()
        watch.measuring.stop()
        watch.measuring.save()
        (folder / "watched").write_bytes(msgspec.json.encode((watch.seconds, watch.files)))
        return 0

    def waits(test: str, seconds: float) -> Ended | None:
        return Ended(1, test, hung=True) if seconds > LONGEST else None

    forked_tests(copy, [file, "-m", "not golden"], watch, waits, measured)
    recorded = _recorded(copy.checkout, folder, file)
    partial = kept.with_suffix(f".{os.getpid()}")
    partial.write_bytes(msgspec.json.encode(recorded))
    partial.rename(kept)
    return len(recorded.seconds)


class _Watch:
    """A plugin that notes which tests pass, and whose processes wrote which files of coverage."""

    measuring: coverage.Coverage

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._failed: set[str] = set()
        self.seconds: dict[str, float] = {}
        self.files: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        result = yield
        for path in self._folder.glob("data.*"):
            self.files.setdefault(path.name, item.nodeid)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self.measuring.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.measuring.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.when == "teardown" and report.nodeid in self._failed:
            del self.seconds[report.nodeid]


def _recorded(checkout: Path, folder: Path, file: str) -> Recorded:
    """Read what was measured, but for files of processes that were killed as they wrote them."""
    watched = folder / "watched"
    text = watched.read_bytes() if watched.exists() else b"[{}, {}]"
    seconds, owners = msgspec.json.decode(text, type=tuple[dict[str, float], dict[str, str]])
    lines: dict[str, dict[str, Bits]] = {}
    for path in folder.glob("data.*"):
        with suppress(coverage.CoverageException):
            data = CoverageData(str(path))
            data.read()
            for name in data.measured_files():
                runs = lines.setdefault(Path(name).relative_to(checkout).as_posix(), {})
                for line, contexts in data.contexts_by_lineno(name).items():
                    for context in contexts:
                        test = context or owners.get(path.name, file)
                        runs[test] = runs.get(test, 0) | 1 << line
    digits = {
        name: {test: f"{bits:x}" for test, bits in runs.items()} for name, runs in lines.items()
    }
    sizes = {name: reduce(or_, runs.values(), 0).bit_count() for name, runs in lines.items()}
    share = {name: size / sum(sizes.values()) for name, size in sizes.items()}
    return Recorded(seconds, digits, share)


def choose(checkout: Path, records: dict[str, Recorded], mutant: Mutant) -> list[Chosen]:
    """Return the tests that run the changed statement: all beside it, others as long as `LIMIT`.

    What is outside of functions is run by a test that imports the module by itself. Files of tests
    that are quick, and run little other code, come first.
    """
    ranked: list[tuple[bool, bool, float, str, list[str]]] = []
    beside = Path("tests", *Path(mutant.path).parent.parts[:2])
    source = (checkout / mutant.path).read_text("utf-8")
    is_script = mutant.path.endswith(".js")
    bits, is_header = (0, False) if is_script else _bits(source, mutant.line)
    for file, recorded in records.items():
        if is_script:
            able, share = _calling(checkout, file, recorded, Path(mutant.path).name), 1.0
            is_direct = file.startswith(OF_SCRIPTS) or Path(mutant.path).stem in Path(file).stem
        else:
            able = _running(recorded, mutant.path, bits)
            is_direct = bool(able)
            able |= _running(recorded, mutant.path, 1 << mutant.line) - {file}
            if is_header:  # a command that refuses an option runs nothing of its function
                able |= _running_beside(recorded, Path(mutant.path))
            share = recorded.share.get(mutant.path, 0.001)  # some run another module alone
        names = [test for test in recorded.seconds if able & {test, file}]
        if names:
            cost = 0.1 + sum(recorded.seconds[test] for test in names)
            ranked.append((Path(file).parent != beside, not is_direct, cost / share, file, names))
    return [*_affordable(records, sorted(ranked))]


def _running_beside(recorded: Recorded, path: Path) -> set[str]:
    """Return which tests run any module of the same folder."""
    modules = (name for name in recorded.runs if Path(name).parent == path.parent)
    return set().union(*(_running(recorded, name, -1) for name in modules))


def _running(recorded: Recorded, path: str, bits: Bits) -> set[str]:
    """Return which tests run any of some lines; the file stands for all its tests."""
    return {test for test, ran in recorded.runs.get(path, {}).items() if int(ran, 16) & bits}


def _calling(checkout: Path, file: str, recorded: Recorded, script: str) -> set[str]:
    """Return which tests of a file run a script; the file stands for all its tests."""
    if file.startswith("tests/browser/") or script in (checkout / file).read_text("utf-8"):
        return {file}
    engine = (checkout / ENGINE).read_text("utf-8")
    functions = (one for one in ast.parse(engine).body if isinstance(one, ast.FunctionDef))
    call = next(one for one in functions if one.name == "call")
    bits = sum(1 << number for number in range(call.body[0].lineno, (call.end_lineno or 0) + 1))
    return _running(recorded, ENGINE, bits) if script in engine else set()


def _affordable(
    records: dict[str, Recorded], ranked: list[tuple[bool, bool, float, str, list[str]]]
) -> Iterator[Chosen]:
    left = LIMIT
    for is_far, _, _, file, names in ranked:
        seconds = records[file].seconds
        longest = max(seconds[name] for name in names)
        for name in sorted(names, key=lambda name: seconds[name]):
            if not is_far or seconds[name] <= left:
                left -= seconds[name] * is_far
                yield Chosen(name, seconds[name], longest)


def _bits(source: str, line: int) -> tuple[Bits, bool]:
    """Return the lines of the statement around a line, and whether it is the header of a function.

    Outside functions, an import runs it. It shows where functions of the module use what it names,
    or in any of them. A header, such as the options of a command, shows in the function's body.
    """
    module = ast.parse(source)
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    for node in functions:
        begin = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        if begin <= line < node.body[0].lineno:
            body = range(node.body[0].lineno, (node.end_lineno or 0) + 1)
            return sum(1 << number for number in body), True
    around = [node for node in functions if node.body[0].lineno <= line <= (node.end_lineno or 0)]
    if not around:
        inside = [range(one.body[0].lineno, (one.end_lineno or 0) + 1) for one in functions]
        every = {number for lines in inside for number in lines}
        here = [one for one in module.body if one.lineno <= line <= (one.end_lineno or 0)]
        named = {name for one in here for name, _, stored in _names(one) if stored}
        uses = {number for name, number, _ in _names(module) if name in named}
        return sum(1 << number for number in (uses & every) or every) or -1, False
    statements = [
        range(node.lineno, _header_end(node) + 1)
        for node in ast.walk(max(around, key=lambda node: node.lineno))
        if isinstance(node, ast.stmt)
    ]
    header = range(line, line + 1)  # such as `except OSError:`, which is no statement of its own
    inner = min((one for one in statements if line in one), key=len, default=header)
    return sum(1 << number for number in inner), False


def _names(node: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Yield each name of a part of a module, its line, and whether it gets a value there."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id, one.lineno, isinstance(one.ctx, ast.Store)


def _header_end(node: ast.stmt) -> int:
    """Return the last line of a statement without the statements in it."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.end_lineno or node.lineno
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return max(node.lineno, first.lineno - 1)
