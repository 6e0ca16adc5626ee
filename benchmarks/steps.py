# SPDX-License-Identifier: MIT
"""Steps of training that the ranks of a group take together, each on tokens of its own.

The layers are those of `bench_transformer`. Every rank draws the same weights. What it exchanges is
checked against the mean of the gradients that all ranks find by themselves.
"""

from copy import deepcopy

import torch
import torch.distributed as dist
from decoders import RATE, Shape, autocast, draw_layers, through
from networks import Operation
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from frobench import Check, Device, close_to, worst

NEAR = {"float32": 1e-4, "bfloat16": 2e-2}
"""Errors of gradients relative to the largest of a tensor, at most."""
BUCKET = 25 * 2**20
"""Bytes that DistributedDataParallel exchanges together, by default."""
NUMBER = 4
"""Bytes of a weight."""
COPIES, KEPT = 10, 30
"""Times the weights that a step and its check keep, with the gradients and AdamW's moments; and
times its inputs that it keeps for backward."""


class Layers(nn.Module):
    """Decoder layers as one module."""

    def __init__(self, layers: nn.ModuleList) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, numbers: Tensor) -> Tensor:
        """Send (batch, tokens, width) through all layers."""
        return through(self.layers, numbers, [None] * len(self.layers))


class Step:
    """A step of training on one rank: forward, backward and AdamW.

    tokens : of a step
    way : ``alone`` exchanges nothing; ``ddp`` and ``fsdp`` as PyTorch does
    scaling : ``weak`` gives every rank all tokens of a step, ``strong`` an equal part of them
    """

    def __init__(  # noqa: PLR0913, PLR0917 - a parameter each
        self, device: Device, rank: int, width: int, tokens: int, way: str, scaling: str
    ) -> None:
        self._device, self._way = device, way
        self._shape = Shape(width, 1, "bfloat16" if device.is_accelerator else "float32")
        if scaling == "strong":
            tokens = max(1, tokens // dist.get_world_size())
        device.require(NUMBER * (COPIES * 12 * width**2 + KEPT * tokens * width))
        own = Device(device.name, device.seed + 1 + rank)
        self._inputs, self._targets = (own.uniform(1, tokens, width) for _ in "it")
        drawn = draw_layers(device, self._shape, "float32")
        self._plain = Layers(deepcopy(drawn))
        self._model = self._wrapped(Layers(drawn))
        self._optimizer = torch.optim.AdamW(self._model.parameters(), RATE)

    def _wrapped(self, model: Layers) -> nn.Module:
        if self._way == "ddp":
            devices = [self._device.handle] if self._device.is_accelerator else None
            return nn.parallel.DistributedDataParallel(model, devices)
        if self._way == "fsdp":
            # Not at the top: it takes a while, which the other ways need not wait.
            from torch.distributed.device_mesh import init_device_mesh  # noqa: PLC0415
            from torch.distributed.fsdp import fully_shard  # noqa: PLC0415

            mesh = init_device_mesh(self._device.handle.type, (dist.get_world_size(),))
            for layer in model.layers:
                fully_shard(layer, mesh=mesh)
            fully_shard(model, mesh=mesh)
        return model

    def __call__(self) -> None:
        """Take a step."""
        self._optimizer.zero_grad()
        self._loss(self._model).backward()  # type: ignore[no-untyped-call]  # torch leaves it so
        self._optimizer.step()

    def _loss(self, model: nn.Module) -> Tensor:
        with autocast(self._device, self._shape.dtype):
            outputs = model(self._inputs)
        return mse_loss(outputs, self._targets)

    def check(self, _: object) -> Check:
        """Compare the gradients of one more pass with the mean of what all ranks find alone."""
        with torch.no_grad():
            pairs = zip(self._plain.parameters(), self._model.parameters(), strict=True)
            for plain, weights in pairs:
                plain.copy_(whole(weights))
        expected = torch.autograd.grad(self._loss(self._plain), list(self._plain.parameters()))
        if self._way != "alone":
            for gradient in expected:
                dist.all_reduce(gradient)
                gradient.div_(dist.get_world_size())
        self._optimizer.zero_grad()
        self._loss(self._model).backward()  # type: ignore[no-untyped-call]  # as above
        near = NEAR[self._shape.dtype]
        checks = [close_to(truth, near, "gradients") for truth in expected]
        found = map(gradient_of, self._model.parameters())
        return worst(check(gradient) for check, gradient in zip(checks, found, strict=True))


def whole(tensor: Tensor) -> Tensor:
    """Return all of a tensor of which every rank may have a part."""
    # The class of sharded tensors is not imported: that takes seconds.
    found: Tensor = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
    return found


def gradient_of(weights: Tensor) -> Tensor:
    """Return the whole gradient of weights."""
    return torch.zeros_like(weights) if weights.grad is None else whole(weights.grad)


def exchange(device: Device, rank: int, width: int) -> Operation:
    """Return an exchange of as many bytes as a step has gradients, and nothing else."""
    count = 12 * width**2 + 2 * width
    device.require(2 * NUMBER * count)
    drawn = device.uniform(count)
    ours = drawn * (rank + 1)
    buckets = torch.split(ours, BUCKET // NUMBER)

    def body() -> None:
        for message in [dist.all_reduce(bucket, async_op=True) for bucket in buckets]:
            message.wait()

    def check(_: object) -> Check:
        ours.copy_(drawn * (rank + 1))
        body()
        ranks = dist.get_world_size()
        return close_to(drawn * (ranks * (ranks + 1) // 2), 1e-5, "the sums")(ours)

    return body, check


def step(  # noqa: PLR0913, PLR0917 - a parameter each
    device: Device, rank: int, width: int, tokens: int, way: str, scaling: str
) -> Operation:
    """Return a step of training, or what it exchanges alone (``exchange``), and its check."""
    if way == "exchange":
        return exchange(device, rank, width)
    taken = Step(device, rank, width, tokens, way, scaling)
    return taken, taken.check
