# SPDX-License-Identifier: MIT
"""What plain pytest shows of benchmarks: times of those alone that passed."""

import json
from pathlib import Path

from tests.instruments.processes.alone import copied, run_pytest

BENCHMARKS = '''"""Does a case that fails after its timing show a time?"""
import torch
from frobench import Measure, Work, cases, close_to

ONE = torch.ones(1, dtype=torch.float64)


@cases("quick", n=[1, 2])
def bench_asserts_later(measure: Measure, n: int) -> None:
    """The assertion fails after the timing."""
    measure(lambda: ONE, work=Work(items=n), check=close_to(ONE, 0.0, "one"))
    assert n == 1
'''


def test_a_case_that_fails_after_its_timing_shows_no_time(tmp_path: Path) -> None:
    path, file = copied(tmp_path) / "bench_later.py", tmp_path / "out.json"
    path.write_text(BENCHMARKS, "utf-8")
    run = run_pytest(path, "--frobench-profile", "quick", "--benchmark-json", file)
    assert run.returncode == 1, run.stdout
    shown = json.loads(file.read_text("utf-8"))["benchmarks"]
    assert [case["name"] for case in shown] == ["bench_asserts_later[1]"]
