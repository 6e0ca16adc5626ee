# SPDX-License-Identifier: MIT
"""What is left of a run in the index: its cases, and how sure they are."""

import io
from statistics import fmean
from typing import Any

import pandas as pd
import pytest
from pyarrow import csv, parquet

from frobench.reports.files import downloads
from frobench.reports.summary.model import Summary, summarise
from frobench.reports.table.launches import estimates, frame
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import made
from tests.instruments.runs import factory


def summary(run: Run) -> Summary:
    return summarise(run, "0" * 64, estimates(run))


def test_runs_of_one_machine_are_known_as_such_and_others_are_not() -> None:
    one, again = (summary(factory.run(seed=seed)) for seed in (1, 2))
    other = made()
    other.frobench.environment.cpu.usable_cores = 64
    assert one.machine_id == again.machine_id
    assert summary(other).machine_id != one.machine_id
    assert summary(other).device.endswith("with 64 cores")


def written(**columns: Any) -> str:  # noqa: ANN401 - whatever a column holds
    return downloads.as_csv(downloads.table_of(pd.DataFrame(columns))).decode()


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert written(a=[text, "plain"]).splitlines()[1].startswith("\"'")
    assert written(**{text: [1.0]}).startswith("\"'")


def test_numbers_stay_as_they_are() -> None:
    assert written(a=[-1.5, 2e-7], b=[-1, 2]).split() == ['"a","b"', "-1.5,-1", "2e-7,2"]
    assert written(a=["-1.5", "+2e-7", "a-b"]).split() == ['"a"', '"-1.5"', '"+2e-7"', '"a-b"']


def test_both_forms_hold_the_frame_and_nothing_of_the_library_that_made_it() -> None:
    run = made(accelerators=1)
    run.benchmarks[0].params["n"] = "many"
    table = frame([run])
    columns = downloads.table_of(table)
    binary = downloads.as_parquet(columns)
    read = parquet.read_table(io.BytesIO(binary))
    assert read.schema.metadata is None
    assert b"pandas" not in binary
    for back in (read, csv.read_csv(io.BytesIO(downloads.as_csv(columns)))):
        assert back.column_names == list(table)
        assert back.column("seconds").to_pylist() == table["seconds"].tolist()
        assert back.column("n").to_pylist()[0] == "many"
    assert fmean(read.column("seconds").to_pylist()) > 0
