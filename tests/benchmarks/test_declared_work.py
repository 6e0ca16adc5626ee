# SPDX-License-Identifier: MIT
"""Every benchmark declares the operations that torch counts, and its result passes its check."""

import pytest

from tests.benchmarks.calls import CALLS, called

PLAIN = 0.02
"""No input of a benchmark has so large a part of one and the same value, but for a few numbers."""
FEW = {"placement": 1.0, "split_model.embedding": 1.0, "matmul": 0.5, "norm_logging": 0.5}


@pytest.mark.parametrize("name", CALLS)
def test_work_is_what_torch_counts_and_what_must_be_moved_and_the_result_is_right(
    name: str,
) -> None:
    seen, call = called(name), CALLS[name]
    known = {"flops": seen.products - call.masked or None} | call.work
    assert {what: getattr(seen.work, what) for what in known} == known
    assert seen.check.passed
    assert seen.beside is None or seen.beside.passed
    assert seen.commonest is None or seen.commonest < PLAIN
    if "copy" in seen.check.compared or name.partition(".")[0] in {"copies", "parameters"}:
        assert seen.check.bound == 0
