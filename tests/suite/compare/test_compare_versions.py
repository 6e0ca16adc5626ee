# SPDX-License-Identifier: MIT
"""What a run says of two versions of a body that were measured beside each other."""

import math
from random import Random

import pytest

from frobench.suite.compare.gate import exit_code
from frobench.suite.compare.multiple_testing import compare_family
from frobench.suite.compare.runs import compare_versions, launch_ratios
from frobench.suite.statistics import case_medians
from frobench.suite.stored.types import Case, Check, Conclusion, Run
from frobench.suite.terminal import comparison
from tests.instruments.runs import factory


def _interleave(run: Run, count: int, *, slower: float = 1.0, first: float = 1.0) -> list[Case]:
    """Give some headline cases another version: the body takes `slower` times as long.

    first : what it costs to be the first of a pair, as a factor
    """
    random = Random(1)  # noqa: S311 - no secret
    cases = [case for case in run.benchmarks if case.extra_info.headline][:count]
    for case in cases:
        against, place = [], 0
        for samples in case.extra_info.launches:
            for pair in range(samples):
                cost = first if pair % 2 == 0 else 1 / first
                noise = math.exp(random.gauss(0, 0.002))
                against.append(case.stats.data[place] * noise / cost / slower)
                place += 1
        case.extra_info.against = against
    return cases


def _noisy(launches: int = 12) -> Run:
    """Return a run in which launches differ by 20%: two such runs would not show 2%."""
    return factory.run(launches=launches, noise=0.2)


def test_two_percent_show_within_launches_that_differ_by_twenty() -> None:
    run = _noisy()
    _interleave(run, 4, slower=1.02)
    found = compare_versions(run)
    assert found.counts == {"slower": 4}
    assert all(case.ratio.value == pytest.approx(1.02, rel=2e-3) for case in found.cases)
    assert all((case.smallest_change or 1) < 0.01 for case in found.cases)
    assert exit_code(found) == 4


def test_a_clock_of_two_readings_leaves_no_smallest_change() -> None:
    by_clock = [1.0, 1.02, 1.0, 1.02, 1.0, 1.02]
    noisy = [1.3, 1.1, 1.25, 1.2, 1.15, 1.22]
    coarse, other = compare_family([(by_clock,), (noisy,)], [None, None])
    assert not coarse.differs
    assert other.comparison.smallest_change is None
    assert other.comparison.ratio.value == pytest.approx(1.2, rel=0.02)


def test_the_other_version_is_the_base_in_seconds() -> None:
    run = _noisy()
    (case,) = _interleave(run, 1, slower=2.0)
    (found,) = compare_versions(run).cases
    assert found.base.value == pytest.approx(found.new.value / 2, rel=0.01)
    (row,) = comparison.of_cases([found], "old", "new").rows
    assert case.name == f"bench_{row[1]}"


def test_what_coming_first_costs_falls_out_over_pairs_that_are_led_by_turns() -> None:
    run = factory.run(launches=6, noise=0.0)
    (case,) = _interleave(run, 1, first=1.3)
    case.extra_info.launches = [4] * 6
    against = (case.extra_info.against or [])[:4] * 6
    case.stats.data = case.stats.data[:1] * 24
    assert launch_ratios(case, against) == pytest.approx([1.0] * 6, rel=0.01)


def test_a_preempted_sample_moves_no_ratio() -> None:
    run = factory.run(launches=6, noise=0.0)
    (case,) = _interleave(run, 1)
    case.stats.data[0] *= 10
    assert launch_ratios(case, case.extra_info.against or []) == pytest.approx([1.0] * 6, rel=0.01)


def test_a_launch_without_samples_has_no_ratio() -> None:
    run = factory.run(launches=7, partial=True)
    case = next(one for one in run.benchmarks if one.extra_info.launches[-1] == 0)
    ratios = launch_ratios(case, case.stats.data)
    assert ratios == [1.0] * 6 + [None]
    assert case_medians(case)[-1] is None


def test_six_launches_show_a_change_of_several_cases() -> None:
    run = _noisy(launches=6)
    _interleave(run, 2, slower=1.2)
    found = compare_versions(run)
    assert found.counts == {"slower": 2}
    assert {case.p_value for case in found.cases} == {2 / 64}
    assert {case.allowance for case in found.cases} == {0.0}


def test_a_wrong_result_has_no_verdict() -> None:
    run = _noisy()
    (case,) = _interleave(run, 1, slower=1.2)
    case.extra_info.check = Check(compared="row sums", error=0.5, bound=1e-6)
    found = compare_versions(run)
    assert found.counts == {"incomparable": 1}
    assert comparison.of_runs(found)[1].endswith("wrong result: row sums")


def test_an_error_of_the_whole_run_leaves_no_verdict() -> None:
    run = _noisy()
    _interleave(run, 2, slower=1.2)
    error = Conclusion(code="repeated-samples", severity="error", message="twice", advice="")
    run.frobench.conclusions.append(error)
    found = compare_versions(run)
    assert found.counts == {"incomparable": 2}
    assert found.faults == ["repeated-samples: twice"]
