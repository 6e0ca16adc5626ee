# SPDX-License-Identifier: MIT
"""A residual block: what it moves, how it lies in memory, and from where a step begins."""

from pathlib import Path

import pytest
import torch

from tests.benchmarks.calls import CPU, called, module_of
from tests.instruments.processes.alone import load, planted

IMAGES, CHANNELS, POINTS = 3, 8, 28
MODULE = module_of("convolutions")


def test_images_weights_and_momentum_are_moved_once_and_rounding_alone_is_off() -> None:
    number, images = torch.float32.itemsize, IMAGES * CHANNELS * POINTS**2
    block = MODULE.draw_block(CPU, IMAGES, CHANNELS, "contiguous")
    weights = sum(part.numel() for part in block.parameters())
    kept = sum(part.numel() for part in block.state_dict().values() if part.dim())
    forward, step = (called(f"convolutions.{kind}") for kind in ("forward", "step"))
    assert forward.work.bytes == number * (kept + 2 * images)
    assert step.work.bytes == number * (6 * weights + 4 * images)
    assert max(forward.check.error, step.check.error) < 1e-4


@pytest.mark.parametrize("layout", MODULE.LAYOUTS)
def test_images_and_weights_have_the_layout(layout: str) -> None:
    training = MODULE.BlockTraining(CPU, IMAGES, CHANNELS, layout, "float32")
    kept = [training.inputs, training.slopes, training.block.first.weight]
    assert all(one.is_contiguous(memory_format=MODULE.LAYOUTS[layout]) for one in kept)
    assert training.step().is_contiguous(memory_format=MODULE.LAYOUTS[layout])


def test_every_step_begins_from_the_same_weights() -> None:
    training = MODULE.BlockTraining(CPU, IMAGES, CHANNELS, "channels_last", "float32")
    for _ in range(3):
        training.begin()
        assert training.check(training.step()).passed
    training.step()
    assert not training.check(training.step()).passed


def test_rounding_across_the_edge_of_a_relu_is_no_fault(tmp_path: Path) -> None:
    rounded = "self.between(self.first(images)) + 2e-5"
    path = planted(tmp_path, "bench_convolutions", "self.between(self.first(images))", rounded)
    module = load(path)
    training = module.BlockTraining(CPU, 16, module.NARROW, "channels_last", "float32")
    check = training.check(training.step())
    assert check.passed, check
