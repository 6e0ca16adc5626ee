# SPDX-License-Identifier: MIT
"""What single benchmarks compute and check, and the cases that they leave out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from frobench.suite.kit.device import Device
from tests.benchmarks.calls import CPU, called, module_of
from tests.instruments.processes.alone import load, planted

CONVOLUTIONS, PLACEMENT, SPLIT = map(module_of, ("convolutions", "placement", "split_model"))
IMAGES, CHANNELS, POINTS = 3, 8, 28
WIDE: dict[str, Any] = {"width": 4096, "dtype": "bfloat16"}


@pytest.mark.parametrize(
    ("call", "given", "reason"),
    [
        ("long_context.prefill", WIDE, "wide layers are for accelerators"),
        ("long_context.decode", WIDE, "wide layers are for accelerators"),
        ("long_context.products", WIDE, "wide layers are for accelerators"),
        ("loss_reporting.reading", {"network": "large"}, "the large network is for accelerators"),
        (
            "split_model.pipeline",
            {"devices": [CPU] * 5},
            "24 layers do not divide into 5 equal stages",
        ),
        ("small_weights.decode int8", {}, "no product of int8 weights here"),
    ],
)
def test_what_a_device_cannot_or_should_not_do_is_left_out(
    monkeypatch: pytest.MonkeyPatch, call: str, given: dict[str, Any], reason: str
) -> None:
    monkeypatch.delattr(torch, "_weight_int8pack_mm")
    with pytest.raises(pytest.skip.Exception, match=reason):
        called(call, **given)


def test_scores_that_fill_the_memory_leave_the_case_out() -> None:
    def full() -> torch.Tensor:
        raise torch.OutOfMemoryError("out of memory")

    with pytest.raises(pytest.skip.Exception, match="keeps all scores"):
        module_of("long_context").skip_without_memory(Device("meta"), full)


ROUNDED = {"int8": 0.003, "int4": 0.03, "float8": 0.01}
"""Errors that small weights make at least."""


@pytest.mark.parametrize("weights", ROUNDED)
def test_the_error_is_the_loss_of_small_weights(weights: str) -> None:
    names = (f"small_weights.decode {one}" for one in (weights, "bfloat16"))
    error, least = (called(name).check.error for name in names)
    assert error > ROUNDED[weights]
    assert error > least


def test_images_weights_and_momentum_are_moved_once_and_rounding_alone_is_off() -> None:
    number, images = torch.float32.itemsize, IMAGES * CHANNELS * POINTS**2
    block = CONVOLUTIONS.draw_block(CPU, IMAGES, CHANNELS, "contiguous")
    weights = sum(part.numel() for part in block.parameters())
    kept = sum(part.numel() for part in block.state_dict().values() if part.dim())
    forward, step = (called(f"convolutions.{kind}") for kind in ("forward", "step"))
    assert forward.work.bytes == number * (kept + 2 * images)
    assert step.work.bytes == number * (6 * weights + 4 * images)
    assert max(forward.check.error, step.check.error) < 1e-4


@pytest.mark.parametrize("layout", CONVOLUTIONS.LAYOUTS)
def test_images_and_weights_have_the_layout(layout: str) -> None:
    training = CONVOLUTIONS.BlockTraining(CPU, IMAGES, CHANNELS, layout, "float32")
    kept = [training.inputs, training.slopes, training.block.first.weight]
    assert all(one.is_contiguous(memory_format=CONVOLUTIONS.LAYOUTS[layout]) for one in kept)
    assert training.step().is_contiguous(memory_format=CONVOLUTIONS.LAYOUTS[layout])


def test_every_step_begins_from_the_same_weights() -> None:
    training = CONVOLUTIONS.BlockTraining(CPU, IMAGES, CHANNELS, "channels_last", "float32")
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


N = 30_000
WRONG: dict[str, Callable[[Tensor], Tensor]] = {
    "a fifth wider": lambda drawn: 1.2 * drawn,
    "a tenth off": lambda drawn: drawn + 0.1,
    "uniform": torch.rand_like,
    "the last tenth left out": lambda drawn: torch.cat(
        [drawn[: N - N // 10], 0 * drawn[: N // 10]]
    ),
    "of one sign": torch.Tensor.abs,
    "one number": lambda drawn: drawn[0].expand(N),
    "not a number": lambda drawn: drawn * torch.nan,
    "in another precision": torch.Tensor.double,
    "too few": lambda drawn: drawn[1:],
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_numbers_that_are_not_normally_spread_are_told(wrong: Callable[[Tensor], Tensor]) -> None:
    drawn = torch.randn(N, generator=torch.Generator().manual_seed(1))
    assert PLACEMENT.normal(N)(drawn).passed
    assert not PLACEMENT.normal(N)(wrong(drawn)).passed


def test_a_tensor_on_another_device_is_wrong() -> None:
    drawn = torch.randn(64)
    assert PLACEMENT.on(CPU, PLACEMENT.normal(64))(drawn).passed
    assert not PLACEMENT.on(Device("meta"), PLACEMENT.normal(64))(drawn).passed


@pytest.mark.parametrize("seed", range(5))
def test_numbers_neither_vanish_nor_saturate_on_their_way_through_the_layers(seed: int) -> None:
    batch, layers = SPLIT.task(Device("cpu", seed), 64)
    assert 0.05 < SPLIT.through(batch, layers).abs().mean() < 0.9


def test_a_checked_row_lies_in_every_micro_batch() -> None:
    batch, layers = SPLIT.task(CPU, 64)
    right = SPLIT.through(batch, layers)
    check = SPLIT.outputs(batch, layers)
    for piece in range(32):
        wrong = right.clone()
        wrong.chunk(32)[piece].neg_()
        assert not check([wrong]).passed
    assert check(right.chunk(8)).passed
    assert not check([right[:-1]]).passed
    assert not check([torch.cat([right, right])]).passed
