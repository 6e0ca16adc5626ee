# SPDX-License-Identifier: MIT
"""What else used the machine in one of two runs leaves no verdict, and is named."""

import pytest

from frobench.reports.compare import verdicts
from frobench.suite.compare.between_run_spread import levels
from frobench.suite.compare.gate import exit_code
from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored.types import Conclusion, Run
from frobench.suite.terminal import comparison as words
from tests.instruments.runs import factory


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


def _load(run: Run, cores: float, launches: int = 100) -> Run:
    """Let other programs keep so many cores busy in the first launches."""
    for number, launch in enumerate(run.frobench.launches):
        launch.others = cores if number < launches else 0.0
    return run


def test_a_busy_processor_disturbs_even_where_it_was_so_in_both_runs() -> None:
    base, new = _pair()
    comparison = compare_runs(_load(base, 1.5), _load(new, 1.6))
    parts = ("75% of the cores busy in base", "80% of the cores busy in new")
    reason = f"disturbed: {'; '.join(f'other programs kept {part}' for part in parts)}"
    assert {case.reason for case in comparison.cases} == {reason}


def test_what_the_launches_met_counts_more_than_the_moment_before_them() -> None:
    base, new = _pair()
    _load(_trouble(base), 0.0)
    _load(_trouble(new, "busy-processor"), 1.5, launches=3)
    assert compare_runs(base, new).counts == {"slower": len(base.benchmarks)}
    _load(_trouble(new), 1.5, launches=5)
    assert exit_code(compare_runs(base, new)) == 3


def _gauge(run: Run, seconds: float, noise: float = 0.005, name: str = "cpu/python") -> Run:
    for number, launch in enumerate(run.frobench.launches):
        launch.gauge[name] = seconds * (1 + noise * (number % 3 - 1))
    return run


def test_a_gauge_that_moved_far_disturbs_the_cases_of_its_device() -> None:
    base, new = (factory.run(seed=seed, accelerators=1, slower=seed) for seed in (1, 2))
    _gauge(base, 1e-3), _gauge(new, 1.1e-3)
    comparison = compare_runs(base, new)
    reasons = {case.fullname: case.reason for case in comparison.cases}
    on_cpu = {
        case.fullname
        for case in base.benchmarks
        if any(device.startswith("cpu") for device in case.extra_info.devices)
    }
    assert {name for name, reason in reasons.items() if reason} == on_cpu
    assert "a gauge of its device differs by more than 9" in (reasons[min(on_cpu)] or "")
    assert comparison.counts["slower"] == len(reasons) - len(on_cpu)


def test_a_gauge_that_moved_a_little_widens_the_allowance() -> None:
    base, new = factory.run(seed=1), factory.run(seed=2)
    others = [*map(levels, (factory.run(seed=seed) for seed in range(3, 15)))]
    without = compare_runs(base, new, others)
    _gauge(base, 1e-3), _gauge(new, 1.04e-3)
    within = compare_runs(base, new, others)
    assert max(case.allowance for case in without.cases) < 0.02
    assert min(case.allowance for case in within.cases) == pytest.approx(0.07, abs=0.012)


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_a_gauge_that_is_noise_says_nothing(noise: float) -> None:
    base, new = _pair()
    _gauge(base, 1e-3, noise), _gauge(new, 1.06e-3, noise)
    assert compare_runs(base, new).counts == {"slower": len(base.benchmarks)}


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


def test_the_terminal_names_the_disturbance_once_and_advises_to_measure_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    base, new = _pair()
    _trouble(base), _trouble(new, "busy-processor")
    assert verdicts.runs(base, new, compare_runs(base, new), as_json=False) == 3
    shown = capsys.readouterr().out
    (line,) = (line for line in shown.splitlines() if line.startswith("unresolved: "))
    assert line.endswith(" more: disturbed: busy-processor in new only")
    assert "measure both again side by side: `--retry 1`, or `frobench history`" in shown
    assert words.undecided(compare_runs(base, new).cases) == [line]
