# SPDX-License-Identifier: MIT
"""What else used the machine in one of two runs leaves no verdict, and is named."""

import pytest

from reports import verdicts
from suite.compare import compare_runs, exit_code, words
from suite.model import Conclusion, Run
from tests import factory


def _trouble(run: Run, *codes: str) -> Run:
    run.frobench.troubles = [
        Conclusion(code=code, severity="warning", message="", advice="") for code in codes
    ]
    return run


def _pair() -> tuple[Run, Run]:
    return factory.run(seed=1), factory.run(seed=2, slower=2)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ([], ["busy-processor"], "disturbed: busy-processor in new only"),
        (["on-battery", "held-back"], [], "disturbed: held-back, on-battery in base only"),
        (
            ["busy-processor"],
            ["little-memory"],
            "disturbed: busy-processor in base only; little-memory in new only",
        ),
    ],
)
def test_unlike_disturbance_leaves_every_case_unresolved(
    before: list[str], after: list[str], reason: str
) -> None:
    base, new = _pair()
    comparison = compare_runs(_trouble(base, *before), _trouble(new, *after))
    assert comparison.counts == {"unresolved": len(comparison.cases)}
    assert {case.reason for case in comparison.cases} == {reason}
    assert {(case.p_value, case.smallest_change) for case in comparison.cases} == {(None, None)}
    assert exit_code(comparison) == 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], []),
        (["busy-processor"], ["busy-processor"]),
        (["no-accelerator"], []),  # nothing that comes and goes
    ],
)
def test_like_disturbance_is_held_against_no_verdict(before: list[str], after: list[str]) -> None:
    base, new = _pair()
    comparison = compare_runs(_trouble(base, *before), _trouble(new, *after))
    assert comparison.counts == {"slower": len(comparison.cases)}
    assert exit_code(comparison) == 4


def test_an_older_file_does_not_say_what_disturbed_it() -> None:
    base, new = _pair()
    comparison = compare_runs(base, _trouble(new, "busy-processor"))
    assert comparison.counts == {"slower": len(comparison.cases)}


def test_a_case_that_was_throttled_in_one_run_is_disturbed_and_the_others_are_judged() -> None:
    base, new = _pair()
    name = new.benchmarks[0].fullname
    new.frobench.conclusions.append(
        Conclusion(code="throttled-case", severity="warning", message="", advice="", case=name)
    )
    comparison = compare_runs(base, new)
    assert comparison.counts == {"slower": len(comparison.cases) - 1, "unresolved": 1}
    assert comparison.cases[0].reason == "disturbed: throttled in new only"
    assert exit_code(comparison) == 4


def test_an_incomparable_case_keeps_its_reason() -> None:
    base, new = _pair()
    new.benchmarks[0].extra_info.version = "ffffffffffff"
    comparison = compare_runs(_trouble(base), _trouble(new, "busy-processor"))
    assert comparison.cases[0].word == "incomparable"
    assert (comparison.cases[0].reason or "").startswith("another version")


def test_the_terminal_names_the_disturbance_once_and_advises_to_measure_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    base, new = _pair()
    _trouble(base), _trouble(new, "busy-processor")
    assert verdicts.runs(base, new, as_json=False) == 3
    shown = capsys.readouterr().out
    (line,) = (line for line in shown.splitlines() if line.startswith("unresolved: "))
    assert line.endswith(" more: disturbed: busy-processor in new only")
    assert "measure again, or measure both versions side by side" in shown
    lines = words.undecided(compare_runs(base, new).cases)
    assert len(lines) == 2
