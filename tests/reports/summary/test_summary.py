# SPDX-License-Identifier: MIT
"""What is left of a run in the index: its cases, and how sure they are."""

import io
from typing import Any

import pandas as pd
import pytest
from msgspec.structs import replace
from pyarrow import csv, parquet

from frobench.reports.files import downloads
from frobench.reports.summary import plain, views
from frobench.reports.summary.model import Summary, equipment_of, summarise
from frobench.reports.table.launches import estimates, frame
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import made
from tests.instruments.runs.exact_runs import left_out, run_of
from tests.reports.findings.table import cases
from tests.reports.run.test_first_screen import noisy as concluded_noisy


def summary(run: Run) -> Summary:
    return summarise(run, "0" * 64, estimates(run))


def test_a_run_is_of_its_first_accelerators_of_one_name_or_of_a_cpu_with_its_cores() -> None:
    other = made()
    other.frobench.environment.cpu.usable_cores = 64
    assert (summary(other).device[-13:], summary(other).count) == ("with 64 cores", 1)
    other = made(accelerators=2)
    assert summary(other).count == 2
    other.frobench.environment.accelerators[1].name = "Another"
    one = summary(other)
    bought = [equipment_of(replace(one, places=at)).device for at in (("cuda:1",), (), one.places)]
    assert [one.device, *bought] == ["NVIDIA H200", "Another", *["NVIDIA H200"] * 2]


@pytest.mark.parametrize(("noisy", "doubt"), [(2, ""), (3, "3 of 4 cases noisy")])
def test_a_run_of_which_more_than_half_is_noisy_is_doubtful(noisy: int, doubt: str) -> None:
    run = run_of("x", cases("+ x | cpu | n=1,2,3,4 | 10"))
    run.frobench.conclusions = concluded_noisy(run.benchmarks[:noisy])
    assert summary(run).doubt == doubt


CASES = """
+ x | cpu | n=1024 kind=a | 2000 | flops=4e6 bytes=1e3 launches=1 check=0.5
+ x | cpu | n=2 | 2000 | bytes=6e6 launches=1
+ x | cpu | n=3 | 20 | launches=1,1,2,2"""


def test_each_case_has_its_time_its_rate_and_what_makes_it_doubtful() -> None:
    reasons = {"failed": "off by 3", "skipped": ""}
    without = [left_out("bench_x", status, why, kind=status) for status, why in reasons.items()]
    run = run_of("x", cases(CASES), without)
    assert [
        (one.rate and one.rate.value, one.rate_unit, one.status, one.reason, one.doubts)
        for one in plain.answers(run).cases
    ] == [
        (2e9, "FLOP/s", "passed", None, ()),
        (3e9, "B/s", "passed", None, ()),
        (None, "", "passed", None, ()),
        (None, "", "failed", "off by 3", ("failed",)),
        (None, "", "skipped", "no reason was given", ()),
    ]
    rows = [views.CaseRow(run, case, {}) for case in run.benchmarks]
    assert [(one.parameters, one.check, one.samples, one.modes) for one in rows[::2]] == [
        ("CPU, n = 1,024, kind = a", "5.0e-01 of 3.0e-01", "8 samples in 8 launches", ""),
        ("CPU, n = 3", "not checked", "8 samples in 8 launches", "20 or 40 µs"),
    ]


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
