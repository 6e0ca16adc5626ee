# SPDX-License-Identifier: MIT
"""What two stored runs say of each other."""

import sys
from collections.abc import Callable
from statistics import median

import pytest
from msgspec.structs import replace

from frobench.reports.compare import verdicts
from frobench.suite.compare.gate import exit_code
from frobench.suite.compare.matching import RunComparison
from frobench.suite.compare.runs import compare_runs
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored.types import Case, Check, Conclusion, Run, Search, Severity
from frobench.suite.terminal import comparison as words
from frobench.suite.terminal import output
from tests.instruments.faults.spoiling import take
from tests.instruments.runs import factory

Change = Callable[[Run], None]
FOUND = Search(shape=[64, 128, 256], shapes=50, seconds=2.0, runner_up=0.99)


def _headline(run: Run, *, leads: bool = True) -> Case:
    return next(case for case in run.benchmarks if case.extra_info.headline is leads)


def _word(comparison: RunComparison, case: Case) -> str:
    return next(each.word for each in comparison.cases if each.fullname == case.fullname)


def test_two_runs_of_the_same_code_agree() -> None:
    comparison = compare_runs(factory.run(seed=1), factory.run(seed=2))
    assert not any(case.differs for case in comparison.cases)
    assert exit_code(comparison) == 0


@pytest.mark.parametrize("leads", [True, False])
def test_one_slower_case_among_many_is_found(leads: bool) -> None:  # noqa: FBT001 - a parameter of the test
    base, new = factory.run(seed=1, launches=10), factory.run(seed=2, launches=10)
    case = _headline(new, leads=leads)
    take(case, 1.2)
    comparison = compare_runs(base, new)
    assert _word(comparison, case) == "slower"
    assert exit_code(comparison) == 4
    told = words.of_runs(comparison)
    assert told[1].startswith(f"  slower: {case.group} {case.name.removeprefix('bench_')}: 1.")


def test_below_six_launches_everything_is_unresolved() -> None:
    comparison = compare_runs(factory.run(launches=5), factory.run(launches=5, slower=2))
    assert comparison.counts == {"unresolved": len(comparison.cases)}
    assert exit_code(comparison) == 3


def test_the_estimates_are_those_of_the_launch_medians() -> None:
    base, new = factory.run(seed=1, partial=True), factory.run(seed=2)
    for case, compared in zip(base.benchmarks, compare_runs(base, new).cases, strict=True):
        values = case_medians(case)
        assert compared.base == estimate(values)
        assert compared.base.value == median(value for value in values if value is not None)


def _other_version(run: Run) -> None:
    _headline(run).extra_info.version = "ffffffffffff"


def _wrong_result(run: Run) -> None:
    _headline(run).extra_info.check = Check(compared="row sums", error=0.5, bound=1e-6)


def _other_devices(run: Run) -> None:
    _headline(run).extra_info.devices = ["cpu/0"]


def _other_precision(run: Run) -> None:
    _headline(run).extra_info.check = Check("row sums", 1e-4, 1e-2, precision="tfloat32")


def _other_shape(run: Run) -> None:
    _headline(run).extra_info.search = replace(FOUND, shape=[64, 128, 512])


def _failed(run: Run) -> None:
    outcome = next(o for o in run.frobench.outcomes if o.fullname == _headline(run).fullname)
    outcome.status, outcome.reason = "failed", "it hung in launch 3"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_other_version, "another version of the benchmark"),
        (_wrong_result, "wrong result in new: row sums"),
        (_other_devices, "other devices: cpu -> cpu/0"),
        (_other_precision, "other precision: float32 -> tfloat32"),
        (_other_shape, "another shape was found: 64 x 128 x 256 -> 64 x 128 x 512"),
        (_failed, "failed in new: it hung in launch 3"),
    ],
)
def test_what_is_not_the_same_measurement_is_incomparable(change: Change, reason: str) -> None:
    base, new = factory.run(), factory.run(slower=2)
    for run in (base, new):
        _headline(run).extra_info.search = FOUND
    change(new)
    comparison = compare_runs(base, new)
    case = next(each for each in comparison.cases if each.fullname == _headline(new).fullname)
    assert case.word == "incomparable"
    assert (case.reason or "").startswith(reason)
    assert comparison.counts["incomparable"] == 1


def _conclude(run: Run, case: Case | None, severity: Severity = "error") -> None:
    found = Conclusion(
        code="no-work",
        severity=severity,
        message="a call takes 1 ns",
        advice="",
        case=case.fullname if case else None,
    )
    run.frobench.conclusions.append(found)


@pytest.mark.parametrize("side", ["base", "new"])
def test_a_case_that_a_check_calls_worthless_is_incomparable(side: str) -> None:
    base, new = factory.run(), factory.run(slower=2)
    case = _headline(base)
    _conclude(base if side == "base" else new, case)
    comparison = compare_runs(base, new)
    reasons = {each.fullname: each.reason for each in comparison.cases if each.reason}
    assert reasons == {case.fullname: f"no-work in {side}: a call takes 1 ns"}
    assert _word(comparison, case) == "incomparable"


def test_an_error_of_a_whole_run_makes_every_case_incomparable_and_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    base, new = factory.run(), factory.run(slower=2)
    _conclude(base, None)
    comparison = compare_runs(base, new)
    assert comparison.counts == {"incomparable": len(comparison.cases)}
    assert verdicts.runs(base, new, compare_runs(base, new), as_json=False) == 3
    told = capsys.readouterr().out
    assert told.startswith("cannot say: no-work in base: a call takes 1 ns\n\n")
    assert told.count("a call takes 1 ns") == 1
    assert "incomparable: square" not in told


def test_cases_of_one_run_only_are_named_with_what_the_other_says_of_them() -> None:
    base, new = factory.run(), factory.run()
    lost, late = base.benchmarks[0], base.benchmarks[-1]
    new.benchmarks = new.benchmarks[1:]
    outcome = next(o for o in new.frobench.outcomes if o.fullname == lost.fullname)
    outcome.status, outcome.reason = "skipped", "too large"
    base.benchmarks = base.benchmarks[:-1]
    base.frobench.outcomes = [o for o in base.frobench.outcomes if o.fullname != late.fullname]
    comparison = compare_runs(base, new)
    assert [(each.fullname, each.measured_in, each.reason) for each in comparison.unmatched] == [
        (lost.fullname, "base", "skipped there: too large"),
        (late.fullname, "new", "not selected there"),
    ]


def test_another_machine_is_told_by_what_differs_and_what_to_ask_instead() -> None:
    lines = words.of_runs(compare_runs(factory.run(), factory.run(accelerators=1)))
    assert lines[1] == "  accelerators: none -> NVIDIA H200"
    assert any("--purchase" in line for line in lines)
    assert not any(line.startswith("incomparable: square") for line in lines)
    (only,) = (line for line in lines if line.startswith("only in new: "))
    assert only.endswith("0 accelerators measured there")


def test_reasons_are_told_once_with_the_cases_they_hold_for() -> None:
    base, new = factory.run(), factory.run()
    for case in new.benchmarks[:12]:
        case.extra_info.version = "ffffffffffff"
    new.frobench.environment.software.kernel = "6.9.0"
    for name in ("numpy", "msgspec"):
        new.frobench.environment.software.packages[name] = "9.9"
    lines = words.of_runs(compare_runs(base, new))
    (refused,) = (line for line in lines if line.startswith("incomparable: "))
    assert "and 2 more: another version of the benchmark: " in refused
    assert "differs harmlessly: software.kernel, 2 packages" in lines


def _lines(width: int) -> list[str]:
    comparison = compare_runs(factory.run(seed=1), factory.run(seed=2))
    return [*words.of_cases(comparison.cases, "base", "new").lines(width)]


@pytest.mark.parametrize("width", [96, 80])
def test_a_narrower_table_keeps_every_cell(width: int) -> None:
    wide, narrow = _lines(width=120), _lines(width)
    assert max(map(len, narrow)) <= width
    assert " ".join(" ".join(wide).split()) == " ".join(" ".join(narrow).split())


def test_in_a_very_narrow_terminal_each_row_is_a_sentence() -> None:
    wide, narrow = _lines(width=120), _lines(width=40)
    assert max(map(len, narrow)) <= 40
    text = " ".join(" ".join(narrow).split())
    (row,) = (line for line in wide if line.startswith("  square[cpu-1024-float32] "))
    name, base, unit, *_, word, found = row.split()
    assert f"{name}: base {base} {unit}, new " in text
    assert f", verdict {word}, finds {found}" in text


def test_a_row_without_anything_to_find_says_so_and_the_legend_explains_it() -> None:
    comparison = compare_runs(factory.run(launches=5), factory.run(launches=5))
    table = words.of_cases(comparison.cases, "base", "new")
    assert {row[-1] for row in table.rows} == {"-"}
    assert {row[4].endswith("(no interval: 5 launches)") for row in table.rows} == {True}
    assert any("--launches" in line for line in words.legend(comparison.cases))


def test_what_is_said_is_broken_where_a_terminal_ends_and_whole_without_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"  slower: {'case ' * 20}".rstrip()
    monkeypatch.setenv("COLUMNS", "40")
    output.fold("", line)
    assert capsys.readouterr().out == f"\n{line}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.fold("", line)
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == ""
    assert max(map(len, lines)) <= 40
    assert [text[:4] for text in lines] == ["  sl", *["    "] * (len(lines) - 1)]
