# SPDX-License-Identifier: MIT
"""A search may be longer than a case's deadline, and goes on where it was once it is killed."""

import json
import time
from pathlib import Path

import pytest

from frobench.suite.journal import Journal, Tried
from frobench.suite.kit.search_strategy import CUBES
from tests.instruments.processes.command import kill, start, stored
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


def tried(folder: Path) -> list[list[int]]:
    return [json.loads(line) for line in (folder / "tried.jsonl").read_text().splitlines()]


def test_it_goes_on_past_the_deadline_and_after_being_killed(tmp_path: Path) -> None:
    benchmarks = tmp_path / "benchmarks"
    benchmarks.mkdir()
    (benchmarks / "bench_tried.py").write_text(BENCHMARK)
    (benchmarks / "conftest.py").write_text('pytest_plugins = ["frobench.suite.launch.plugin"]\n')
    process = start(
        *("run", "--profile", "quick", "--benchmarks", benchmarks, "--devices", "cpu"),
        *("--launches", 1, "--budget", BUDGET, "--deadline", DEADLINE),
        folder=tmp_path,
    )
    journals: list[Path] = []
    while not any(sum(isinstance(r, Tried) for r in Journal(path)) > 8 for path in journals):
        assert process.poll() is None
        time.sleep(0.05)
        journals = list(tmp_path.glob("results/.runs/*/pilot.jsonl"))
    kill(process)
    before = tried(tmp_path)

    run = stored(frobench("run", "--resume", "last", folder=tmp_path), tmp_path)
    (case,) = run.benchmarks
    found = case.extra_info.search
    assert found is not None
    assert found.seconds > DEADLINE
    *searched, pilot, launch = tried(tmp_path)
    assert pilot == launch == found.shape
    assert found.shapes == len({tuple(shape) for shape in searched})
    assert [CUBES[0]] * 3 in before
    assert [CUBES[0]] * 3 not in searched[len(before) :]
