# SPDX-License-Identifier: MIT
"""Decoder layers as language models have them, and what they must make of their inputs.

The truth is computed from the weights by plain formulas, head by head, without the modules and
the fused attention that are timed: in float64 on a CPU; in float32 where an accelerator computed
in bfloat16, because float64 would take many of them far longer than the case.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear, mse_loss, scaled_dot_product_attention

from frobench import Check, Device, Work, needed

HEAD = 128
"""Numbers in a head of the attention."""
WEIGHTS = 6
"""Tensors of weights in a layer."""
EPSILON = 1e-5
"""Added to the variance by a normalisation."""
NEAR = {"float32": 1e-4, "bfloat16": 0.05}
"""Errors relative to the length of a row, at most; seen are up to 1e-6 and 0.01."""
GRADIENTS = 3
"""How many times as far off gradients may be; seen are up to 3e-6 and 0.04."""
STEP_NEAR = 2e-5
"""The same of what an optimizer makes of gradients that are known."""
RATE, DECAY, TINY = 1e-3, 0.1, 1e-8
"""Learning rate, weight decay and epsilon of AdamW."""
BFLOAT16, FLOAT32 = 2, 4
"""Bytes of a number."""
ADAMW = 32
"""Bytes that a training step moves for each parameter."""


class Shape(NamedTuple):
    """How wide layers are, how many, and the type that their products are made in."""

    width: int
    layers: int
    dtype: str


class Cache(NamedTuple):
    """Keys and values of a layer, each of shape (batch, heads, tokens, HEAD)."""

    keys: Tensor
    values: Tensor


class Decoder(nn.Module):
    """A layer: causal attention and two linear maps with a GELU, each normalised and added."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before = nn.LayerNorm(width, EPSILON, bias=False)
        self.mix = nn.Linear(width, 3 * width, bias=False)
        self.merge = nn.Linear(width, width, bias=False)
        self.between = nn.LayerNorm(width, EPSILON, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, numbers: Tensor, cache: Cache | None = None) -> Tensor:
        """Send (batch, tokens, width) through the layer; the tokens are the last of the cache."""
        tokens = numbers.shape[1]
        heads = self.mix(self.before(numbers)).unflatten(-1, (3, -1, HEAD))
        queries, keys, values = (part.transpose(1, 2) for part in heads.unbind(2))
        if cache is not None:
            cache.keys[:, :, -tokens:].copy_(keys)
            cache.values[:, :, -tokens:].copy_(values)
            keys, values = cache
        mixed = scaled_dot_product_attention(queries, keys, values, is_causal=tokens > 1)
        numbers = numbers + self.merge(mixed.transpose(1, 2).flatten(2))
        result: Tensor = numbers + self.down(gelu(self.up(self.between(numbers))))
        return result


def draw_layers(device: Device, shape: Shape, dtype: str) -> nn.ModuleList:
    """Return layers with random weights of a type under which the numbers keep about their size."""
    with torch.device("meta"):
        model = nn.ModuleList(Decoder(shape.width) for _ in range(shape.layers))
    model = model.to(getattr(torch, dtype)).to_empty(device=device.handle)
    with torch.no_grad():
        for weights in model.parameters():
            drawn = device.uniform(*weights.shape)
            linear = drawn.dim() > 1
            weights.copy_(drawn * math.sqrt(3 / drawn.shape[-1]) if linear else 1 + drawn / 2)
    return model


def draw_caches(device: Device, shape: Shape, tokens: int, batch: int) -> list[Cache]:
    """Return a cache with random keys and values for each layer."""
    sides = batch, shape.width // HEAD, tokens, HEAD

    def draw() -> Tensor:
        return device.uniform(*sides, dtype=shape.dtype)

    return [Cache(draw(), draw()) for _ in range(shape.layers)]


def through(model: nn.ModuleList, numbers: Tensor, caches: Sequence[Cache | None]) -> Tensor:
    """Send numbers through layers, each with its cache."""
    for layer, cache in zip(model, caches, strict=True):
        numbers = layer(numbers, cache)
    return numbers


class Training:
    """Layers in training: each step begins from the same weights, with an AdamW that is new.

    capturable : whether steps are to be recorded in a graph
    """

    def __init__(
        self, device: Device, shape: Shape, tokens: int, *, capturable: bool = False
    ) -> None:
        self.device, self.dtype = device, shape.dtype
        self.model = draw_layers(device, shape, "float32")
        self.weights = list(self.model.parameters())
        self.start = [weights.detach().clone() for weights in self.weights]
        self.inputs, self.targets = (device.uniform(1, tokens, shape.width) for _ in "it")
        self.optimizer = torch.optim.AdamW(
            self.weights, RATE, weight_decay=DECAY, eps=TINY, capturable=capturable
        )

    def begin(self) -> None:
        """Put the weights back, and let the optimizer forget."""
        with torch.no_grad():
            for weights, start in zip(self.weights, self.start, strict=True):
                weights.copy_(start)
            for state in self.optimizer.state.values():
                for moment in state.values():
                    moment.zero_()

    def step(self) -> Tensor:
        """Take a step: forward, backward, AdamW; return the loss, which lies on the device."""
        self.optimizer.zero_grad()
        with autocast(self.device, self.dtype):
            outputs = through(self.model, self.inputs, [None] * len(self.model))
        loss = mse_loss(outputs, self.targets)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it so
        self.optimizer.step()
        return loss.detach()

    def check(self, loss: Tensor) -> Check:
        """Check the loss, every gradient, and every weight after the step."""
        leaves = [exact(start).requires_grad_() for start in self.start]
        outputs, _ = truth(in_layers(leaves), exact(self.inputs), [None] * len(self.model))
        true = (outputs - exact(self.targets)).square().mean()
        slopes = torch.autograd.grad(true, leaves)
        near = NEAR[self.dtype]
        checks = [close(true.detach()[None], loss[None], near, "the loss")]
        for weights, start, slope in zip(self.weights, self.start, slopes, strict=True):
            gradient = torch.zeros_like(start) if weights.grad is None else weights.grad
            checks.append(close(slope, gradient, GRADIENTS * near, "gradients"))
            stepped = updated(exact(start), exact(gradient))
            checks.append(close(stepped, weights, STEP_NEAR, "weights after the step"))
        return tightest(checks)


def skip_unsuited(device: Device, *, wide: bool) -> None:
    """Skip a case whose layers are too wide for a CPU, or too narrow for an accelerator."""
    if wide != device.is_accelerator:
        pytest.skip("wide layers are for accelerators, narrow ones for CPUs")


def prepared(device: Device, shape: Shape, tokens: int, *, capturable: bool = False) -> Training:
    """Return layers in training, where the device has the memory and the precision."""
    device.require(training_bytes(shape.width, shape.layers, tokens))
    with needed(f"training in {shape.dtype}"), autocast(device, shape.dtype):
        linear(device.uniform(HEAD, HEAD), device.uniform(HEAD, HEAD))
    return Training(device, shape, tokens, capturable=capturable)


def autocast(device: Device, dtype: str) -> torch.autocast:
    """Let products be made in bfloat16 if that is the type; weights are cast once a pass anyway."""
    return torch.autocast(
        device.handle.type, torch.bfloat16, enabled=dtype == "bfloat16", cache_enabled=False
    )


def parameters(width: int) -> int:
    """Count the weights of a layer."""
    return 12 * width**2 + 2 * width


def training_bytes(width: int, layers: int, tokens: int) -> float:
    """Return the memory that a training and its check need: weights eightfold, what backward keeps.

    Eight are the weights, those at the start, their gradients, both moments, what AdamW needs in
    between, twice, and their copies in bfloat16 with as much to spare. The check has gradients of
    its own in place of the last three, and keeps two matrices of attention for each head.
    """
    heads = layers * width // HEAD
    return (
        8 * FLOAT32 * layers * parameters(width)
        + 30 * FLOAT32 * layers * tokens * width
        + 2 * FLOAT32 * heads * tokens**2
    )


def training_work(width: int, layers: int, tokens: int) -> Work:
    """Count a step; tokens are the items."""
    return Work(
        flops=3 * layers * (24 * width**2 * tokens + 2 * width * tokens * (tokens + 1)),
        bytes=ADAMW * layers * (12 * width**2 + 2 * width),
        items=tokens,
    )


def inferred(
    model: nn.ModuleList, inputs: Tensor, dtype: str
) -> Callable[[tuple[Tensor, Sequence[Cache]]], Check]:
    """Check what layers make of their inputs, and what they add to the caches of their tokens."""

    def check(result: tuple[Tensor, Sequence[Cache]]) -> Check:
        outputs, caches = result
        true, added = truth(in_layers(list(model.parameters())), exact(inputs), caches)
        seen = [part[:, :, -inputs.shape[1] :] for cache in caches for part in cache]
        near = NEAR[dtype]
        parts = zip([true, *added], [outputs, *seen], strict=True)
        return tightest(close(*part, near, "outputs, keys and values") for part in parts)

    return check


def exact(tensor: Tensor) -> Tensor:
    """Return a tensor in the type that the truth is computed in."""
    return tensor.detach().to(torch.float64 if tensor.device.type == "cpu" else torch.float32)


def in_layers(weights: Sequence[Tensor]) -> list[Sequence[Tensor]]:
    """Return the weights of each layer."""
    return [weights[at : at + WEIGHTS] for at in range(0, len(weights), WEIGHTS)]


def truth(
    layers: Sequence[Sequence[Tensor]], numbers: Tensor, caches: Sequence[Cache | None]
) -> tuple[Tensor, list[Tensor]]:
    """Return what layers make of numbers, and the keys and values of these tokens by layer."""
    added = []
    for weights, cache in zip(layers, caches, strict=True):
        before, mix, merge, between, up, down = (part.to(numbers.dtype) for part in weights)
        mixture = normal(numbers) * before @ mix.t()
        heads = mixture.reshape(*mixture.shape[:2], 3, -1, HEAD)
        queries, keys, values = heads.permute(2, 0, 3, 1, 4)
        added += [keys, values]
        count = range(queries.shape[1])
        mixed = torch.stack([attention(queries, keys, values, cache, at) for at in count], 2)
        numbers = numbers + mixed.flatten(2) @ merge.t()
        hidden = normal(numbers) * between @ up.t()
        numbers = numbers + hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2 @ down.t()
    return numbers, added


def attention(
    queries: Tensor, keys: Tensor, values: Tensor, cache: Cache | None, head: int
) -> Tensor:
    """Return what a head's tokens make of themselves and of those before them in the cache."""
    query, key, value = (part[:, head] for part in (queries, keys, values))
    if cache is not None:
        past = cache.keys.shape[2] - query.shape[1]
        key, value = (
            torch.cat([part[:, head, :past].to(query.dtype), new], 1)
            for part, new in zip(cache, (key, value), strict=True)
        )
    scores = query @ key.transpose(1, 2) / math.sqrt(HEAD)
    later = torch.ones_like(scores[0], dtype=torch.bool).triu(1 + scores.shape[2] - scores.shape[1])
    return torch.softmax(scores.masked_fill(later, -math.inf), -1) @ value


def normal(numbers: Tensor) -> Tensor:
    """Return rows of mean 0 and variance 1."""
    centred = numbers - numbers.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + EPSILON).sqrt()


def updated(start: Tensor, gradient: Tensor) -> Tensor:
    """Return weights after the first step of AdamW, whose moments are the gradient's own."""
    return start * (1 - RATE * DECAY) - RATE * gradient / (gradient.abs() + TINY)


def tightest(checks: Iterable[Check]) -> Check:
    """Return the check whose error is the largest part of its bound."""
    return max(checks, key=lambda check: (not check.passed, check.error / check.bound))


def close(true: Tensor, seen: Tensor, bound: float, what: str) -> Check:
    """Check rows of numbers; the error is that of the worst row, relative to its length.

    A row that is shorter than most is held against the length of most.
    """
    if seen.shape != true.shape:
        return Check(f"{what} of shape {tuple(seen.shape)}", math.inf, bound)
    width = true.shape[-1]
    errors = (seen.detach().to(true) - true).reshape(-1, width).norm(dim=1)
    lengths = true.reshape(-1, width).norm(dim=1)
    typical = lengths.square().mean().sqrt()
    error = (errors / torch.maximum(lengths, typical)).max()
    return Check(f"{what}, row by row", error.item(), bound)
