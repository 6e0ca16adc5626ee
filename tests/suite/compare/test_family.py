# SPDX-License-Identifier: MIT
"""Versions measured beside each other, and permutations of whole launches."""

import math
from itertools import combinations
from random import Random

import numpy as np
import pytest
from scipy.stats import t as student_t
from scipy.stats import ttest_1samp, ttest_ind

from frobench.suite.compare import verdicts
from frobench.suite.compare.gate import exit_code
from frobench.suite.compare.runs import compare_versions, launch_ratios
from frobench.suite.compare.verdicts import (
    Values,
    between_runs,
    critical,
    step_down,
    within_launches,
)
from frobench.suite.stored.types import Case, Run
from frobench.suite.terminal import comparison
from tests.instruments.faults.judging import samples, set_samples
from tests.instruments.runs import factory


def _draw(seed: int, launches: int = 6, cases: int = 4) -> tuple[Values, Values]:
    base, new = np.random.default_rng(seed).normal(0, 0.01, (2, launches, cases))
    return base, new


def _between(base: Values, new: Values) -> Values:
    return between_runs(base, new).statistics


def _counted(base: Values, new: Values) -> list[float]:
    """Count all splits of the launches one by one, for the single-step p-values."""
    _, values, _ = verdicts.winsorised(np.concatenate([base, new]))
    whole = range(len(values))

    def largest(chosen: tuple[int, ...]) -> Values:
        there = [place for place in whole if place not in chosen]
        gap = values[list(chosen)].mean(axis=0) - values[there].mean(axis=0)
        within = sum(
            ((values[side] - values[side].mean(axis=0)) ** 2).sum(axis=0)
            for side in (list(chosen), there)
        )
        return np.asarray(np.abs(gap) / np.sqrt(within))

    seen = largest(tuple(whole[len(base) :]))
    maxima = [largest(chosen).max() for chosen in combinations(whole, len(new))]
    return [float(np.mean([most >= one * (1 - 1e-9) for most in maxima])) for one in seen]


@pytest.mark.parametrize("launches", [(6, 6), (6, 7)])
def test_the_smallest_p_value_is_that_of_counting_every_split(launches: tuple[int, int]) -> None:
    base, new = _draw(3, 7)
    base, new = base[: launches[0]], new[: launches[1]]
    splits = _between(base, new)
    assert len(splits) == {6: 924 // 2, 7: 1716}[len(new)]  # runs of one length are exchangeable
    assert min(step_down(splits)) == pytest.approx(min(_counted(base, new)))


def test_a_case_that_moved_is_found_among_forty_and_the_others_are_not() -> None:
    base, new = _draw(6, cases=40)
    new[:, 0] += 0.2
    moved, *others = step_down(_between(base, new))
    assert moved <= 0.05
    assert min(others) > 0.05


def test_a_launch_that_missed_a_case_counts_for_the_others() -> None:
    base, new = _draw(10, launches=8)
    new += 0.1
    base[0, 1] = new[7, 1] = new[3, 2] = math.nan
    found = _between(base, new)
    assert np.isfinite(found).all()
    whole = _between(np.nan_to_num(base), np.nan_to_num(new))
    assert found[:, 0] == pytest.approx(whole[:, 0])
    assert max(step_down(found)) <= 0.05


@pytest.mark.parametrize(("launches", "exchanges"), [(14, 2**13), (20, 10_000)])
def test_many_launches_are_sampled_the_same_way_every_time(launches: int, exchanges: int) -> None:
    base, new = _draw(12, launches)
    between, within = _between(base, new + 0.1), within_launches(new + 0.1).statistics
    assert (len(between), len(within)) == (10_000, exchanges)
    for found in (between, within):
        assert max(step_down(found)) < 3e-4
    assert np.array_equal(_between(base, new), _between(base, new))


def test_a_case_needs_more_in_a_large_family_than_alone() -> None:
    base, new = _draw(13, launches=8, cases=40)
    found = _between(base, new)
    assert critical(found[:, :1], 0.05) == pytest.approx(student_t.ppf(0.975, 14), rel=0.2)
    assert critical(found, 0.05) > 1.3 * critical(found[:, :1], 0.05)


@pytest.mark.parametrize("n", [8, 20])
def test_the_statistics_and_their_standard_errors_are_students(n: int) -> None:
    base, new = _draw(16, launches=n)
    _, pulled, _ = verdicts.winsorised(np.concatenate([base, new]))
    found, expected = between_runs(base, new), ttest_ind(pulled[n:], pulled[:n])
    assert found.statistics[0] == pytest.approx(np.abs(expected.statistic))
    assert found.errors == pytest.approx(
        pulled.std(axis=0, ddof=1) * math.sqrt((2 * n - 1) / (n - 1) / n)
    )
    alone, expected = within_launches(new + 1), ttest_1samp(new + 1, 0)
    assert alone.statistics[0] == pytest.approx(np.abs(expected.statistic))
    assert alone.errors == pytest.approx(np.sqrt(((new + 1) ** 2).mean(axis=0) / (n - 1)))


def test_the_end_that_faces_no_difference_says_how_far_runs_may_lie_apart() -> None:
    few, many = [1, 1.01, 1.02, 1.03, 1.04, 1.05], [1.2, 1.21, 1.22, 1.25, 1.4, 1.9]
    for base, new, sign in ((few, many, -1), (many, few, 1)):
        ratio = verdicts.compare_values(base, new).ratio
        facing = sign * math.log(((ratio.low, ratio.high)[sign > 0] or 0) / ratio.value)
        found = verdicts.compare_values(base, new, between=verdicts.Between(reach=0.1))
        assert found.allowance == pytest.approx(math.expm1(math.hypot(facing, 0.1) - facing))


def test_outliers_are_pulled_in_to_one_and_a_half_standard_deviations() -> None:
    middle, values, _ = verdicts.winsorised(np.array([[*range(10), 100.0]]).T)
    assert middle == 5
    assert values[:, 0] == pytest.approx([*range(-5, 5), 1.5 * 2.2219 * 2])


def _interleave(run: Run, count: int, *, slower: float = 1.0, first: float = 1.0) -> list[Case]:
    """Give some headline cases another version: the body takes `slower` times as long.

    first : what it costs to be the first of a pair, as a factor
    """
    random = Random(1)  # noqa: S311 - no secret
    cases = [case for case in run.benchmarks if case.extra_info.headline][:count]
    for case in cases:
        case.extra_info.against = [
            sample * math.exp(random.gauss(0, 0.002)) / first ** (-1) ** pair / slower
            for launch in samples(case)
            for pair, sample in enumerate(launch)
        ]
    return cases


def test_two_percent_show_within_launches_that_differ_by_twenty() -> None:
    run = factory.run(launches=12, noise=0.2)  # two such runs would not show 2%
    _interleave(run, 4, slower=1.02)
    found = compare_versions(run)
    assert found.counts == {"slower": 4}
    assert all(case.ratio.value == pytest.approx(1.02, rel=2e-3) for case in found.cases)
    assert all((case.smallest_change or 1) < 0.01 for case in found.cases)
    assert exit_code(found) == 4


def test_the_other_version_is_the_base_in_seconds() -> None:
    run = factory.run(launches=12, noise=0.2)
    (case,) = _interleave(run, 1, slower=2.0)
    (found,) = compare_versions(run).cases
    assert found.base.value == pytest.approx(found.new.value / 2, rel=0.01)
    (row,) = comparison.of_cases([found], "old", "new").rows
    assert case.name == f"bench_{row[1]}"


@pytest.mark.parametrize(("first", "preempted"), [(1.3, 1), (1.0, 10)])
def test_neither_what_coming_first_costs_nor_a_preempted_sample_moves_a_ratio(
    first: float, preempted: float
) -> None:
    run = factory.run(launches=6, noise=0.0)
    for case in run.benchmarks:
        set_samples(case, [case.stats.data[:1] * 4] * 6)
    (case,) = _interleave(run, 1, first=first)  # pairs are led by turns
    case.stats.data[0] *= preempted
    assert launch_ratios(case, case.extra_info.against or []) == pytest.approx([1.0] * 6, rel=0.01)


def test_six_launches_show_a_change_of_several_cases() -> None:
    run = factory.run(launches=6, noise=0.2)
    _interleave(run, 2, slower=1.2)
    found = compare_versions(run)
    assert found.counts == {"slower": 2}
    assert {case.p_value for case in found.cases} == {2 / 64}
    assert {case.allowance for case in found.cases} == {0.0}
