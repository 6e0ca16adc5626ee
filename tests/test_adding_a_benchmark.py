# SPDX-License-Identifier: MIT
"""The benchmark printed in the guide works as it stands there."""

import json
import re
from pathlib import Path

import pytest

import suite
from suite.collection import ARGUMENTS
from tests.alone import copied, run_pytest
from tests.command import ROOT

GUIDE = (ROOT / "docs" / "adding-a-benchmark.md").read_text("utf-8")


@pytest.fixture
def printed(tmp_path: Path) -> Path:
    """Save the guide's only Python block under the name that the guide gives it."""
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    (name,) = re.findall(r"`benchmarks/(bench_\w+\.py)`:", GUIDE)
    path: Path = copied(tmp_path) / name
    path.write_text(code, "utf-8")
    return path


def test_the_printed_benchmark_measures(printed: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    run = run_pytest(printed, "--frobench-profile", "quick", "--benchmark-json", file)
    assert run.returncode == 0, run.stdout
    names = [case["name"] for case in json.loads(file.read_text("utf-8"))["benchmarks"]]
    assert "bench_sort[cpu-1000]" in names


def test_the_printed_benchmark_fails_once_its_result_is_wrong(printed: Path) -> None:
    code = printed.read_text("utf-8")
    printed.write_text(code.replace("numbers.sort()", "numbers.sort(descending=True)"), "utf-8")
    run = run_pytest(f"{printed}::bench_sort[cpu-1000]")
    assert run.returncode == 1
    assert "wrong result: the sorted numbers" in run.stdout


def test_a_benchmark_is_about_fifteen_lines(printed: Path) -> None:
    _, _, code = printed.read_text("utf-8").partition('"""\n\n')
    assert len(code.splitlines()) <= 16


def test_the_guide_names_the_arguments_and_helpers_that_there_are() -> None:
    assert re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE) == list(ARGUMENTS)
    assert set(re.findall(r"`(\w+)\(", GUIDE)) <= set(suite.__all__)
