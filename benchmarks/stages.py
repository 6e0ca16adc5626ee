# SPDX-License-Identifier: MIT
"""A pipeline whose stages are the ranks of a group, by `torch.distributed.pipelining`.

The layers are those of `bench_transformer`, one a stage. Every rank draws the weights of all
layers, so that it can check the gradients of its own.
"""

import torch
import torch.distributed as dist
from decoders import Shape, autocast, draw_layers, through
from networks import Operation
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from frobench import Check, Device, close_to, worst

SEQUENCES = 16
"""Sequences of a batch, which micro-batches share."""
TOKENS = {"float32": 8, "bfloat16": 64}
"""Tokens of a sequence, by the type that products are made in."""
NEAR = {"float32": 1e-4, "bfloat16": 2e-2}
"""Errors of gradients relative to the largest of a tensor, at most."""
NUMBER = 4
"""Bytes of a weight."""
COPIES = 5
"""Times the weights of a layer that are kept: the weights, and gradients of both ways."""


class Stage(nn.Module):
    """Layers that follow one another on one device."""

    def __init__(self, device: Device, dtype: str, layers: nn.ModuleList) -> None:
        super().__init__()
        self._device, self._dtype = device, dtype
        self.layers = layers

    def forward(self, numbers: Tensor) -> Tensor:
        """Send (sequences, tokens, width) through the layers."""
        with autocast(self._device, self._dtype):
            return through(self.layers, numbers, [None] * len(self.layers))


class Pipeline:
    """A batch forward and backward through all layers, in micro-batches.

    way : ``pipeline`` gives every rank a layer, and ``alone`` all layers, without any exchange
    """

    def __init__(self, device: Device, rank: int, width: int, micro: int, way: str) -> None:
        ranks = dist.get_world_size()
        dtype = "bfloat16" if device.is_accelerator else "float32"
        device.require(COPIES * NUMBER * 12 * width**2 * ranks)
        self._rank, self._micro, self._near = rank, micro, NEAR[dtype]
        self._inputs, self._targets = (
            device.uniform(SEQUENCES, TOKENS[dtype], width) for _ in "it"
        )
        layers = draw_layers(device, Shape(width, ranks, dtype), "float32")
        self._all = Stage(device, dtype, layers)
        self._own = self._all
        self._schedule = None
        if way == "pipeline":
            # Not at the top: it takes a while, which the other benchmarks need not wait.
            from torch.distributed.pipelining import PipelineStage, ScheduleGPipe  # noqa: PLC0415

            self._own = Stage(device, dtype, nn.ModuleList([layers[rank]]))
            stage = PipelineStage(self._own, rank, ranks, device.handle)
            self._schedule = ScheduleGPipe(stage, micro, mse_loss)
        self._last = rank == ranks - 1

    def __call__(self) -> None:
        """Find the gradients of a batch."""
        self._all.zero_grad()
        if self._schedule is None:
            self._alone()
        else:
            inputs = [self._inputs] if self._rank == 0 else []
            target = self._targets if self._last else None
            self._schedule.step(*inputs, target=target)

    def _alone(self) -> None:
        pairs = zip(self._inputs.chunk(self._micro), self._targets.chunk(self._micro), strict=True)
        for inputs, targets in pairs:
            loss = mse_loss(self._all(inputs), targets) / self._micro
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it so

    def check(self, _: object) -> Check:
        """Compare the gradients of this rank's layers with those that it finds by itself."""
        found = [gradient_of(weights) for weights in self._own.parameters()]
        loss = mse_loss(self._all(self._inputs), self._targets)
        expected = torch.autograd.grad(loss, list(self._own.parameters()))
        checks = [close_to(truth, self._near, "gradients") for truth in expected]
        return worst(check(gradient) for check, gradient in zip(checks, found, strict=True))


def gradient_of(weights: Tensor) -> Tensor:
    """Return the gradient of weights; zeros where there is none."""
    return torch.zeros_like(weights) if weights.grad is None else weights.grad.clone()


def pipeline(device: Device, rank: int, width: int, micro: int, way: str) -> Operation:
    """Return a batch through a pipeline of all ranks, or through all layers on each of them."""
    taken = Pipeline(device, rank, width, micro, way)
    return taken, taken.check
