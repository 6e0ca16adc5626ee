# SPDX-License-Identifier: MIT
"""`frobench run --once`: one call of one case in one process, and nothing stored."""

import json
from pathlib import Path

import pytest

from frobench.suite.errors import NothingSelectedError
from frobench.suite.once import the_case
from tests.instruments.processes.project_files import planted
from tests.instruments.processes.warm import frobench

CASES = [
    "benchmarks/bench_matmul.py::bench_square[cpu-64-float32]",
    "benchmarks/bench_matmul.py::bench_square[cpu-64-float64]",
    "benchmarks/bench_matmul.py::bench_square_cold[cpu-64]",
    "mine/bench_sort.py::bench_sort[cpu-1000]",
    "mine/bench_sort.py::bench_sort[cpu-10000]",
]
BENCHMARK = '''"""How long does a norm take?"""

import os
from frobench import Device, Measure, Work, cases, close_to

@cases("quick", n=[1_000])
@cases("rigorous", n=[10_000])
def bench_norm(measure: Measure, device: Device, n: int) -> None:
    """Compute the norm of n numbers."""
    numbers = device.uniform(n)
    norm = numbers.cpu().double().norm() + float(os.environ.get("WRONG", "0"))
    measure(numbers.norm, work=Work(flops=2 * n), check=close_to(norm, 1e-3, "the norm"))
'''


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return planted(tmp_path / "mine", {"bench_norm.py": BENCHMARK})


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("square[cpu-64-float32]", 0),
        ("bench_square[cpu-64-float64]", 1),
        ("square_cold", 2),
        (CASES[3], 3),
        ("sort[cpu-1000]", 3),  # which is the beginning of another's parameters
        ("SORT[CPU-10000", 4),
    ],
)
def test_a_case_is_found_by_its_name_or_a_part_of_it(wanted: str, place: int) -> None:
    assert the_case(wanted, CASES) == CASES[place]


@pytest.mark.parametrize("wanted", ["no case matches 'cube'", "'square' matches 3 cases"])
def test_who_names_no_case_or_several_is_told_so(wanted: str) -> None:
    with pytest.raises(NothingSelectedError, match=wanted):
        the_case(wanted.split("'")[1], CASES)


def test_the_call_is_marked_in_its_trace_and_nothing_is_stored(mine: Path, tmp_path: Path) -> None:
    options = ("--benchmarks", mine, "--devices", "cpu", "--trace", "trace.json")
    ended = frobench("run", "--once", "norm[cpu-10000]", *options, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    events = json.loads((tmp_path / "trace.json").read_text("utf-8"))["traceEvents"]
    (mark,) = [one for one in events if one.get("name") == "frobench: norm[cpu-10000]"]
    norms = [one for one in events if one.get("name") == "aten::linalg_vector_norm"]
    assert len(norms) == 1
    assert mark["ts"] <= norms[0]["ts"] <= mark["ts"] + mark["dur"]
    assert {one.name for one in tmp_path.iterdir()} == {"mine", "trace.json", "frobench.lock"}


def test_a_wrong_result_fails_and_says_so(mine: Path, tmp_path: Path) -> None:
    options = ("--once", "norm[cpu-1000]", "--benchmarks", mine, "--devices", "cpu")
    ended = frobench("run", *options, folder=tmp_path, environment={"WRONG": "1"})
    assert ended.returncode == 1
    assert "failed: norm[cpu-1000]: wrong result: the norm with float64 is off by" in ended.stderr
    assert not ended.stdout
