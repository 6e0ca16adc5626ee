# SPDX-License-Identifier: MIT
"""How far a machine's runs lie apart, as its stored runs show it."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import variance

import pytest
from scipy.stats import t as student_t

from frobench.suite.compare.between_run_spread import (
    ASSUMED,
    LEAST,
    MOST_RUNS,
    between_run_spreads,
    levels,
    student,
)
from frobench.suite.compare.runs import compare_runs, newest_levels
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from frobench.suite.terminal import comparison
from tests.instruments.faults.judging import set_samples
from tests.instruments.faults.spoiling import take
from tests.instruments.runs import factory

CASES = 12


def _runs(count: int, apart: float, *, common: bool = False, launches: int = 8) -> Iterator[Run]:
    """Make runs of identical code whose levels lie apart by so much, relative."""
    for seed in range(count):
        random = Random(f"{seed} {apart}")  # noqa: S311 - no secret
        run = factory.run(seed=seed, noise=0.01, launches=launches)
        del run.benchmarks[CASES:]
        whole = random.gauss(0, apart)
        for case in run.benchmarks:
            take(case, math.exp(whole if common else random.gauss(0, apart)))
        yield run


def _errors(runs: Sequence[Run]) -> list[float]:
    return [
        one.error for one in between_run_spreads(runs[0], runs[0], [*map(levels, runs)])[0].values()
    ]


@pytest.mark.parametrize("apart", [0.02, 0.1])
@pytest.mark.parametrize("common", [True, False])
def test_what_lies_between_runs_is_learned(apart: float, *, common: bool) -> None:
    found = sorted(_errors([*_runs(12, apart, common=common)]))
    assert found[len(found) // 2] == pytest.approx(apart, rel=0.5)


def test_runs_that_differ_as_their_launches_do_lie_hardly_apart() -> None:
    assert max(_errors([*_runs(12, 0.0)])) == LEAST


def test_with_fewer_than_three_runs_it_is_assumed() -> None:
    assert max(_errors([*_runs(3, 0.1)])) < 2 * ASSUMED
    assert min(_errors([*_runs(3, 0.1)])) >= ASSUMED
    assert max(_errors([*_runs(4, 0.1)])) > 3 * ASSUMED


def test_another_version_of_a_case_says_nothing_of_it() -> None:
    runs = [*_runs(6, 0.1)]
    for run in runs[3:]:
        run.benchmarks[0].extra_info.version = "ffffffffffff"
    found, _ = between_run_spreads(runs[0], runs[0], [*map(levels, runs)])
    first, second, *_ = (found[case.fullname] for case in runs[0].benchmarks)
    assert first.degrees < second.degrees
    assert first.error == pytest.approx(0.1, rel=0.5)  # as the other cases of the device have it


def test_launches_vary_by_the_unbiased_estimate_of_their_logs() -> None:
    medians = [1.0, 1.01, 1.0, 1.01, 1.0, 1.01]
    run = factory.run(launches=6)
    case = run.benchmarks[0]
    set_samples(case, [[median] * 3 for median in medians])
    found = levels(run).cases[case.fullname]
    assert found.variance == pytest.approx(variance(map(math.log, medians)), rel=1e-9)


def test_a_time_below_zero_in_a_neighbouring_file_is_left_out() -> None:
    run = factory.run(launches=8)
    case = run.benchmarks[0]
    case.stats.data[: case.extra_info.launches[0]] = [-1.0] * case.extra_info.launches[0]
    assert levels(run).cases[case.fullname].launches == 7


@pytest.mark.parametrize("degrees", [4, 7, 15, 40])
@pytest.mark.parametrize("probability", [0.975, 0.9958, 0.9995])
def test_the_quantile_is_students(probability: float, degrees: int) -> None:
    expected = student_t.ppf(probability, degrees)
    assert student(probability, degrees) == pytest.approx(expected, rel=0.05)


def test_a_shift_that_the_machine_often_makes_is_not_called_slower() -> None:
    restless, steady = ([*_runs(10, apart, common=True)] for apart in (0.08, 0.001))
    for runs, word in ((restless, "unresolved"), (steady, "slower")):
        base, new, *rest = runs
        for case in new.benchmarks:
            take(case, 1.06)
        found = compare_runs(base, new, [*map(levels, rest)])
        assert found.learned_from == 8
        assert found.cases[0].word == word
    assert found.cases[0].allowance < 0.02


def test_the_runs_that_are_compared_teach_nothing() -> None:
    runs = [*_runs(5, 0.1)]
    every = [*map(levels, runs)]
    assert compare_runs(runs[0], runs[1], every).learned_from == 3
    assert compare_runs(runs[0], runs[1], every) == compare_runs(runs[0], runs[1], every[2:])
    assert compare_runs(runs[0], runs[1], every[:4]).learned_from == 0


def test_a_run_on_another_machine_or_disturbed_teaches_nothing() -> None:
    runs = [*_runs(6, 0.1)]
    runs[2].frobench.environment.software.torch = "2.14.0"
    runs[3].frobench.troubles = [
        Conclusion(code="busy-processor", severity="warning", message="", advice="")
    ]
    base, *others = map(levels, [runs[0], *runs[2:]])
    alike = [other.run for other in others if other.is_like(base)]
    assert alike == [run.frobench.run for run in runs[4:]]


def test_two_runs_alone_say_that_the_allowance_is_assumed() -> None:
    base, new, *rest = _runs(5, 0.05)
    (line,) = comparison.allowances(compare_runs(base, new))
    assert "assumed" in line
    (line,) = comparison.allowances(compare_runs(base, new, [*map(levels, rest)]))
    assert "learned from 3 other runs of this machine" in line
    assert comparison.allowances(compare_runs(base, base)) == []


def test_the_newest_runs_of_a_folder_are_read_and_what_is_broken_is_passed_over(
    tmp_path: Path,
) -> None:
    paths = [store.write(run, tmp_path) for run in _runs(4, 0.1)]
    folder = paths[0].parent
    (folder / "29990101T000000Z-broken.json").write_text("{")
    (folder / "29990101T000001Z-folder.json").mkdir()
    unfit = next(_runs(1, 0.1))
    unfit.benchmarks[0].stats.data.pop()  # the launches name one sample more
    (folder / "29990101T000002Z-unfit.json").write_bytes(store.encode(unfit))
    names = [one.run for one in newest_levels([folder, folder, tmp_path / "missing"])]
    assert names == sorted((path.stem for path in paths), reverse=True)


def test_only_so_many_runs_are_looked_at() -> None:
    runs = [*_runs(MOST_RUNS + 4, 0.01)]
    found = compare_runs(runs[0], runs[1], [*map(levels, runs)])
    assert found.learned_from == MOST_RUNS
