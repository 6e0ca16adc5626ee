# SPDX-License-Identifier: MIT
"""Benchmarks of one's own that cannot be collected: one clear line with the file and the line."""

from pathlib import Path

import pytest

from tests.instruments.processes.project_files import planted
from tests.instruments.processes.warm import frobench

HEAD = """from frobench import cases

"""
UNMEASURED = """def bench_lazy(measure):
    measure(lambda: (n for n in range(9)))

def bench_lacking(measure, no_such_fixture): ...
async def bench_waiting(measure): ...
def bench_mistyped(mesure): ...
def bench_nothing(): ...
"""
LAZY = "the body returned a generator or coroutine, whose code has not run; run it in the body"


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        (
            '@cases("quik", n=[1])\ndef bench_one(measure, device, n): ...\n',
            3,
            "bench_mine.py:3: ValueError: @cases('quik'): no such profile; there are quick, ",
        ),
        ("def bench_one(measure, device:\n", 3, "bench_mine.py:3: SyntaxError: "),
        ("from frobench import nothing_like_it\n", 3, "bench_mine.py:3: ImportError: "),
        ("import absent\n", 3, "bench_mine.py:3: ModuleNotFoundError: No module named 'absent'"),
        ("", 2, "no case of the profile standard in"),
    ],
)
def test_one_line_says_where_it_fails(tmp_path: Path, source: str, code: int, message: str) -> None:
    planted(tmp_path, {"mine/bench_mine.py": HEAD + source})
    benchmarks = ("--benchmarks", "mine", "--devices", "cpu")
    shown = frobench("list", *benchmarks, folder=tmp_path)
    assert shown.returncode == code
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
    assert shown.stderr.count("\n") <= 4


def test_a_line_says_why_a_function_measures_nothing(tmp_path: Path) -> None:
    planted(tmp_path, {"mine/bench_mine.py": UNMEASURED})
    options = ("--benchmarks", "mine", "--devices", "cpu", "--profile", "quick")
    shown = frobench("run", *options, folder=tmp_path).stderr
    assert [line for line in shown.splitlines() if line.startswith("failed: ")] == [
        f"failed: bench_lazy: {LAZY}",
        "failed: bench_lacking: fixture 'no_such_fixture' not found",
        "failed: bench_waiting: async def functions are not natively supported.",
        "failed: bench_mistyped: it has no argument `measure`",
        "failed: bench_nothing: it has no argument `measure`",
    ]
    assert "Traceback" not in shown
