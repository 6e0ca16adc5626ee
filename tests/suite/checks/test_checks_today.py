# SPDX-License-Identifier: MIT
"""What was measured with another benchmark than today's is said, and is no fault."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from frobench.command import main
from frobench.suite import checks
from frobench.suite.checks import today
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from frobench.suite.version import version_in
from tests.instruments.faults.judging import keep, made, validate_file

BENCHMARK = """\
def bench_square(measure):
    \"\"\"Multiply.\"\"\"
    measure(work=2 * SIZE)

SIZE = 16
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the module of today's benchmarks, which has one."""
    monkeypatch.setattr(today, "BENCHMARKS", tmp_path / "benchmarks")
    (tmp_path / "benchmarks").mkdir()
    path = tmp_path / "benchmarks" / "bench_matmul.py"
    path.write_text(BENCHMARK)
    return path


def squares(version: str) -> Run:
    """Return a run of two products, measured with a version of their benchmark."""
    run = made()
    names = [one.fullname for one in run.benchmarks if one.name.startswith("bench_square[")][:2]
    keep(run, lambda one: one.fullname in names)
    for one in run.benchmarks:
        one.extra_info.version = version
    return run


def said(run: Run) -> list[str]:
    return [fault.message for fault in today.other_version(run)]


def test_nothing_is_said_of_todays_version(module: Path) -> None:
    assert said(squares(version_in(module, "bench_square"))) == []


@pytest.mark.parametrize("change", ["2 * SIZE", "SIZE = 16"])
def test_another_body_work_or_parameter_is_said(module: Path, tmp_path: Path, change: str) -> None:
    run = squares(before := version_in(module, "bench_square"))
    changed = tmp_path / "benchmarks" / "bench_matmul_now.py"
    changed.write_text(BENCHMARK.replace(change, change.replace("6", "7").replace("2 *", "3 *")))
    for one in run.benchmarks:
        one.fullname = one.fullname.replace("bench_matmul", "bench_matmul_now")
    now = version_in(changed, "bench_square")
    assert said(run) == [f"2 cases of bench_square version {before}; today {now}"]


def test_a_benchmark_that_is_gone_is_said(module: Path) -> None:
    run = squares("0" * 12)
    module.unlink()
    assert said(run) == ["2 cases of bench_square version 000000000000; today there is none"]


@pytest.mark.parametrize("folder", ["", "mine/", "/mine/", "benchmarks/../", "../benchmarks/"])
def test_nothing_is_said_of_somebodys_own_benchmarks(folder: str) -> None:
    run = squares("0" * 12)
    for one in run.benchmarks:
        one.fullname = one.fullname.replace("benchmarks/", folder)
    assert said(run) == []


def test_a_module_that_cannot_be_read_is_as_if_it_were_gone(module: Path) -> None:
    run = squares("0" * 12)
    module.write_text("def bench_square(")
    assert said(run) == ["2 cases of bench_square version 000000000000; today there is none"]


@pytest.mark.usefixtures("module")
def test_it_is_no_fault_of_a_file(tmp_path: Path) -> None:
    path = store.write(squares("0" * 12), tmp_path)
    assert validate_file(path) == []
    [note] = checks.review(path)
    assert (note.code, note.severity) == ("other-version", "info")
    shown = CliRunner().invoke(main, ["validate", str(path)])
    assert shown.exit_code == 0
    assert shown.output.splitlines() == [
        f"{path}: info: other-version: {note.message}",
        f"{path}: valid",
    ]
