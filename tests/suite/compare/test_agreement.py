# SPDX-License-Identifier: MIT
"""Whether a run that was measured again is said to agree."""

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from frobench.reports.compare import verdicts
from frobench.suite.compare.gate import agreement, exit_code
from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored.types import Conclusion, Run
from tests.instruments.runs import factory


def _slow_down(run: Run, factor: float, *, headline: bool = True, count: int = 1) -> list[str]:
    cases = [case for case in run.benchmarks if case.extra_info.headline is headline][:count]
    for case in cases:
        case.stats.data = [factor * sample for sample in case.stats.data]
    return [case.name.removeprefix("bench_") for case in cases]


def _answer(again: Run, first: Run | None = None, *across: str) -> tuple[str, int]:
    first = first or factory.run(seed=1, launches=10)
    return agreement(compare_runs(first, again, across=across), len(first.benchmarks))


def _again() -> Run:
    return factory.run(seed=2, launches=10)


def test_the_same_code_agrees() -> None:
    every = len(factory.run().benchmarks)
    assert _answer(_again()) == (
        f"agrees: {every} of {every} cases measured again, none different",
        0,
    )


@pytest.mark.parametrize(("factor", "word"), [(1.2, "slower"), (0.8, "faster")])
def test_a_case_that_differs_is_named(
    factor: float, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    again = _again()
    (name,) = _slow_down(again, factor)
    assert verdicts.reproduction(factory.run(seed=1, launches=10), again) == 4
    told = capsys.readouterr().out
    assert re.search(r"(?m)^does not agree: .*, 1 different$", told)
    assert re.search(rf"(?m)^  {word}: .* {re.escape(name)}: ", told)


def _left(leave: Callable[[int], int]) -> tuple[Run, int]:
    """Return a run that measured again a part of the cases, and their whole number."""
    again = _again()
    every = len(again.benchmarks)
    del again.benchmarks[leave(every) :]
    return again, every


def test_half_of_the_cases_are_enough_to_agree() -> None:
    again, _ = _left(lambda every: -(-every // 2))
    assert _answer(again)[1] == 0


def test_fewer_than_half_of_the_cases_cannot_say_that_runs_agree_but_that_they_do_not() -> None:
    again, every = _left(lambda every: (every - 1) // 2)
    measured = f"{len(again.benchmarks)} of {every} cases measured again"
    compared = f"only {(every - 1) // 2} of {every} cases could be compared"
    assert _answer(again) == (f"cannot say: {measured}; {compared}", 3)
    _slow_down(again, 1.5)
    assert _answer(again) == (f"does not agree: {measured}, 1 different", 4)


def test_a_gate_decides_where_half_of_the_cases_would_have_shown_a_slow_down() -> None:
    comparison = compare_runs(factory.run(seed=1, launches=10), _again())
    sharp, *_ = (replace(case, smallest_change=0.1, word="same") for case in comparison.cases)
    blunt = replace(sharp, smallest_change=0.3)
    half = replace(comparison, cases=[sharp, blunt])
    assert exit_code(half, allow_missing=True) == 0
    assert exit_code(replace(half, cases=[sharp, blunt, blunt]), allow_missing=True) == 3


def test_where_all_is_noise_nobody_can_say() -> None:
    first, again = (factory.run(seed=seed, launches=8, noise=0.5) for seed in (1, 2))
    answer, code = _answer(again, first)
    assert code == 3
    assert answer.endswith(" no slow-down of 25% would have shown")


def test_a_run_whose_samples_count_for_nothing_cannot_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    again = _again()
    again.frobench.conclusions.append(
        Conclusion(code="impossible-date", severity="error", message="twice", advice="")
    )
    assert verdicts.reproduction(factory.run(seed=1, launches=10), again) == 3
    told = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith("cannot say: ") and line.endswith("; impossible-date in new: twice")
        for line in told
    )


def test_across_a_difference_that_is_the_question_runs_agree_or_do_not() -> None:
    first, again = factory.run(seed=1), factory.run(seed=2)
    again.frobench.environment.software.threads = 1
    assert _answer(again, first, "software.threads")[1] == 0
    _slow_down(again, 1.5)
    assert _answer(again, first, "software.threads")[1] == 4
    assert _answer(again, first)[1] == 3


def test_the_findings_stand_above_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    again = _again()
    _slow_down(again, 1.2)
    assert verdicts.reproduction(factory.run(seed=1, launches=10), again) == 4
    told = capsys.readouterr().out
    assert "now / before" in told
    assert "best-rate-cpu" in told.partition("does not agree: ")[0]
    assert verdicts.reproduction(again, again) == 0


def test_on_another_machine_the_findings_are_held_side_by_side_without_a_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verdicts.reproduction(factory.run(), factory.run(accelerators=1)) == 3
    told = capsys.readouterr().out
    assert "intervals overlap" in told.splitlines()[0]
    assert "cannot say: " in told
    for word in ("higher", "lower", "unresolved", "incomparable"):
        assert word not in told
