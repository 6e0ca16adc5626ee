# SPDX-License-Identifier: MIT
"""One tidy table from stored runs: a row for each case in each launch."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from frobench.reports.table.launches import STEP, estimates, frame, left_out, log_centres
from frobench.suite.units import counted
from tests.instruments.runs import factory
from tests.instruments.site_checker.intervals import pseudomedian


@given(some.lists(some.floats(1e-9, 1e3), min_size=1, max_size=9))
def test_the_centre_of_launches_is_the_median_of_the_means_of_all_pairs(times: list[float]) -> None:
    (found,) = log_centres(np.array([[math.nan, *times]]))
    assert found == pytest.approx(pseudomedian([*map(math.log, times)]), rel=0, abs=STEP)


def test_where_the_clock_saw_no_time_there_is_no_rate() -> None:
    run = factory.run()
    case = next(case for case in run.benchmarks if case.extra_info.work.flops)
    case.stats.data = [0.0] * len(case.stats.data)
    found = {one.case: one for one in estimates(run)}
    still = found.pop(case.fullname)
    assert (still.seconds, still.flop_rate, still.byte_rate) == (0, None, None)
    rates = [one.flops / one.seconds if one.flops else one.flops for one in found.values()]
    assert [one.flop_rate for one in found.values()] == rates
    table = frame([run])
    rows = table.query("case == @case.fullname")
    assert (rows["seconds"] == 0).all()
    assert rows[["flop_rate", "byte_rate"]].isna().all(axis=None)
    assert (table["flop_rate"] > 0).any()


@pytest.mark.parametrize(("launches", "left"), [([6, 5, 1, 0], [5, 1, 0]), ([5, 1, 0], [0])])
def test_a_case_of_too_few_launches_has_no_ratio(launches: list[int], left: list[int]) -> None:
    medians = {str(number): [*[1e-9] * number, 0.0, None] for number in launches}
    why = {str(one): f"measured in {counted(one, 'launch')}" for one in left}
    assert left_out(factory.run(), medians) == why
