# SPDX-License-Identifier: MIT
"""The tables beside a page hold what it shows, unrounded, and lead back to the cases."""

import json
import re
from typing import Any

import pytest

from frobench.reports.findings import sections
from frobench.reports.run.page import Contents
from frobench.suite.stored.types import Estimate, Run, Telemetry
from frobench.suite.units import format_estimate, format_value
from tests.instruments.runs import factory


@pytest.fixture(scope="module")
def run() -> Run:
    found = factory.run(accelerators=1)
    found.frobench.telemetry = Telemetry(
        begun=1.0,
        step=2.0,
        series={"cuda:0": {"power_watts": [300.0, None, 310.0], "fan": None}},
        held_back={"cuda:0": {"SwPowerCap": [0.5, 0.0, 1.0]}},
        launches=[3.0, 6.0],
        unknown={"cuda:0.fan": "there is none"},
        cost=0.001,
    )
    return found


@pytest.fixture(scope="module")
def shown(run: Run) -> Contents:
    return Contents(run, sections(run))


def rows(shown: Contents, name: str) -> list[dict[str, Any]]:
    (sheet,) = (sheet for sheet in shown.tables if sheet.name == name)
    found: list[dict[str, Any]] = sheet.table.to_pylist()
    return found


def test_every_sample_is_there_by_the_number_of_its_case(run: Run, shown: Contents) -> None:
    numbers = {row["number"]: row["case"] for row in rows(shown, "cases")}
    by_case: dict[str, list[float]] = {}
    for row in rows(shown, "samples"):
        by_case.setdefault(numbers[row["number"]], []).append(row["seconds"])
    assert by_case == {case.fullname: case.stats.data for case in run.benchmarks}
    last = rows(shown, "samples")[-1]
    counts = run.benchmarks[-1].extra_info.launches
    assert (last["launch"], last["sample"]) == (len(counts) - 1, counts[-1] - 1)


def test_every_case_on_the_page_is_there(shown: Contents) -> None:
    cells = {(row["case"], row["quantity"]): row for row in rows(shown, "cases")}
    listed = [row for section in shown.sections for row in section.rows]
    for row in listed:
        for quantity, cell in (("time", row.time), ("rate", row.rate)):
            if cell is not None:
                found = cells.pop((row.name, quantity))
                assert (found["value"], found["low"], found["high"], found["unit"]) == (
                    *(cell.value.value, cell.value.low, cell.value.high),
                    cell.unit,
                )
    assert not cells


def test_every_answer_is_there_with_its_cases(run: Run, shown: Contents) -> None:
    names = {case.fullname for case in run.benchmarks}
    answers = [one for section in shown.sections for one in section.answers.findings]
    found = rows(shown, "findings")
    assert [row["answer"] for row in found] == [one.answer for one in answers]
    for row in found:
        assert names.issuperset(json.loads(row["cases"]))
        if row["unit"] == "n":  # a threshold, known by the two measured sizes that it lies between
            low, high = (format_value(row[bound], "n") for bound in ("low", "high"))
            assert re.search(rf"somewhere between .*\b{low} and .*\b{high}\b", row["answer"])
        elif row["value"] is not None:
            value = Estimate(row["value"], row["low"], row["high"], row["launches"])
            assert format_estimate(value, row["unit"]) in row["answer"]


def test_every_number_behind_a_chart_is_there(shown: Contents) -> None:
    tables = [drawn.table for section in shown.sections for drawn in section.figures]
    cells = [cell.value.value for one in tables for _, row in one.rows for cell in row if cell]
    found = rows(shown, "figures")
    assert sorted(row["value"] for row in found if row["role"] != "bound") == sorted(cells)
    assert {"67108864", "1024"} <= {row["place"] for row in found}  # unrounded too
    assert {row["series"] for row in found if row["role"] == "bound"} == {
        "the link, one way: 63 GB/s",
        "accelerator's memory: 4.8 TB/s",
    }


def test_what_sensors_said_is_there_and_why_they_did_not(shown: Contents) -> None:
    found = [tuple(row.values()) for row in rows(shown, "sensors")]
    assert ("cuda:0", "power_watts", 2.0, None, 300.0, None) in found
    assert ("cuda:0", "power_watts", 6.0, 1, 310.0, None) in found
    assert ("cuda:0", "fan", None, None, None, "there is none") in found
    assert ("cuda:0", "held_back.SwPowerCap", 4.0, 0, 0.0, None) in found
    assert len(found) == 6
