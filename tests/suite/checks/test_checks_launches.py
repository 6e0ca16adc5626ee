# SPDX-License-Identifier: MIT
"""Launches that are too few are named."""

from frobench.suite import checks
from tests.instruments.faults.judging import codes, made, only


def test_a_run_of_few_launches_says_so_once() -> None:
    found = only(checks.conclude(made(launches=5)), "few-launches")
    assert found.case is None
    assert found.message == "5 launches, where an interval needs 6"


def test_an_interrupted_run_names_the_cases_that_lack_launches() -> None:
    run = made(launches=6, partial=True)
    conclusions = checks.conclude(run)
    short = [c.case for c in conclusions if c.code == "few-launches"]
    assert short == [case.fullname for case in run.benchmarks[1::2]]
    assert only(conclusions, "incomplete-run").case is None


def test_an_interrupted_run_with_launches_enough_is_merely_incomplete() -> None:
    run = made(launches=7, partial=True)
    assert codes(checks.conclude(run)) == {"failed-case", "incomplete-run"}
