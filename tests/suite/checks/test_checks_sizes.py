# SPDX-License-Identifier: MIT
"""More work takes longer where nothing but a size differs; other parameters may save time."""

from typing import Any

import pytest

from frobench.suite.checks import doubts, plausibility
from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import case, run_of

Parameters = dict[str, Any]
PAIRS: list[tuple[Parameters, Parameters, bool]] = [
    ({"n": 64}, {"n": 4096}, True),
    ({"fused": True, "n": 64}, {"fused": True, "n": 4096}, True),
    ({"fused": False, "n": 64}, {"fused": True, "n": 4096}, False),
    ({"steps": 1000, "n": 64}, {"steps": 1, "n": 4096}, False),
    ({"sparse": True, "n": 64}, {"sparse": False, "n": 64}, False),
]
"""Parameters of less and of more work, and whether only a size differs."""


def mine(seconds: float, flops: float, params: Parameters, device: str = "cpu") -> Case:
    """Return a case of a benchmark of one's own."""
    return case("bench_mine", seconds, device, work=Work(flops=flops), **params)


@pytest.mark.parametrize(("less", "more", "named"), PAIRS)
def test_more_work_in_less_time(less: Parameters, more: Parameters, named: bool) -> None:  # noqa: FBT001 - a parameter
    run = run_of("mine", [mine(0.1, 1e9, less), mine(0.02, 1e10, more)])
    assert [fault.case for fault in plausibility.faster_when_larger(run)] == (
        [run.benchmarks[1].fullname] * named
    )


@pytest.mark.parametrize(("less", "more", "named"), PAIRS)
def test_far_more_work_in_the_same_time(less: Parameters, more: Parameters, named: bool) -> None:  # noqa: FBT001 - a parameter
    cases = [mine(0.02, 1e8, less, "cuda:0"), mine(0.02, 1e12, more, "cuda:0")]
    run = run_of("mine", cases, accelerators=1)
    assert bool([*doubts.flat_time(run)]) == named
