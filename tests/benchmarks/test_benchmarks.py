# SPDX-License-Identifier: MIT
"""The exercises: what they ask, and that pytest alone measures them."""

import ast
import json
import platform
import re
from pathlib import Path

import pytest
import torch

from tests.benchmarks.calls import CPU
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load, run_pytest

pytestmark = pytest.mark.long


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("bench_*.py")), ids=lambda one: one.stem)
def test_every_module_asks_a_question_and_explains_itself(path: Path) -> None:
    module = ast.parse(path.read_text("utf-8"))
    question, _, explanation = (ast.get_docstring(module) or "").partition("\n\n")
    assert re.fullmatch(r"[A-Z][^.?]+\?", question)
    assert "sample" in explanation  # which says what is timed


@pytest.mark.parametrize("function", ["bench_write_copy", "bench_write_fill", "bench_write_load"])
def test_models_that_are_lent_for_writing_come_back_as_they_were(function: str) -> None:
    module = load(BENCHMARKS / "bench_parameters.py")
    model = module.placed("cpu", 1_000_000)
    before = [value.clone() for value in model.parameters()]
    getattr(module, function)(Recorder(), device=CPU, parameters=1_000_000)
    assert all(map(torch.equal, before, model.parameters()))


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
