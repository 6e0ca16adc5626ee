# SPDX-License-Identifier: MIT
"""The exercises: what they ask, that all have cases, and that pytest alone measures them."""

import ast
import json
import platform
import re
from pathlib import Path

import pytest
import torch

from tests.benchmarks.calls import CPU
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load, run_pytest, smaller
from tests.instruments.processes.command import simulated

pytestmark = pytest.mark.long

MODULES = sorted(BENCHMARKS.glob("bench_*.py"))


@pytest.fixture(scope="module")
def listing() -> list[str]:
    """Return the names of all cases."""
    everything = ("--collect-only", "--frobench-profile", "rigorous")
    return run_pytest(BENCHMARKS, *everything).stdout.splitlines()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_benchmarks_have_cases_and_exercises_some_on_the_cpu(
    listing: list[str], path: Path
) -> None:
    cases = [line for line in listing if line.startswith(f"benchmarks/{path.name}::")]
    functions = {line.partition("::")[2].partition("[")[0] for line in cases}
    module = load(path)
    benchmarks = {name for name in vars(module) if name.startswith("bench_")}
    marks = getattr(module, "pytestmark", [])
    for mark in [marks] if isinstance(marks, pytest.MarkDecorator) else marks:
        if mark.name == "on_one_machine":  # without nodes, where this runs, it has no others
            benchmarks &= mark.kwargs.keys()
    assert functions == benchmarks
    assert any("[cpu" in line for line in cases)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_module_asks_a_question_and_explains_itself(path: Path) -> None:
    module = ast.parse(path.read_text("utf-8"))
    question, _, explanation = (ast.get_docstring(module) or "").partition("\n\n")
    assert re.fullmatch(r"[A-Z][^.?]+\?", question)
    assert "sample" in explanation  # which says what is timed


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_benchmark_of_the_project_declares_its_work_and_checks_its_result(path: Path) -> None:
    calls = [
        {keyword.arg for keyword in node.keywords}
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "measure"
    ]
    assert calls
    assert all(keywords >= {"work", "check"} for keywords in calls)


@pytest.mark.parametrize("function", ["bench_write_copy", "bench_write_fill", "bench_write_load"])
def test_models_that_are_lent_for_writing_come_back_as_they_were(function: str) -> None:
    module = load(BENCHMARKS / "bench_parameters.py")
    model = module.placed("cpu", 1_000_000)
    before = [value.clone() for value in model.parameters()]
    getattr(module, function)(Recorder(), device=CPU, parameters=1_000_000)
    assert all(map(torch.equal, before, model.parameters()))


@pytest.mark.parametrize("count", [1_000_000, 100_000_000])
def test_models_have_as_many_parameters_as_they_are_called_by(count: int) -> None:
    module = load(BENCHMARKS / "bench_parameters.py")
    with torch.device("meta"):
        model = module.network(count)
    assert sum(value.numel() for value in model.parameters()) == pytest.approx(count, rel=0.01)


def ids(cases: dict[str, list[str]], folder: Path = BENCHMARKS) -> list[str]:
    """Spell cases, by exercise, as pytest does."""
    return [f"{folder}/bench_{module}.py::{case}" for module in cases for case in cases[module]]


def test_pytest_alone_measures_and_names_no_host(tmp_path: Path) -> None:
    wanted = {
        "copies": ["bench_within[cpu-4096]"],
        "matmul": ["bench_square[cpu-16-float32]"],
        "norm_logging": ["bench_launch_only[cpu-100]"],
        "parallel_matmul": ["bench_processes[cpu/0+cpu/1-64]"],
        "parameters": ["bench_read_scalar[cpu-1000000]"],
    }
    file = tmp_path / "b.json"
    options = ("--frobench-profile", "quick", "--benchmark-json", file)
    run = run_pytest(*ids(wanted), *options, afresh=True)
    assert run.returncode == 0, run.stdout
    text = file.read_text("utf-8")
    assert f'"{platform.node()}"' not in text
    cases = json.loads(text)["benchmarks"]
    assert {case["group"]: [case["name"]] for case in cases} == wanted
    square = next(case["extra_info"] for case in cases if case["group"] == "matmul")
    assert square["work"]["flops"] == 2 * 16**3
    assert square["check"]["precision"] == "float32"
    assert all(case["stats"]["min"] > 0 for case in cases)


ON_ACCELERATORS = {
    "matmul": ["bench_square_with_copies[sim:0-16]"],
    "norm_logging": ["bench_pinned[sim:0-20]", "bench_wait[sim:0-20]"],
    "parallel_matmul": ["bench_two_streams[sim:0-64]", "bench_one_thread[sim:0+sim:1-64]"],
    "parameters": ["bench_move[sim:0-1000000]"],
}
"""What is held against no truth elsewhere, with short loops, and one that needs two devices."""


def test_what_needs_accelerators_runs_on_two_of_them(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    changes: dict[str, dict[str, str]] = {exercise: {} for exercise in ON_ACCELERATORS}
    changes |= {"norm_logging": {"steps=[1000]": "steps=[20]"}}
    folder = smaller(tmp_path, changes)
    words = (*ids(ON_ACCELERATORS, folder), "--benchmark-json", file)
    run = run_pytest(*words, devices="sim:0,sim:1", PYTHONPATH=simulated({})["PYTHONPATH"])
    assert run.returncode == 0, run.stdout
    measured = {case["name"] for case in json.loads(file.read_text("utf-8"))["benchmarks"]}
    assert measured == {case for cases in ON_ACCELERATORS.values() for case in cases}
