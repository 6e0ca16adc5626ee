# SPDX-License-Identifier: MIT
"""Split models: into how many stages, on which numbers, and what of them is checked."""

import pytest
import torch

from frobench.suite.kit.device import Device
from tests.benchmarks.calls import CPU, called, module_of

MODULE = module_of("split_model")


def test_layers_that_do_not_divide_are_no_pipeline() -> None:
    with pytest.raises(pytest.skip.Exception, match="24 layers do not divide into 5 equal stages"):
        called("split_model.pipeline", devices=[CPU] * 5)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_neither_vanish_nor_saturate_on_their_way_through_the_layers(seed: int) -> None:
    batch, layers = MODULE.task(Device("cpu", seed), 64)
    assert 0.05 < MODULE.through(batch, layers).abs().mean() < 0.9


def test_a_checked_row_lies_in_every_micro_batch() -> None:
    batch, layers = MODULE.task(CPU, 64)
    right = MODULE.through(batch, layers)
    check = MODULE.outputs(batch, layers)
    for piece in range(32):
        wrong = right.clone()
        wrong.chunk(32)[piece].neg_()
        assert not check([wrong]).passed
    assert check(right.chunk(8)).passed
    assert not check([right[:-1]]).passed
    assert not check([torch.cat([right, right])]).passed
