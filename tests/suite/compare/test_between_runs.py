# SPDX-License-Identifier: MIT
"""How far runs of a machine lie apart, what is learned of that, and what disturbs a comparison."""

import json
import math
from collections.abc import Iterable, Iterator
from contextlib import chdir
from pathlib import Path
from random import Random
from statistics import variance
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner
from scipy.stats import t as student_t

from frobench.command import main
from frobench.suite.compare import between_run_spread
from frobench.suite.compare.between_run_spread import ASSUMED, Level, between_run_spreads, levels
from frobench.suite.compare.gate import exit_code
from frobench.suite.compare.runs import compare_runs, newest_levels
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from tests.instruments.faults.judging import keep, put, set_samples
from tests.instruments.faults.spoiling import take
from tests.instruments.runs import factory


def _warning(code: str, case: str | None = None) -> Conclusion:
    return Conclusion(code=code, severity="warning", message="", advice="", case=case)


def _trouble(run: Run, *codes: str) -> Run:
    run.frobench.troubles = [*map(_warning, codes)]
    return run


def _runs(count: int, apart: float, *, common: bool = False) -> Iterator[Run]:
    """Make runs of identical code whose levels lie apart by so much, relative."""
    for seed in range(count):
        random = Random(f"{seed} {apart}")  # noqa: S311 - no secret
        run = factory.run(seed=seed)
        keep(run, run.benchmarks[:12].__contains__)
        whole = random.gauss(0, apart)
        for case in run.benchmarks:
            take(case, math.exp(whole if common else random.gauss(0, apart)))
        yield run


def test_with_fewer_than_three_runs_it_is_assumed() -> None:
    runs = [*_runs(4, 0.1)]
    for count in (3, 4):  # the first teaches nothing about itself
        found, _ = between_run_spreads(runs[0], runs[0], [*map(levels, runs[:count])])
        errors = [one.error for one in found.values()]
        assert (ASSUMED <= min(errors) <= max(errors) < 2 * ASSUMED) == (count == 3)
    assert max(errors) > 3 * ASSUMED


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


@pytest.mark.parametrize(("degrees", "apart"), [(4, 0.05), (7, 8e-3), (15, 5e-4), (40, 1e-5)])
@pytest.mark.parametrize("probability", [0.975, 0.9958, 0.9995])
def test_the_quantile_is_students(probability: float, degrees: int, apart: float) -> None:
    expected = student_t.ppf(probability, degrees)
    assert between_run_spread.student(probability, degrees) == pytest.approx(expected, rel=apart)
    near = student_t.ppf(0.8, 25 * degrees)
    assert between_run_spread.student(0.8, 25 * degrees) == pytest.approx(near, abs=3e-10)


def test_a_case_of_few_runs_is_drawn_towards_the_median_case_of_its_device() -> None:
    variance, means = 6e-4, {"often": (0.0, 0.1, 0.2), "seldom": (0.0, 0.02)}
    runs = [
        between_run_spread.Levels(
            *(str(number), "", [], {}),
            {
                name: Level("1", "cpu", mean[number], variance, 6)
                for name, mean in means.items()
                if mean[number:]
            },
        )
        for number in range(3)
    ]
    found = between_run_spread.learned(dict.fromkeys(means, ("1", "cpu")), runs)
    often, seldom = 1e-2 - 1.35e-4, 2e-4 - 1.35e-4  # variances that launches do not explain
    assert found["often"] == pytest.approx((math.sqrt(often), 6, 0))
    assert found["seldom"] == pytest.approx((math.sqrt((4 * often + seldom) / 5), 5, 0))


def test_all_cases_of_a_family_stay_within_the_reach_in_95_percent() -> None:
    between = between_run_spread.BetweenRunSpread(0.01, 40, 0.03).between(10)
    error = math.sqrt(2) * 0.01
    reach = student_t.ppf(1 - 0.05 / 20, 40) * error
    assert between == pytest.approx((error, reach, 0.03), rel=1e-4)
    assert between_run_spread.assumed([1e-4, 4e-4]) == (0.02, math.inf, 0.0)


def test_a_shift_that_the_machine_often_makes_is_no_change() -> None:
    restless, steady = ([*_runs(10, apart, common=True)] for apart in (0.08, 0.001))
    for runs, told in ((restless, ["unresolved"] * 2), (steady, ["faster", "slower"])):
        base, new, *rest = runs
        for number, case in enumerate(new.benchmarks):
            take(case, 1.06 if number % 2 else 1 / 1.06)
        found = compare_runs(base, new, [*map(levels, rest)])
        assert [found.learned_from, *(case.word for case in found.cases[:2])] == [8, *told]
    assert found.cases[0].allowance < 0.02


def test_the_runs_that_are_compared_teach_nothing() -> None:
    runs = [*_runs(5, 0.1)]
    every = [*map(levels, runs)]
    assert compare_runs(runs[0], runs[1], every).learned_from == 3
    assert compare_runs(runs[0], runs[1], every) == compare_runs(runs[0], runs[1], every[2:])
    assert compare_runs(runs[0], runs[1], every[:4]).learned_from == 0


def test_a_run_on_another_machine_or_disturbed_teaches_nothing() -> None:
    runs = [*_runs(7, 0.1)]
    runs[2].frobench.environment.software.torch = "2.14.0"
    _trouble(runs[3], "busy-processor")
    for run, cores in ((runs[4], 1.5), (_trouble(runs[5], "busy-processor"), 0.1)):
        put(run.frobench.launches, "*.others", cores)  # launches know better
    base, *others = map(levels, [runs[0], *runs[2:]])
    alike = [other.run for other in others if other.is_like(base)]
    assert alike == [run.frobench.run for run in runs[5:]]


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


def _pair() -> tuple[Run, Run]:
    return factory.run(seed=1), factory.run(seed=2, slower=2)


UNLIKE = "disturbed: busy-processor in base only; little-memory in new only"


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ([], [], None),
        (["busy-processor"], ["busy-processor"], None),
        (["no-accelerator"], [], None),  # nothing that comes and goes
        (["busy-processor"], ["little-memory"], UNLIKE),
    ],
)
def test_unlike_disturbance_leaves_every_case_unresolved_and_like_disturbance_none(
    before: list[str], after: list[str], reason: str | None
) -> None:
    base, new = _pair()
    comparison = compare_runs(_trouble(base, *before), _trouble(new, *after))
    word = "unresolved" if reason else "slower"
    assert comparison.counts == {word: len(comparison.cases)}
    assert {case.reason for case in comparison.cases} == {reason}
    untold = {(case.p_value is None, case.smallest_change is None) for case in comparison.cases}
    assert untold == {(bool(reason), bool(reason))}
    assert exit_code(comparison) == (3 if reason else 4)


def test_a_busy_processor_disturbs_even_where_it_was_so_in_both_runs() -> None:
    base, new = _pair()
    for run, cores in ((base, 1.5), (new, 1.6)):
        put(run.frobench.launches, "*.others", cores)
    comparison = compare_runs(base, new)
    kept, of_the_cores = "other programs kept", "of the cores busy in"
    reason = f"disturbed: {kept} 75% {of_the_cores} base; {kept} 80% {of_the_cores} new"
    assert {case.reason for case in comparison.cases} == {reason}
    for run in (base, _trouble(new, "busy-processor")):
        put(run.frobench.launches, "*.others", 0.1)  # launches know better
    assert compare_runs(base, new).counts == {"slower": len(new.benchmarks)}


def _gauge(run: Run, seconds: float, noise: float = 0.005, name: str = "cpu/python") -> Run:
    for number, launch in enumerate(run.frobench.launches):
        launch.gauge[name] = seconds * (1 + noise * (number % 3 - 1))
    return run


def test_a_gauge_that_moved_far_disturbs_the_cases_of_its_device() -> None:
    base, new = (factory.run(seed=n, accelerators=1, slower=n, launches=6) for n in (1, 2))
    _gauge(base, 1e-3), _gauge(new, 1.1e-3)
    comparison = compare_runs(base, new)
    reasons = {case.fullname: case.reason for case in comparison.cases}
    on_cpu = {case.fullname for case in base.benchmarks if "cpu" in str(case.params["device"])}
    assert {name for name, reason in reasons.items() if reason} == on_cpu
    assert reasons[min(on_cpu)] == "disturbed: a gauge of its device differs by more than 9.5%"
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
    new.frobench.conclusions.append(_warning("throttled-case", name))
    comparison = compare_runs(base, new)
    assert comparison.counts == {"slower": len(comparison.cases) - 1, "unresolved": 1}
    assert comparison.cases[0].reason == "disturbed: throttled in new only"
    assert exit_code(comparison) == 4


def compared(base: Run, new: Run, others: Iterable[Run] = ()) -> dict[str, Any]:
    """Store runs in one folder, compare the first two, and return what the command prints."""
    with TemporaryDirectory() as folder, chdir(folder):  # without results of its own
        first, second, *_ = [store.write(run, Path("stored")) for run in (base, new, *others)]
        shown = CliRunner().invoke(main, ["compare", str(first), str(second), "--json"])
    printed: dict[str, Any] = json.loads(shown.stdout)
    return printed


@pytest.mark.parametrize(("in_turn", "learned_from"), [(0, 3), (1, 0)])
def test_nothing_is_learned_from_runs_that_were_measured_in_turn_with_others(
    in_turn: int, learned_from: int
) -> None:
    base, new, *others = _runs(5, 0.0)
    for run in others[:in_turn]:
        run.frobench.beside = ["20260101T000000Z-fffffff"]
    assert compared(base, new, others)["learned_from"] == learned_from


def test_a_dozen_newer_runs_of_another_torch_hide_no_run_to_learn_from() -> None:
    base, new, *others = _runs(2 + 3 + 12, 0.0)  # as many as a comparison learns from
    for run in others[3:]:
        run.frobench.environment.software.torch = "2.14.0"
    assert compared(base, new, others)["learned_from"] == 3
