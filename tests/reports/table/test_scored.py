# SPDX-License-Identifier: MIT
"""How far launches leave parts of the workloads open: what they share does not average out."""

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement

import pytest
from msgspec.structs import replace

from frobench.reports.table.launches import Logs, scored
from frobench.suite.statistics import Medians, case_medians
from frobench.suite.stored.types import Case
from tests.instruments.runs.made_up_cards import on_the_cpu
from tests.reports.purchase.test_machines import copy, measured, product

SLOW = [1.0, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.0]
LOGS = [math.log(one) for one in SLOW]


QUANTILE = 2.0635
"""Of 1 - 2 * 5 / 256, the confidence of these ends."""
OUTSIDE = 4
"""Pairs of eight launches beyond either end of a 95% interval, the end included, as tables of
Wilcoxon's signed ranks have it."""


def error(logs: Sequence[float]) -> float:
    pairs = sorted(sum(pair) / 2 for pair in combinations_with_replacement(logs, 2))
    return (pairs[-OUTSIDE] - pairs[OUTSIDE - 1]) / 2 / QUANTILE


def shaken(case: Case, factors: Sequence[float]) -> Case:
    """Return a case whose launches took so many times as long."""
    return replace(case, stats=replace(case.stats, data=[1e-3 * one for one in factors]))


def of(*cases: Case) -> Logs:
    return scored(measured(cases), {one.fullname: case_medians(one) for one in cases}).seconds


PRODUCT, COPY, LARGE = product(8192, 1.0), copy(1.0), copy(1.0, 2**31)
COLD = replace(COPY, fullname=COPY.fullname.replace("within", "within_cold"))
TURNED = [1 / one for one in SLOW]


def test_what_a_launch_does_to_all_cases_does_not_average_out() -> None:
    found = of(shaken(PRODUCT, SLOW), shaken(COPY, SLOW))
    both = ("products_float32", "memory")
    assert found.errors == {name: pytest.approx(error(LOGS), rel=1e-4) for name in both}
    assert found.shared == pytest.approx(1.0)
    assert of() == Logs({}, {}, 0.0)


def test_what_differs_between_the_kinds_of_a_part_does_however_many_cases_they_have() -> None:
    found = of(shaken(COPY, SLOW), shaken(LARGE, SLOW), shaken(COLD, TURNED))
    assert found.errors == {"memory": pytest.approx(0.0, abs=1e-9)}
    assert of(shaken(COPY, [1.0] * 8), shaken(PRODUCT, [1.0] * 8)).shared == 0.0
    assert of(shaken(COPY, SLOW), shaken(PRODUCT, TURNED)).shared == 0.0


@pytest.mark.parametrize(("launches", "known"), [(5, False), (6, True)])
def test_six_launches_have_an_error(launches: int, *, known: bool) -> None:
    medians: Medians = {COPY.fullname: [*SLOW[:launches], None, None]}
    assert bool(scored(measured([COPY]), medians).seconds.errors) == known


def test_what_parts_share_is_the_correlation_of_their_launches() -> None:
    signs = [1, 1, -1, -1, 1, 1, -1, -1], [1, 1, -1, -1, 1, -1, 1, -1]  # three of four alike
    one, other = ([math.exp(0.01 * sign) for sign in each] for each in signs)
    assert of(shaken(PRODUCT, one), shaken(COPY, other)).shared == pytest.approx(0.5)


def test_the_processor_s_parts_have_names_of_their_own_and_do_not_lead() -> None:
    card = [shaken(PRODUCT, SLOW), shaken(COPY, SLOW)]
    alone = on_the_cpu(measured([shaken(PRODUCT, TURNED), shaken(COPY, TURNED)])).benchmarks
    found = of(*card, *alone)
    parts = found.errors.keys()
    assert parts == {"products_float32", "memory", "products_float32.cpu", "memory.cpu"}
    assert [found.shared, of(*alone).shared] == pytest.approx([1.0, 1.0])
