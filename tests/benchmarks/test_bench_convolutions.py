# SPDX-License-Identifier: MIT
"""A residual block: what it counts, and what wrong arithmetic meets."""

from pathlib import Path
from typing import Any

import pytest
import torch

from frobench.suite.kit.device import Device
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load, planted

CPU = Device("cpu", seed=5)
IMAGES, CHANNELS, POINTS = 3, 8, 28
MODULE: Any = load(BENCHMARKS / "bench_convolutions.py")


def seen(
    kind: str,
    module: Any = MODULE,  # noqa: ANN401 - a module
    layout: str = "channels_last",
) -> Recorder:
    """Call a benchmark on the CPU."""
    recorder = Recorder()
    shape: dict[str, Any] = {"images": IMAGES, "channels": CHANNELS, "layout": layout}
    getattr(module, f"bench_{kind}")(recorder, device=CPU, dtype="float32", **shape)
    return recorder


@pytest.mark.parametrize("layout", MODULE.LAYOUTS)
@pytest.mark.parametrize("kind", ["forward", "step"])
def test_declared_operations_are_those_that_torch_counts(kind: str, layout: str) -> None:
    result = seen(kind, layout=layout)
    assert result.work.flops == result.products
    assert result.work.items == IMAGES
    assert result.check.passed
    assert result.check.error < 1e-4


def test_images_weights_and_momentum_are_moved_once() -> None:
    number, images = torch.float32.itemsize, IMAGES * CHANNELS * POINTS**2
    block = MODULE.draw_block(CPU, IMAGES, CHANNELS, "contiguous")
    weights = sum(part.numel() for part in block.parameters())
    kept = sum(part.numel() for part in block.state_dict().values() if part.dim())
    assert seen("forward").work.bytes == number * (kept + 2 * images)
    assert seen("step").work.bytes == number * (6 * weights + 4 * images)


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


FAULTS = {
    "nothing added": ("step", "images + self.behind(self.second", "self.behind(self.second"),
    "no activation": (
        "forward",
        "torch.relu(self.between(self.first(images)))",
        "self.between(self.first(images))",
    ),
    "one convolution": ("forward", "self.second(self.halfway(images))", "self.halfway(images)"),
    "another normalisation": ("forward", ".eval()", ""),
    "no backward": ("step", "outputs.backward(self.slopes)", "pass"),
    "no update": ("step", "        self.optimizer.step()", "        pass"),
    "another rate": ("step", "self.weights, RATE,", "self.weights, 2 * RATE,"),
    "no gradient of the inputs": ("step", "self.inputs.requires_grad_()", "pass"),
    "a narrower type": (
        "step",
        "autocast(self.device, self.dtype)",
        "autocast(self.device, 'bfloat16')",
    ),
}


def test_rounding_across_the_edge_of_a_relu_is_no_fault(tmp_path: Path) -> None:
    rounded = "self.between(self.first(images)) + 2e-5"
    module = planted(tmp_path, "bench_convolutions", "self.between(self.first(images))", rounded)
    training = module.BlockTraining(CPU, 16, module.NARROW, "channels_last", "float32")
    check = training.check(training.step())
    assert check.passed, check


@pytest.mark.parametrize(("kind", "old", "new"), FAULTS.values(), ids=list(FAULTS))
def test_wrong_arithmetic_does_not_pass_the_check(
    kind: str, old: str, new: str, tmp_path: Path
) -> None:
    assert not seen(kind, planted(tmp_path, "bench_convolutions", old, new)).check.passed
