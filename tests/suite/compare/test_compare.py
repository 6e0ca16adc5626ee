# SPDX-License-Identifier: MIT
"""What two stored runs say of each other, on one machine or on two."""

from statistics import median
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from frobench.reports.compare import verdicts
from frobench.suite.compare.gate import agreement, doubt, exit_code
from frobench.suite.compare.matching import CaseComparison, RunComparison, Unmatched
from frobench.suite.compare.runs import compare_runs
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored import store
from frobench.suite.stored.differences import Difference
from frobench.suite.stored.types import Case, Check, Conclusion, Run, Search, Severity
from frobench.suite.terminal import comparison as words
from tests.instruments.faults.spoiling import take
from tests.instruments.runs import factory

FOUND = Search(shape=[64, 128, 256], shapes=50, seconds=2.0, runner_up=0.99)
LONGER = replace(FOUND, shape=[64, 128, 512])
NARROW = Check("row sums", 1e-4, 1e-2, precision="tfloat32")


def _headline(run: Run, *, leads: bool = True) -> Case:
    return next(case for case in run.benchmarks if case.extra_info.headline is leads)


def _found(comparison: RunComparison, case: Case) -> CaseComparison:
    return next(each for each in comparison.cases if each.fullname == case.fullname)


def _ended(run: Run, case: Case, status: Literal["failed", "skipped"], reason: str) -> None:
    outcome = next(one for one in run.frobench.outcomes if one.fullname == case.fullname)
    outcome.status, outcome.reason = status, reason


@pytest.mark.parametrize("leads", [True, False])
def test_one_slower_case_among_many_is_found(leads: bool) -> None:  # noqa: FBT001 - a parameter of the test
    base, new = factory.run(seed=1, launches=10), factory.run(seed=2, launches=10)
    case = _headline(new, leads=leads)
    take(case, 1.2)
    comparison = compare_runs(base, new)
    assert _found(comparison, case).word == "slower"
    assert exit_code(comparison) == 4
    told = words.of_runs(comparison)
    assert told[1].startswith(f"  slower: {case.group} {case.name.removeprefix('bench_')}: 1.")


def test_the_estimates_are_those_of_the_launch_medians() -> None:
    base, new = factory.run(seed=1, partial=True), factory.run(seed=2)
    for case, compared in zip(base.benchmarks, compare_runs(base, new).cases, strict=True):
        values = case_medians(case)
        assert compared.base == estimate(values)
        assert compared.base.value == median(value for value in values if value is not None)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"version": "ffffffffffff"}, "another version of the benchmark"),
        ({"check": Check("row sums", 0.5, 1e-6)}, "wrong result in new: row sums"),
        ({"devices": ["cpu/0"]}, "other devices: cpu -> cpu/0"),
        ({"check": NARROW}, "other precision: float32 -> tfloat32"),
        ({"search": LONGER}, "another shape was found: 64 x 128 x 256 -> 64 x 128 x 512"),
        ({}, "failed in new: it hung in launch 3"),
    ],
)
def test_what_is_not_the_same_measurement_is_incomparable(
    changed: dict[str, object], reason: str
) -> None:
    base, new = factory.run(), factory.run(slower=2)
    first, second = _headline(base), _headline(new)
    first.extra_info.search, facts = FOUND, {"search": FOUND} | changed
    second.extra_info = replace(second.extra_info, **facts)
    if not changed:
        _ended(new, second, "failed", "it hung in launch 3")
    comparison = compare_runs(base, new)
    case = _found(comparison, second)
    assert (case.word, case.smallest_change) == ("incomparable", None)
    assert (case.reason or "").startswith(reason)
    assert comparison.counts["incomparable"] == 1


def _conclude(run: Run, case: Case | None, severity: Severity = "error") -> None:
    name, message = case.fullname if case else None, "a call takes 1 ns"
    found = Conclusion(code="no-work", severity=severity, message=message, advice="", case=name)
    run.frobench.conclusions.append(found)


@pytest.mark.parametrize("side", ["base", "new"])
def test_a_case_that_a_check_calls_worthless_is_incomparable(side: str) -> None:
    base, new = factory.run(), factory.run(slower=2)
    case = _headline(base)
    _conclude(base if side == "base" else new, case)
    comparison = compare_runs(base, new)
    reasons = {each.fullname: each.reason for each in comparison.cases if each.reason}
    assert reasons == {case.fullname: f"no-work in {side}: a call takes 1 ns"}
    assert _found(comparison, case).word == "incomparable"


def test_an_error_of_a_whole_run_makes_every_case_incomparable() -> None:
    base = factory.run()
    _conclude(base, None)
    comparison = compare_runs(base, factory.run(slower=2))
    every, faults = {"incomparable": len(comparison.cases)}, ["no-work in base: a call takes 1 ns"]
    assert (comparison.counts, comparison.faults) == (every, faults)


def test_cases_of_one_run_only_are_named_with_what_the_other_says_of_them() -> None:
    base, new = factory.run(), factory.run()
    lost, late = base.benchmarks[0], base.benchmarks[-1]
    new.benchmarks = new.benchmarks[1:]
    _ended(new, lost, "skipped", "too large")
    base.benchmarks = base.benchmarks[:-1]
    base.frobench.outcomes = [o for o in base.frobench.outcomes if o.fullname != late.fullname]
    comparison = compare_runs(base, new)
    assert [(each.fullname, each.measured_in, each.reason) for each in comparison.unmatched] == [
        (lost.fullname, "base", "skipped there: too large"),
        (late.fullname, "new", "not selected there"),
    ]
    one, two = (factory.run(accelerators=count) for count in (1, 2))
    where = {(each.measured_in, each.reason) for each in compare_runs(one, two).unmatched}
    assert where == {("new", "1 accelerator measured there"), ("base", "not selected there")}


def spent(run: Run, seconds: float, samples: int, profile: str = "standard") -> Run:
    """Return a run that gave its cases so many seconds in a launch, and so many samples."""
    settings = replace(run.frobench.settings, case_seconds=seconds, profile=profile)
    run.frobench.settings = settings
    for case in run.benchmarks:
        median = case.stats.median
        case.extra_info.launches = [samples for _ in case.extra_info.launches]
        case.stats = store.case_stats([median] * samples * len(case.extra_info.launches), 1)
    return run


@pytest.mark.parametrize(
    ("seconds", "samples", "reason"),
    [
        (0.02, 5, None),
        (0.04, 10, "another time for a case on an accelerator: 0.02 s -> 0.04 s in a launch"),
        (0.2, 30, "another time for a case on an accelerator: 0.02 s -> 0.2 s in a launch"),
    ],
)
def test_another_time_for_a_case_is_a_reason_on_an_accelerator(
    seconds: float, samples: int, reason: str | None
) -> None:
    base = spent(factory.run(seed=1, accelerators=1), 0.02, 5)
    new = spent(factory.run(seed=2, accelerators=1), seconds, samples)
    cases = compare_runs(base, new).cases
    on_cpu = {case.reason for case in cases if "[cpu" in case.fullname}
    there = {case.reason for case in cases if "[cuda:0-" in case.fullname}
    assert there == {reason}
    assert on_cpu == {None}


def test_another_profile_and_another_time_are_stated() -> None:
    base = spent(factory.run(seed=1), 0.02, 5)
    new = spent(factory.run(seed=2), 0.2, 5, "rigorous")
    stated = [(each.fact, each.new) for each in compare_runs(base, new).harmless]
    assert stated[-2:] == [("settings.profile", "rigorous"), ("settings.case_seconds", 0.2)]
    assert not compare_runs(base, base).harmless


SHARP, *_ = compare_runs(factory.run(seed=1), factory.run(seed=1)).cases
BLUNT, SLOWER = replace(SHARP, smallest_change=0.26), replace(SHARP, word="slower")
LEFT_OUT = replace(SHARP, p_value=None, reason="it hung")
SHORT = replace(SHARP, p_value=None, smallest_change=None)
DISTURBED = replace(LEFT_OUT, word="unresolved", reason="disturbed: x")
FAILED = Unmatched(SHARP.fullname, "base", "failed there: it hung", headline=True)
CPU, TORCH = Difference("cpu.model", "a", "b"), Difference("software.torch", "1", "2")
NO_SLOWER = "no slow-down of 25% would have shown"
FEW = "cannot say: only 1 of 3 cases could be compared"
NONE = "cannot say: only 0 of 2 cases could be compared"
MOVES = "cannot say: cpu.model, software.torch differ, which moves numbers"
ACROSS = "to compare across that, add `--across cpu.model --across software.torch`"
AGAIN = "measure both again side by side: `--retry 1`, or `frobench history`"


def _compared(cases: list[CaseComparison], **facts: Any) -> RunComparison:  # noqa: ANN401 - any
    return RunComparison(base="a", new="b", cases=cases, counts={}, **{"faults": []} | facts)


@pytest.mark.parametrize(
    ("cases", "facts", "told"),
    [
        ([SHARP, replace(SHARP, smallest_change=0.25), BLUNT, BLUNT], {}, None),
        ([BLUNT, BLUNT], {}, f"cannot say: in most of 2 cases {NO_SLOWER}"),
        ([replace(BLUNT, word="faster")], {}, f"besides: in 1 case {NO_SLOWER}"),
        ([SHARP, LEFT_OUT], {}, None),
        ([SHARP] + 2 * [LEFT_OUT], {}, f"{FEW}: it hung"),
        ([DISTURBED, DISTURBED], {}, f"{NONE}: disturbed: x; {AGAIN}"),
        ([DISTURBED, LEFT_OUT], {}, f"{NONE}: disturbed: x"),
        ([LEFT_OUT, SHORT], {}, f"{NONE}: it hung; measure with `--launches 6` or more"),
        ([SHARP], {"unmatched": [FAILED]}, None),
        ([SHARP], {"unmatched": 2 * [FAILED]}, "cannot say: 2 of 3 cases failed in new"),
        ([], {}, "cannot say: the runs have no case in common"),
        ([LEFT_OUT], {"faults": ["a", "b"], "differences": [CPU]}, "cannot say: a; b"),
        ([LEFT_OUT], {"differences": [CPU, TORCH]}, f"{MOVES}; {ACROSS}"),
        ([SHARP], {"differences": [CPU]}, None),
    ],
)
def test_a_gate_decides_by_half_of_the_cases_and_says_why_not_and_what_to_do(
    cases: list[CaseComparison], facts: dict[str, Any], told: str | None
) -> None:
    comparison = _compared(cases, **facts)
    assert (words.refusals(comparison)[0] if doubt(comparison) else None) == told
    assert exit_code(comparison, allow_missing=True) == (3 if told else 0)
    missing = LEFT_OUT in cases or "unmatched" in facts
    assert exit_code(comparison) == (3 if told or missing else 0)


def test_a_slower_case_wins_over_a_missing_one_which_the_base_has_or_which_failed_there() -> None:
    late = Unmatched(SHARP.fullname, "new", "not selected there", headline=True)
    broken, other = replace(late, reason="failed there: x"), replace(FAILED, headline=False)
    for one, code in ((late, 0), (broken, 3), (FAILED, 3), (other, 0)):
        assert exit_code(_compared([SHARP], unmatched=[one])) == code
        assert exit_code(_compared([SHARP, SLOWER], unmatched=[one])) == 4


def test_half_of_the_cases_are_enough_to_agree_and_one_to_differ() -> None:
    again = "of 3 cases measured again"
    answer = "agrees: 1 of 2 cases measured again, none different"
    assert agreement(_compared([SHARP]), 2) == (answer, 0)
    answer = f"cannot say: 1 {again}; only 1 of 3 cases could be compared"
    assert agreement(_compared([SHARP]), 3) == (answer, 3)
    answer = f"does not agree: 2 {again}, 1 different"
    assert agreement(_compared([SHARP, SLOWER]), 3) == (answer, 4)


def test_on_another_machine_the_findings_are_held_side_by_side_without_a_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verdicts.reproduction(factory.run(), factory.run(accelerators=1)) == 3
    told = capsys.readouterr().out
    assert "intervals overlap" in told.splitlines()[0]
    assert "cannot say: " in told
    for word in ("higher", "lower", "unresolved", "incomparable"):
        assert word not in told
