# SPDX-License-Identifier: MIT
"""Rows say what the numbers support, in few words."""

from frobench.reports.findings.finding import Finding
from frobench.reports.summary import short
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate
from tests.instruments.runs import factory


def test_an_interval_wider_than_a_factor_of_two_is_no_headline() -> None:
    wide = Estimate(0.04, 0.03, 0.08, 8)
    brief = f"Sort numbers: {format_estimate(wide, '1')} of the NVIDIA H200 on the CPU."
    found = Finding("name", "What?", "", wide, "1", brief=brief)
    for count, where in enumerate(("the NVIDIA H200", *["this GPU on the CPU"] * 2)):
        told = short.answer(factory.run(accelerators=count), found)
        assert told == f"Not conclusive: Sort numbers: 3.0 to 8.0% of {where}."
    ends = (-1.0, 2.0), (0.9, 1.8), (0.9, 1.81), (None, None)
    assert [Estimate(1.0, low, high, 8).is_wide for low, high in ends] == [True, False, True, False]


def test_a_question_has_thirteen_words_at_most() -> None:
    just, more = (" ".join(["so"] * count) for count in (13, 14))
    given = (f"{just}?", ""), (f"{just}: or?", ""), (f"{more}?", "Why?"), (f"{more}?", "")
    told = [short.question(factory.run(), *both) for both in given]
    assert told == [f"{just}?", f"{just}?", "Why?", f"{more[:35]} \N{HORIZONTAL ELLIPSIS}"]
