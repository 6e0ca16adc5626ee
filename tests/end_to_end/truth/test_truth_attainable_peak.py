# SPDX-License-Identifier: MIT
"""The most that a run finds is what the simulated devices can do.

The run is made in the simulation's own time (see `test_truth.py`).
"""

import pytest

from frobench.suite.profiles import SEARCH_PART
from tests.instruments.devices.measured import STRANGE, Measured, of_module

pytestmark = pytest.mark.long

BUDGET = 20
NEAR = 0.01
"""How near the truth the most must come: launching a call of 50 ms costs less than this."""
found = of_module(
    STRANGE | {"memory": 64 << 20, "flops": {"float32": 3.1e9, "bfloat16": 9.7e9}},
    "(attainable_peak and (float32 or bfloat16) and not tfloat32)"
    " or (bench_square and 256 and bfloat16 and not graph)",
    *("--devices", "acme:0", "--budget", BUDGET),
)


def test_the_most_is_the_rate_of_the_device_in_its_fastest_precision(found: Measured) -> None:
    (most,) = found.plot("peak").values()
    for precision in ("float32", "bfloat16"):
        assert most[precision] == pytest.approx(found.spec.flops[precision], rel=NEAR)
    found.holds({"peak-acme:0": found.spec.flops["bfloat16"]}, NEAR)


def test_searches_end_in_time_and_make_no_call_longer_than_is_allowed(found: Measured) -> None:
    searched = [one for one in found.run.benchmarks if one.extra_info.search]
    spent = [one.extra_info.search.seconds for one in searched if one.extra_info.search]
    assert len(spent) == 2
    assert sum(spent) <= 1.1 * SEARCH_PART * BUDGET
    longest = found.run.frobench.settings.longest_sample
    assert all(case.stats.median <= 0.25 * longest for case in searched)
