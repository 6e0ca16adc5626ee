# SPDX-License-Identifier: MIT
"""Rows say what the numbers support, in few words."""

from dataclasses import replace as replace_finding

import pytest

from frobench.reports.findings.finding import Finding
from frobench.reports.summary import short
from frobench.suite.stored.types import Estimate, Run
from frobench.suite.units import format_estimate
from tests.instruments.runs import factory


@pytest.fixture(scope="module")
def run() -> Run:
    return factory.run(accelerators=1, profile="quick")


def finding(value: Estimate, unit: str, by_launch: tuple[float, ...] = ()) -> Finding:
    brief = f"{format_estimate(value, unit)} of a thing"
    answer, label = f"{brief}; and another clause.", "of a thing"
    return Finding("name", "What?", answer, value, unit, label, by_launch, brief=f"{brief}.")


def test_an_interval_wider_than_a_factor_of_two_is_no_headline(run: Run) -> None:
    wide = Estimate(0.04, 0.03, 0.08, 8)
    found = finding(wide, "1")
    assert short.answer(run, found) == "Not conclusive: 3.0 to 8.0% of a thing."
    named = replace_finding(found, brief=f"Sort numbers: {found.brief}")
    assert short.answer(run, named) == "Not conclusive: Sort numbers: 3.0 to 8.0% of a thing."
    assert Estimate(1.0, -1.0, 2.0, 8).is_wide
    assert not Estimate(1.0, 0.9, 1.8, 8).is_wide
    assert not Estimate(1.0, None, None, 3).is_wide
