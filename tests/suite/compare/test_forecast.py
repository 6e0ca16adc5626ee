# SPDX-License-Identifier: MIT
"""What a run says beforehand that it will be able to show."""

import math
from random import Random
from statistics import median

import pytest

from frobench.suite.compare.between_runs import assumed, levels
from frobench.suite.compare.family import SPREAD, compare_family, forecast, in_words
from frobench.suite.compare.rank_tests import verdict
from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import made

ONE = ["a.py::bench_a[cpu]"]


def _names(run: Run) -> list[str]:
    return [case.fullname for case in run.benchmarks]


def test_what_is_foreseen_is_what_a_comparison_prints() -> None:
    base, new = made(seed=1, launches=8), made(seed=2, launches=8)
    printed = median(one.smallest_change or math.inf for one in compare_runs(base, new).cases)
    foreseen = forecast(8, _names(base), base).smallest_change
    assert foreseen == pytest.approx(printed, rel=0.15)


@pytest.mark.parametrize("launches", [6, 10])
def test_a_slow_down_of_that_size_is_found_nine_times_in_ten(launches: int) -> None:
    size = forecast(launches, ONE, None).smallest_change
    assert size is not None
    random = Random(launches)  # noqa: S311 - no secret

    def measured(level: float) -> list[float]:
        level += random.gauss(0, SPREAD)  # as far as separate runs are assumed to lie apart
        return [math.exp(level + random.gauss(0, SPREAD)) for _ in range(launches)]

    words = []
    for _ in range(200):
        pair = measured(0.0), measured(math.log1p(size))
        (judged,) = compare_family([pair], [assumed([SPREAD**2])])
        words.append(verdict(*judged))
    assert 0.85 <= words.count("slower") / len(words) <= 0.97


def test_more_launches_show_less_and_more_cases_ask_for_more() -> None:
    def change(launches: int, cases: int) -> float:
        found = forecast(launches, [*map(str, range(cases))], None).smallest_change
        assert found is not None
        return found

    assert change(6, 1) > change(12, 1) > change(24, 1)
    assert change(6, 1) < change(6, 30) < change(6, 100)


def test_launches_are_taken_to_vary_as_they_did_in_the_run_before() -> None:
    run = made(seed=1, noise=0.05)
    found = forecast(10, _names(run), run)
    assert found.earlier == run.frobench.run
    assert found.spread == pytest.approx(
        median(math.sqrt(level.variance) for level in levels(run).cases.values())
    )
    assert f"if launches vary by {found.spread:.1%}, as in {run.frobench.run}" in in_words(found)


@pytest.mark.parametrize("earlier", [None, made(seed=1)])
def test_of_cases_that_were_never_measured_it_says_what_it_assumes(earlier: Run | None) -> None:
    found = forecast(6, ONE, earlier)
    assert in_words(found) == (
        "compared with another run of 6 launches, a slow-down of about 5.6% in the case will be "
        "found if launches vary by 1%; how far they do, only a run shows"
    )


def test_of_too_few_launches_it_says_that_they_show_nothing() -> None:
    found = forecast(5, ONE, None)
    assert found.smallest_change is None
    assert in_words(found) == (
        "no slow-down, however large, can be shown: a verdict needs 6 launches, and 5 are planned"
    )


def test_launches_without_any_noise_are_no_trouble() -> None:
    run = made(seed=1, noise=0.0)
    found = forecast(6, _names(run), run)
    assert found.smallest_change == pytest.approx(0.05, abs=0.03)
