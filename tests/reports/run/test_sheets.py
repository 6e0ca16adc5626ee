# SPDX-License-Identifier: MIT
"""The tables beside a page hold what it shows, unrounded, and lead back to the cases."""

from typing import Any

import pytest

from frobench.reports.findings import sections
from frobench.reports.run.page import Contents
from frobench.suite.stored.types import Run, Telemetry
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


def test_what_sensors_said_is_there_and_why_they_did_not(shown: Contents) -> None:
    found = [tuple(row.values()) for row in rows(shown, "sensors")]
    assert ("cuda:0", "power_watts", 2.0, None, 300.0, None) in found
    assert ("cuda:0", "power_watts", 6.0, 1, 310.0, None) in found
    assert ("cuda:0", "fan", None, None, None, "there is none") in found
    assert ("cuda:0", "held_back.SwPowerCap", 4.0, 0, 0.0, None) in found
    assert len(found) == 6
