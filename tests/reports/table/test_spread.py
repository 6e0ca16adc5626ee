# SPDX-License-Identifier: MIT
"""How far launches leave exercises open: what they share does not average out."""

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement

import pytest
from msgspec.structs import replace

from frobench.reports.table.estimates import estimates
from frobench.reports.table.spread import Spread, spread
from frobench.suite.stored.types import Case
from studies.calibration import spread as study
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import LAUNCHES, case

BASE = factory.run(accelerators=1, launches=LAUNCHES)
SLOW = [1.0, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.0][:LAUNCHES]
LOGS = [math.log(one) for one in SLOW]


OUTSIDE = 4
"""Pairs of eight launches beyond either end of a 95% interval, the end included, as tables of
Wilcoxon's signed ranks have it."""


def error(logs: Sequence[float]) -> float:
    pairs = sorted(sum(pair) / 2 for pair in combinations_with_replacement(logs, 2))
    return (pairs[-OUTSIDE] - pairs[OUTSIDE - 1]) / 2 / 1.96


def made(exercise: str, factors: Sequence[float], device: str = "cuda:0") -> Case:
    seconds = [3e-3 * factor for factor in factors]
    return replace(case(f"bench_{exercise}", seconds, device), group=exercise)


def of(*cases: Case) -> Spread:
    run = replace(BASE, benchmarks=[*cases])
    return spread(estimates(run))


def test_what_a_launch_does_to_all_cases_does_not_average_out() -> None:
    found = of(made("matmul", SLOW), made("copies", SLOW))
    assert found.errors == {name: pytest.approx(error(LOGS)) for name in ("matmul", "copies")}
    assert found.shared == pytest.approx(1.0)


def test_what_differs_between_the_cases_of_an_exercise_does() -> None:
    turned = [1 / one for one in SLOW]
    cases = [made("matmul", SLOW), replace(made("matmul", turned), fullname="other")]
    assert of(*cases).errors["matmul"] == pytest.approx(0.0, abs=1e-9)


def test_exercises_that_go_apart_err_apart() -> None:
    assert of(made("matmul", SLOW), made("copies", [1 / one for one in SLOW])).shared == 0.0


def test_the_processor_s_exercises_have_names_of_their_own_and_do_not_lead() -> None:
    found = of(
        made("matmul", SLOW),
        made("copies", [1 / one for one in SLOW]),
        made("matmul", SLOW, "cpu"),
        made("copies", SLOW, "cpu"),
    )
    assert found.errors.keys() == {"matmul", "copies", "matmul.cpu", "copies.cpu"}
    assert found.shared == 0.0


def test_every_kind_of_case_counts_the_same_in_a_part() -> None:
    steady, wild = [1.0] * LAUNCHES, [one**2 for one in SLOW]
    sizes = [replace(made("matmul", steady), fullname=name) for name in ("16", "64", "256")]
    alone = replace(made("matmul", wild), fullname="graph")
    parts = {case.fullname: ("small", "eager") for case in sizes} | {"graph": ("small", "graph")}
    run = replace(BASE, benchmarks=[*sizes, alone])
    found = spread(estimates(run), parts)
    assert found.parts == {"small": pytest.approx(error(LOGS))}  # half of twice these logs
    assert found.errors == {"matmul": pytest.approx(error(LOGS) / 2)}


def test_launches_in_two_modes_leave_more_open_than_their_deviation_says() -> None:
    logs = [0.0] * 5 + [0.2] * 3
    found = of(made("matmul", [math.exp(log) for log in logs]))
    assert found.errors["matmul"] == pytest.approx(0.2 / 2 / 1.96)


def test_a_launch_counts_in_which_only_some_cases_were_measured() -> None:
    one = made("matmul", SLOW)
    shorter = replace(
        one,
        fullname="shorter",
        extra_info=replace(one.extra_info, launches=[0] * 3 + [1] * 5),
        stats=replace(one.stats, data=one.stats.data[3:]),
    )
    assert of(one, shorter).errors["matmul"] == pytest.approx(error(LOGS), rel=0.2)


def test_too_few_launches_say_nothing() -> None:
    one = made("matmul", SLOW)
    few = replace(
        one,
        extra_info=replace(one.extra_info, launches=[1] * 5 + [0] * 3),
        stats=replace(one.stats, data=one.stats.data[:5]),
    )
    assert of(few) == Spread(errors={}, shared=0.0)


def test_intervals_cover_what_launches_share_and_are_not_needlessly_wide() -> None:
    share, width = study.simulate((study.EFFECTS[1], (6, 8)), runs=60)
    assert share >= 0.88  # of 60; the full study is in docs/calibration.md
    assert 0.7 < width < 1.3
