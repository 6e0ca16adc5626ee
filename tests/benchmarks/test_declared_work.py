# SPDX-License-Identifier: MIT
"""Every benchmark declares the operations that torch counts, and its result passes its check."""

import pytest

from frobench.suite.stored.types import Check
from tests.benchmarks.calls import CALLS, called

PLAIN = 0.05
"""No input of a benchmark has so large a part of one and the same value."""


@pytest.mark.parametrize("name", CALLS)
def test_work_is_what_torch_counts_and_must_be_moved_and_results_are_right(name: str) -> None:
    seen, call = called(name), CALLS[name]
    known = {"flops": seen.products - call.masked or None, **call.work}
    assert {what: getattr(seen.work, what) for what in known} == known
    assert seen.check.passed
    assert seen.beside is None or seen.beside.passed
    assert seen.commonest is None or seen.commonest < PLAIN
    if name.startswith(("copies.", "parameters.")) and "scalar" not in name and "print" not in name:
        assert seen.check == Check("every element, bit by bit", 0.0, 0.0)
