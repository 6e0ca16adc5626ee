# SPDX-License-Identifier: MIT
"""Rows say what the numbers support, in few words."""

from frobench.reports.findings.finding import Finding
from frobench.reports.summary import short
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate
from tests.instruments.runs import factory


def test_an_interval_wider_than_a_factor_of_two_is_no_headline() -> None:
    run, wide = factory.run(accelerators=1, profile="quick"), Estimate(0.04, 0.03, 0.08, 8)
    for name in ("", "Sort numbers: "):
        brief = f"{name}{format_estimate(wide, '1')} of a thing."
        found = Finding("name", "What?", "", wide, "1", brief=brief)
        assert short.answer(run, found) == f"Not conclusive: {name}3.0 to 8.0% of a thing."
    ends = (-1.0, 2.0), (0.9, 1.8), (0.9, 1.81), (None, None)
    assert [Estimate(1.0, *each, 8).is_wide for each in ends] == [True, False, True, False]
