# SPDX-License-Identifier: MIT
"""The exercises: what they ask, what they count, and that wrong arithmetic does not pass."""

import ast
import json
import platform
import re
from pathlib import Path
from typing import Any, Literal

import pytest
import torch

from frobench.suite.kit.device import Device
from frobench.suite.stored.types import Check, Work
from tests.instruments.processes.alone import BENCHMARKS, Recorder, copied, load, run_pytest
from tests.instruments.processes.command import ROOT

pytestmark = pytest.mark.long

MODULES = sorted(BENCHMARKS.glob("bench_*.py"))
EXERCISES = [path.stem.removeprefix("bench_") for path in MODULES]


@pytest.fixture(scope="module")
def listing() -> list[str]:
    """Return the names of all cases."""
    everything = ("--collect-only", "--frobench-profile", "rigorous")
    return run_pytest(BENCHMARKS, *everything).stdout.splitlines()


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_benchmark_has_cases_and_every_exercise_some_on_the_cpu(
    listing: list[str], exercise: str
) -> None:
    cases = [line for line in listing if line.startswith(f"benchmarks/bench_{exercise}.py::")]
    functions = {line.partition("::")[2].partition("[")[0] for line in cases}
    path = BENCHMARKS / f"bench_{exercise}.py"
    benchmarks = {
        node.name
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("bench_")
    }
    marks = getattr(load(path), "pytestmark", [])
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


CPU = Device("cpu")
PLAIN = 0.5
"""No input of a benchmark has so large a part of one and the same value."""
COUNTED = [
    ("bench_matmul", "bench_square", {"device": CPU, "n": 64, "dtype": "float32"}),
    ("bench_matmul", "bench_square", {"device": CPU, "n": 128, "dtype": "bfloat16"}),
    ("bench_matmul", "bench_square", {"device": CPU, "n": 32, "dtype": "float16"}),
    ("bench_matmul", "bench_square_cold", {"device": CPU, "n": 64}),
    ("bench_matmul", "bench_square_narrow", {"accelerator": CPU, "n": 64, "dtype": "tfloat32"}),
    ("bench_matmul", "bench_square_with_copies", {"accelerator": CPU, "n": 64}),
    ("bench_matmul", "bench_oblong", {"device": CPU, "rows": 64, "inner": 8, "columns": 32}),
    ("bench_matmul", "bench_batched", {"device": CPU, "batch": 7, "n": 16}),
    ("bench_norm_logging", "bench_item", {"device": CPU, "steps": 1}),
    ("bench_norm_logging", "bench_log_on_device", {"device": CPU, "steps": 30}),
    ("bench_norm_logging", "bench_numpy", {"device": CPU, "steps": 30}),
    ("bench_norm_logging", "bench_print", {"device": CPU, "steps": 30}),
    ("bench_norm_logging", "bench_batched", {"device": CPU, "steps": 30}),
    ("bench_norm_logging", "bench_norm_only", {"device": CPU, "steps": 30}),
    ("bench_norm_logging", "bench_log_kept", {"device": CPU, "steps": 30}),
    ("bench_norm_logging", "bench_wait", {"accelerator": CPU, "steps": 30}),
    ("bench_parallel_matmul", "bench_sequence", {"accelerator": CPU, "n": 64}),
    ("bench_parallel_matmul", "bench_one_thread", {"devices": [CPU] * 3, "n": 64}),
    ("bench_parallel_matmul", "bench_in_turn", {"devices": [CPU] * 3, "n": 64}),
]


@pytest.mark.parametrize(
    ("module", "function", "arguments"), COUNTED, ids=[f"{row[0]}-{row[1]}" for row in COUNTED]
)
def test_declared_operations_are_those_that_torch_counts(
    module: str, function: str, arguments: dict[str, Any]
) -> None:
    seen = Recorder()
    getattr(load(BENCHMARKS / f"{module}.py"), function)(seen, **arguments)
    assert seen.work.flops is not None
    norms = 0.011 * seen.work.flops if "norm" in module else 0.0  # which torch does not count
    assert seen.products <= seen.work.flops <= seen.products + norms
    assert seen.check.passed
    assert seen.commonest is None or seen.commonest < PLAIN


def test_loops_that_only_read_declare_no_operations() -> None:
    for function in ("bench_read_ready", "bench_read_ready_log"):
        seen = Recorder()
        getattr(load(BENCHMARKS / "bench_norm_logging.py"), function)(seen, device=CPU, steps=20)
        assert seen.products == 0
        assert seen.work == Work(items=20)
        assert seen.check.passed


READS_AND_WRITES = [
    (f"bench_{name}", argument)
    for argument, names in {
        "device": "read_state_dict read_flat write_copy write_fill write_load write_rebuild"
        " write_rebuild_on_meta",
        "accelerator": "move",
    }.items()
    for name in names.split()
]


@pytest.mark.parametrize(("function", "argument"), READS_AND_WRITES)
def test_declared_bytes_are_those_of_the_models_parameters(function: str, argument: str) -> None:
    module, seen = load(BENCHMARKS / "bench_parameters.py"), Recorder()
    getattr(module, function)(seen, **{argument: CPU}, parameters=1_000_000)
    model = module.network(1_000_000)
    passes = 2 if function == "bench_move" else 1
    assert seen.work.bytes == passes * sum(value.nbytes for value in model.parameters())
    assert seen.work.items == passes * len(model.state_dict())
    assert seen.check == Check("every element, bit by bit", 0.0, 0.0)
    assert seen.commonest is None or seen.commonest < PLAIN


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


COPIES: list[tuple[str, dict[str, Any], int, Literal["host", "within", "between"]]] = [
    ("to_device", {"accelerator": CPU, "memory": "pageable"}, 1, "host"),
    ("to_host", {"accelerator": CPU, "memory": "pageable"}, 1, "host"),
    ("within", {"device": CPU}, 2, "within"),
    ("within_cold", {"device": CPU}, 2, "within"),
    ("between", {"pair": [CPU] * 2, "way": "direct"}, 1, "between"),
]


@pytest.mark.parametrize(("name", "where", "times", "path"), COPIES, ids=[row[0] for row in COPIES])
def test_declared_bytes_are_those_that_a_copy_moves(
    name: str, where: dict[str, Any], times: int, path: Literal["host", "within", "between"]
) -> None:
    seen = Recorder()
    getattr(load(BENCHMARKS / "bench_copies.py"), f"bench_{name}")(seen, **where, size=4**6)
    assert seen.work == Work(bytes=times * 4**6, path=path)
    assert seen.check == Check("every element, bit by bit", 0.0, 0.0)


@pytest.mark.parametrize("size", [4, 4000, 4**10])
def test_printed_tensors_are_read_again_whole_or_at_both_ends(size: int) -> None:
    seen = Recorder()
    load(BENCHMARKS / "bench_copies.py").bench_print(seen, device=CPU, size=size)
    assert seen.check.passed


def test_an_array_of_a_tensor_on_the_cpu_moves_nothing() -> None:
    seen = Recorder()
    load(BENCHMARKS / "bench_copies.py").bench_numpy(seen, device=CPU, size=4**6)
    assert seen.work == Work(items=1)
    assert seen.check.passed


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
    folder, file = copied(tmp_path), tmp_path / "b.json"
    for exercise in ON_ACCELERATORS:
        module = BENCHMARKS / f"bench_{exercise}.py"
        text = module.read_text("utf-8").replace("steps=[1000]", "steps=[20]")
        (folder / module.name).write_text(text, "utf-8")
    run = run_pytest(
        *ids(ON_ACCELERATORS, folder),
        *("--benchmark-json", file),
        devices="sim:0,sim:1",
        PYTHONPATH=str(ROOT / "tests" / "instruments" / "simulated"),
    )
    assert run.returncode == 0, run.stdout
    measured = {case["name"] for case in json.loads(file.read_text("utf-8"))["benchmarks"]}
    assert measured == {case for cases in ON_ACCELERATORS.values() for case in cases}
