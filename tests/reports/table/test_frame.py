# SPDX-License-Identifier: MIT
"""One tidy table from stored runs: a row for each case in each launch."""

from frobench.reports.table.launches import frame
from tests.instruments.runs import factory


def test_where_the_clock_saw_no_time_there_is_no_rate() -> None:
    run = factory.run()
    case = next(case for case in run.benchmarks if case.extra_info.work.flops)
    case.stats.data = [0.0] * len(case.stats.data)
    table = frame([run])
    rows = table.query("case == @case.fullname")
    assert (rows["seconds"] == 0).all()
    assert rows[["flop_rate", "byte_rate"]].isna().all(axis=None)
    assert (table["flop_rate"] > 0).any()
