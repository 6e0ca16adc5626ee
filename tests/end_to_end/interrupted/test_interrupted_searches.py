# SPDX-License-Identifier: MIT
"""A search may be longer than a case's deadline."""

import json
from pathlib import Path

import pytest

from tests.instruments.processes.command import stored
from tests.instruments.processes.warm import frobench

pytestmark = pytest.mark.long

BENCHMARK = '''
"""What is tried?"""

import json
import time

from frobench import Check, Device, Measure, Shape, ShapeSearch, Work, cases


@cases("quick", dtype=["float32"])
def bench_product(measure: Measure, device: Device, search: ShapeSearch, dtype: str) -> None:
    """Wait, whatever the shape."""

    def make(shape: Shape):
        time.sleep(0.05)
        with open("tried.jsonl", "a") as file:
            print(json.dumps(shape), file=file)
        return lambda: time.sleep(5e-4)

    shape = search(make)
    measure(make(shape), work=Work(flops=shape.flops), check=lambda _: Check("nothing", 0.0, 1.0))
'''
DEADLINE, BUDGET = 2, 30
"""Seconds; a search has a tenth of the budget, so more than the deadline.

Every try takes a twentieth of a second at least, and there is more to try than fits the deadline.
"""


def test_a_search_goes_on_past_the_deadline_of_a_case(tmp_path: Path) -> None:
    benchmarks = tmp_path / "benchmarks"
    benchmarks.mkdir()
    (benchmarks / "bench_tried.py").write_text(BENCHMARK)
    (benchmarks / "conftest.py").write_text('pytest_plugins = ["frobench.suite.launch.plugin"]\n')
    run = frobench(
        *("run", "--profile", "quick", "--benchmarks", benchmarks, "--devices", "cpu"),
        *("--launches", 1, "--budget", BUDGET, "--deadline", DEADLINE),
        folder=tmp_path,
    )
    (case,) = stored(run, tmp_path).benchmarks
    found = case.extra_info.search
    assert found is not None
    assert found.seconds > DEADLINE
    lines = (tmp_path / "tried.jsonl").read_text().splitlines()
    *searched, pilot, launch = map(json.loads, lines)
    assert pilot == launch == found.shape
    assert found.shapes == len({tuple(shape) for shape in searched})
