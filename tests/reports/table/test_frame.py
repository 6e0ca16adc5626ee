# SPDX-License-Identifier: MIT
"""One tidy table from stored runs: a row for each case in each launch."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from frobench.reports.table.launches import STEP, frame, log_centres
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
    rows = frame([run]).query("case == @case.fullname")
    assert (rows["seconds"] == 0).all()
    assert rows[["flop_rate", "byte_rate"]].isna().all(axis=None)


def test_a_launch_that_did_not_reach_a_case_has_no_row() -> None:
    run = factory.run(partial=True)
    table = frame([run])
    missing = next(case for case in run.benchmarks if case.extra_info.launches[-1] == 0)
    rows = table[table["case"] == missing.fullname]
    assert len(rows) == len(run.frobench.launches) - 1


def test_a_parameter_cannot_take_the_place_of_a_column() -> None:
    run = factory.run()
    run.benchmarks[0].params["seconds"] = "never"
    run.benchmarks[0].params["case"] = "mine"
    table = frame([run])
    assert table["seconds"].dtype == float
    assert table["case"].iloc[0] == run.benchmarks[0].fullname
