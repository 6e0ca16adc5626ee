# SPDX-License-Identifier: MIT
"""The cases of a run are looked at once while it is used, and those of another run anew."""

from frobench.reports.findings.select import cases_of, remembered
from tests.instruments.runs import factory


def test_the_cases_of_a_run_are_the_same_while_it_is_used() -> None:
    run, other = factory.run(), factory.run()
    with remembered(run):
        products = cases_of(run, "matmul")
        assert cases_of(run, "matmul") is products
        assert cases_of(run, "copies") is not products
        assert cases_of(other, "matmul").run is other
    assert cases_of(run, "matmul") is not products


def test_medians_that_are_known_are_not_computed_again() -> None:
    run = factory.run()
    case = next(case for case in run.benchmarks if case.group == "matmul")
    known = [float(launch) for launch in range(1, len(case.extra_info.launches) + 1)]
    with remembered(run, {case.fullname: [*known]}):
        seconds = cases_of(run, "matmul").one(case=case.fullname)
    assert seconds.tolist() == known
