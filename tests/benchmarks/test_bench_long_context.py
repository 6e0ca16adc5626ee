# SPDX-License-Identifier: MIT
"""Attention over long contexts is left out where the device is too slow or too small for it."""

import pytest
import torch

from frobench.suite.kit.device import Device
from tests.benchmarks.calls import called, module_of


@pytest.mark.parametrize("kind", ["prefill", "decode", "products"])
def test_layers_that_are_too_wide_for_a_cpu_are_left_out(kind: str) -> None:
    with pytest.raises(pytest.skip.Exception, match="wide layers are for accelerators"):
        called(f"long_context.{kind}", width=4096, dtype="bfloat16")


def test_scores_that_fill_the_memory_leave_the_case_out() -> None:
    def full() -> torch.Tensor:
        raise torch.OutOfMemoryError("out of memory")

    with pytest.raises(pytest.skip.Exception, match="keeps all scores"):
        module_of("long_context").skip_without_memory(Device("meta"), full)
