# SPDX-License-Identifier: MIT
"""How many images a second does a residual block take, forward and in training?

A sample is the time that a user waits for a batch of images to pass the block, or for a training
step on it. The block is that of residual networks: two convolutions of 3 x 3 that keep the number
of channels, each followed by batch normalisation, with ReLU between them and after the inputs are
added. Images have 28 x 28 points. A block has 256 channels, 256 images and products in bfloat16; a
block for CPUs has 32 channels, 16 images and float32.

The forward pass normalises by stored statistics, as in inference, and its weights are in the type
of the products. A training step is forward, backward and SGD with momentum; it normalises by the
statistics of its batch, and also finds the gradient of the inputs, which the block before would
need. Its weights are kept in float32 (autocast). They are put back before each step, outside the
clock. A layout is how images and weights lie in memory: ``channels_last``, or ``contiguous`` with a
channel after the other.

Operations are those of the convolutions, those on the padding at the edges included, as datasheets
and other tools count them; backward counts twice as much as forward. Bytes are inputs, weights and
outputs, and in training the gradients of each and the momentum, each moved once. Images are the
items.
"""

import math
from collections.abc import Sequence

import torch
from decoders import (
    EPSILON,
    FLOAT32,
    GRADIENTS,
    NEAR,
    STEP_NEAR,
    autocast,
    close,
    exact,
    skip_unsuited,
    tightest,
)
from torch import Tensor, nn
from torch.nn.functional import conv2d

from frobench import Check, Device, Measure, Work, cases, cpu_twins, needed, precision

pytestmark = cpu_twins()

NARROW = 32
"""Channels of the block that CPUs have."""
POINTS, KERNEL = 28, 3
"""Edges of an image, and of a convolution."""
RATE, MOMENTUM = 0.1, 0.9
LAYOUTS = {"channels_last": torch.channels_last, "contiguous": torch.contiguous_format}
KEPT = 20
"""Times the images that a step and its check keep in float32, at most."""


@cases("quick", images=[256], channels=[256], layout=["channels_last"], dtype=["bfloat16"])
@cases(images=[256], channels=[256], layout=[*LAYOUTS], dtype=["bfloat16"])
@cases(images=[16], channels=[NARROW], layout=[*LAYOUTS], dtype=["float32"])
def bench_forward(  # noqa: PLR0913, PLR0917 - a parameter each
    measure: Measure, device: Device, images: int, channels: int, layout: str, dtype: str
) -> None:
    """Send images through a residual block."""
    skip_unsuited(device, wide=channels > NARROW)
    block = draw_block(device, images, channels, layout).to(getattr(torch, dtype)).eval()
    inputs = draw_images(device, images, channels, layout, dtype)

    @torch.no_grad()
    def body() -> Tensor:
        outputs: Tensor = block(inputs)
        return outputs

    with precision(dtype), needed(f"convolution in {dtype}"):
        body()
    with precision(dtype):
        measure(
            body,
            work=forward_work(images, channels, inputs.itemsize),
            check=lambda outputs: close(truth(block, inputs), outputs, NEAR[dtype], "outputs"),
        )


@cases("quick", images=[256], channels=[256], layout=[*LAYOUTS], dtype=["bfloat16"])
@cases("quick", images=[16], channels=[NARROW], layout=["channels_last"], dtype=["float32"])
@cases(images=[16], channels=[NARROW], layout=[*LAYOUTS], dtype=["float32"])
def bench_step(  # noqa: PLR0913, PLR0917 - a parameter each
    measure: Measure, device: Device, images: int, channels: int, layout: str, dtype: str
) -> None:
    """Train a residual block on images: forward, backward and SGD with momentum."""
    skip_unsuited(device, wide=channels > NARROW)
    training = BlockTraining(device, images, channels, layout, dtype)
    with precision(dtype), needed(f"training of convolutions in {dtype}"):
        training.step()
    with precision(dtype):
        measure(
            training.step,
            before=training.begin,
            work=step_work(images, channels, training.inputs.itemsize),
            check=training.check,
        )


class Block(nn.Module):
    """Two convolutions, each normalised, whose result is added to what they are given."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        sides = channels, channels, KERNEL
        self.first = nn.Conv2d(*sides, padding=1, bias=False)
        self.between = nn.BatchNorm2d(channels, EPSILON)
        self.second = nn.Conv2d(*sides, padding=1, bias=False)
        self.behind = nn.BatchNorm2d(channels, EPSILON)

    def halfway(self, images: Tensor) -> Tensor:
        """Send (images, channels, rows, columns) through the first half of the block."""
        return torch.relu(self.between(self.first(images)))

    def forward(self, images: Tensor) -> Tensor:
        """Send (images, channels, rows, columns) through the block."""
        return torch.relu(images + self.behind(self.second(self.halfway(images))))


class BlockTraining:
    """A block in training: each step begins from the same weights; the outputs' slope is given."""

    def __init__(self, device: Device, images: int, channels: int, layout: str, dtype: str) -> None:
        self.device, self.dtype = device, dtype
        self.block = draw_block(device, images, channels, layout)
        self.weights = list(self.block.parameters())
        self.start = [weights.detach().clone() for weights in self.weights]
        self.inputs, self.slopes = (
            draw_images(device, images, channels, layout, dtype) for _ in "io"
        )
        self.inputs.requires_grad_()
        self.optimizer = torch.optim.SGD(self.weights, RATE, momentum=MOMENTUM)

    def begin(self) -> None:
        """Put the weights back, and let the optimizer forget."""
        with torch.no_grad():
            for weights, start in zip(self.weights, self.start, strict=True):
                weights.copy_(start)
            for state in self.optimizer.state.values():
                state["momentum_buffer"].zero_()

    def step(self) -> Tensor:
        """Take a step; return the outputs, which lie on the device."""
        self.inputs.grad = None
        self.optimizer.zero_grad()
        with autocast(self.device, self.dtype):
            outputs: Tensor = self.block(self.inputs)
        outputs.backward(self.slopes)  # type: ignore[no-untyped-call]  # torch leaves it so
        self.optimizer.step()
        return outputs.detach()

    def check(self, outputs: Tensor) -> Check:
        """Check the outputs, every gradient, and every weight after the step.

        Where rounding moves a number across the edge of a ReLU, its gradient jumps. So the true
        gradients are those for which the same numbers are positive as in the block.
        """
        near, given = NEAR[self.dtype], [self.inputs, *self.weights]
        gradients = [torch.zeros_like(one) if one.grad is None else one.grad for one in given]
        checks = []
        for stepped, start, gradient in zip(self.weights, self.start, gradients[1:], strict=True):
            true = exact(start) - RATE * exact(gradient)
            checks.append(close(true, stepped, STEP_NEAR, "weights after the step"))
        self.begin()
        leaves = [exact(one).requires_grad_() for one in given]
        with autocast(self.device, self.dtype):
            positive = [self.block.halfway(self.inputs) > 0, outputs > 0]
        true = passed(leaves[0], leaves[1:])
        checks.append(close(true.detach(), outputs, near, "outputs"))
        true = passed(leaves[0], leaves[1:], positive=positive)
        slopes = torch.autograd.grad(true, leaves, exact(self.slopes))
        for slope, gradient in zip(slopes, gradients, strict=True):
            true, seen = (one.flatten(min(1, one.dim() - 1)) for one in (slope, gradient))
            checks.append(close(true, seen, GRADIENTS * near, "gradients"))
        return tightest(checks)


def draw_block(device: Device, images: int, channels: int, layout: str) -> Block:
    """Return a block with random weights and statistics, if it can be trained and checked."""
    device.require(KEPT * FLOAT32 * images * channels * POINTS**2)
    with torch.device("meta"):
        block = Block(channels)
    block = block.to_empty(device=device.handle)
    with torch.no_grad():
        for name, part in block.state_dict().items():
            drawn = device.uniform(*part.shape)
            if part.dim() > 1:
                part.copy_(drawn * math.sqrt(3 / drawn[0].numel()))
            else:  # a mean or what is added, or else a variance or a factor
                part.copy_(drawn / 2 + (0 if name.endswith(("mean", "bias")) else 1))
    for convolution in (block.first, block.second):
        convolution.weight.data = convolution.weight.data.contiguous(memory_format=LAYOUTS[layout])
    return block


def draw_images(device: Device, images: int, channels: int, layout: str, dtype: str) -> Tensor:
    """Return random images."""
    drawn = device.uniform(images, channels, POINTS, POINTS, dtype=dtype)
    return drawn.contiguous(memory_format=LAYOUTS[layout])


def truth(block: Block, images: Tensor) -> Tensor:
    """Return what a block makes of images by its stored statistics."""
    stored = [
        (exact(norm.get_buffer("running_mean")), exact(norm.get_buffer("running_var")))
        for norm in (block.between, block.behind)
    ]
    return passed(exact(images), list(map(exact, block.parameters())), stored)


def passed(
    images: Tensor,
    weights: Sequence[Tensor],
    stored: Sequence[tuple[Tensor, Tensor] | None] = (None, None),
    positive: Sequence[Tensor | None] = (None, None),
) -> Tensor:
    """Return what a block makes of images, by plain formulas.

    positive : which numbers each of the two ReLUs lets pass; by default those above zero
    """
    first, factor, shift, second, last_factor, last_shift = weights
    hidden = normal(conv2d(images, first, padding=1), stored[0], factor, shift)
    hidden = relu(hidden, positive[0])
    added = normal(conv2d(hidden, second, padding=1), stored[1], last_factor, last_shift)
    return relu(images + added, positive[1])


def relu(numbers: Tensor, positive: Tensor | None) -> Tensor:
    """Return numbers, with zero in the place of those that are not positive.

    positive : which numbers count as positive; by default those above zero
    """
    return numbers * (numbers > 0 if positive is None else positive)


def normal(
    images: Tensor, statistics: tuple[Tensor, Tensor] | None, factor: Tensor, shift: Tensor
) -> Tensor:
    """Return images whose channels have mean 0 and variance 1, by theirs or stored statistics."""
    if statistics is None:
        parts = images.transpose(0, 1).flatten(1)
        statistics = parts.mean(1), parts.var(1, correction=0)
    mean, variance = statistics
    scale = factor / (variance + EPSILON).sqrt()
    return (images - mean[:, None, None]) * scale[:, None, None] + shift[:, None, None]


def forward_work(images: int, channels: int, itemsize: int) -> Work:
    """Count a forward pass; images are the items."""
    weights, numbers = 2 * KERNEL**2 * channels**2, images * channels * POINTS**2
    return Work(
        flops=2 * weights * images * POINTS**2,
        bytes=itemsize * (weights + 8 * channels + 2 * numbers),
        items=images,
    )


def step_work(images: int, channels: int, itemsize: int) -> Work:
    """Count a step of training; images are the items."""
    weights, numbers = 2 * KERNEL**2 * channels**2, images * channels * POINTS**2
    return Work(
        flops=3 * 2 * weights * images * POINTS**2,
        bytes=6 * FLOAT32 * (weights + 4 * channels) + itemsize * 4 * numbers,
        items=images,
    )
