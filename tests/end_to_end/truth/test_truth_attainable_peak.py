# SPDX-License-Identifier: MIT
"""The most that a run finds is what the simulated devices can do.

The run is made in the simulation's own time (see `test_truth.py`).
"""

import pytest

from frobench.suite.profiles import SEARCH_PART
from tests.instruments.devices.measured import Measured, errors, measured

pytestmark = pytest.mark.long

BUDGET = 20
SPEC = {
    "virtual": True,
    "name": "acme",
    "memory": 64 << 20,
    "launch": 70e-6,
    "metadata": 11e-6,
    "kernel": 7e-6,
    "synchronise": 13e-6,
    "flops": {"float32": 3.1e9, "bfloat16": 9.7e9},
    "bandwidth": 6.3e9,
}
NEAR = 0.01
"""How near the truth the most must come: launching a call of 50 ms costs less than this."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(
        tmp_path_factory.mktemp("found"),
        SPEC,
        "(attainable_peak and (float32 or bfloat16) and not tfloat32)"
        " or (bench_square and 256 and bfloat16 and not graph)",
        *("--devices", "acme:0", "--budget", BUDGET),
    )


def test_nothing_fails_and_nothing_is_wrong(found: Measured) -> None:
    assert found.code == 0
    assert errors(found.run.frobench.conclusions) == set()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_most_is_the_rate_of_the_device(found: Measured, precision: str) -> None:
    (most,) = found.plot("peak").values()
    assert most[precision] == pytest.approx(found.spec.flops[precision], rel=NEAR)


def test_the_fastest_precision_leads(found: Measured) -> None:
    assert found.value("peak-acme:0") == pytest.approx(found.spec.flops["bfloat16"], rel=NEAR)


def test_all_searches_together_end_in_time(found: Measured) -> None:
    searches = [case.extra_info.search for case in found.run.benchmarks]
    spent = [one.seconds for one in searches if one is not None]
    assert len(spent) == 2
    assert sum(spent) <= 1.1 * SEARCH_PART * BUDGET


def test_no_call_is_longer_than_a_search_allows(found: Measured) -> None:
    for case in found.run.benchmarks:
        if case.extra_info.search is not None:
            assert case.stats.median <= 0.25 * found.run.frobench.settings.longest_sample
