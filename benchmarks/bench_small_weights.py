# SPDX-License-Identifier: MIT
"""What do weights of eight or four bits gain when a transformer decodes, and what do they lose?

A sample is the time that a user waits for one token to pass one layer of `bench_transformer`,
against a cache of 2,048 tokens. A graph that is replayed was recorded before the clock starts.
Decoding is limited by the memory, so weights of half the size should take half the time.

Only the weights of the four linear maps are small. int8 weights share a scale in each row, int4
weights in each 128 numbers of a row; both are widened inside the product. Of float8_e4m3fn weights
a matrix has one scale, and the numbers that they are multiplied by are rounded to the same type
first, as part of the sample. The products of int8 and int4 weights are torch's own kernels without
a public name (``torch._weight_int8pack_mm`` and ``torch._weight_int4pack_mm``), those of
float8_e4m3fn are ``torch.nn.functional.scaled_mm``. Where torch has no such kernel for a device,
the case is left out with that reason.

The check compares the outputs with those of the weights before they were rounded, so its error is
the loss: in float64 on a CPU, in float32 on an accelerator. It also compares them with those of the
rounded weights, and the case has failed unless the outputs show the rounding. Bytes are the
weights with their scales, the cache, the inputs and the outputs, each moved once.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from decoders import (
    FLOAT32,
    Cache,
    Shape,
    close,
    draw_caches,
    draw_layers,
    exact,
    parameters,
    skip_unsuited,
    through,
    truth,
)
from torch import Tensor, nn
from torch.nn.functional import ScalingType, linear, scaled_mm

from frobench import Check, Device, Measure, Work, capture, cases, cpu_twins, needed

pytestmark = cpu_twins()

NARROW = 1024
"""Width of the layer that CPUs have."""
CACHED = 2048
"""Tokens of the cache."""
GROUP = 128
"""Numbers of a row that share a scale, if they have four bits."""
LINEAR = {1: "mix", 2: "merge", 4: "up", 5: "down"}
"""The linear maps of a layer, by the place of their weights among its parameters."""
NEAR = {"bfloat16": 0.05, "int8": 0.05, "int4": 0.05, "float8_e4m3fn": 0.15}
"""Errors relative to the length of a row, at most, beside weights that are rounded."""
LOST = {"bfloat16": 0.05, "int8": 0.05, "int4": 0.3, "float8_e4m3fn": 0.2}
"""The same beside weights that are not."""


@cases("quick", width=[NARROW], weights=["bfloat16", "int8"], dtype=["bfloat16"])
@cases(width=[NARROW, 4096], weights=["bfloat16", "int8", "int4"], dtype=["bfloat16"])
@cases(width=[4096], weights=["float8_e4m3fn"], dtype=["bfloat16"])
@cases("rigorous", width=[NARROW], weights=["float8_e4m3fn"], dtype=["bfloat16"])
def bench_decode(measure: Measure, device: Device, width: int, weights: str, dtype: str) -> None:
    """Send one token through a layer whose weights are small."""
    body, work, check = decoding(device, width, weights, dtype)
    measure(body, work=work, check=check)


@cases("quick", width=[4096], weights=["bfloat16", "int8"], dtype=["bfloat16"])
@cases(width=[4096], weights=["int4", "float8_e4m3fn"], dtype=["bfloat16"])
def bench_decode_graph(
    measure: Measure, accelerator: Device, width: int, weights: str, dtype: str
) -> None:
    """Replay the recorded way of one token through a layer whose weights are small."""
    body, work, check = decoding(accelerator, width, weights, dtype)
    measure(capture(accelerator, body), work=work, check=check)


class Small(NamedTuple):
    """Weights that are kept in few bits.

    kept : the tensors of which a product reads every byte
    multiply : multiplies numbers by them
    rounded : the weights that they stand for
    """

    kept: Sequence[Tensor]
    multiply: Callable[..., Tensor]
    rounded: Tensor


class SmallLinear(nn.Module):
    """A linear map with small weights."""

    def __init__(self, small: Small) -> None:
        super().__init__()
        self.small = small

    def forward(self, numbers: Tensor) -> Tensor:
        """Multiply (..., inputs) by the weights."""
        kept, multiply, _ = self.small
        return multiply(numbers.flatten(0, -2), *kept).view(*numbers.shape[:-1], -1)


def decoding(
    device: Device, width: int, weights: str, dtype: str
) -> tuple[Callable[[], Tensor], Work, Callable[[Tensor], Check]]:
    """Return what sends a token through a layer, its work and its check."""
    skip_unsuited(device, wide=width > NARROW)
    device.require(4 * FLOAT32 * (parameters(width) + 2 * CACHED * width))
    with needed(f"product of {weights} weights"):
        few = device.uniform(256, 256)
        small = WAYS[weights](few, dtype)
        small.multiply(few[:1].to(getattr(torch, dtype)), *small.kept).cpu()
    model = draw_layers(device, Shape(width, 1, dtype), "float32")
    original = [part.detach() for part in model.parameters()]
    rounded, moved = shrink(model[0], original, weights, dtype)
    caches = draw_caches(device, Shape(width, 1, dtype), CACHED, 1)
    inputs = device.uniform(1, 1, width, dtype=dtype)
    moved += sum(part.nbytes for part in caches[0]) + 2 * inputs.nbytes

    @torch.no_grad()
    def body() -> Tensor:
        return through(model, inputs, caches)

    work = Work(flops=24 * width**2 + 4 * width * CACHED, bytes=moved, items=1)
    return body, work, lost(original, rounded, (inputs, caches), weights, dtype)


def shrink(
    layer: nn.Module, original: Sequence[Tensor], weights: str, dtype: str
) -> tuple[list[Tensor], int]:
    """Round the weights of a layer; return all its weights as they then are, and their bytes."""
    layer.to(getattr(torch, dtype))
    rounded = [part.detach() for part in layer.parameters()]
    moved = sum(part.nbytes for part in rounded if part.dim() == 1)
    for place, name in LINEAR.items():
        small = WAYS[weights](original[place], dtype)
        setattr(layer, name, SmallLinear(small))
        rounded[place] = small.rounded
        moved += sum(part.nbytes for part in small.kept)
    return rounded, moved


def as_they_are(weights: Tensor, dtype: str) -> Small:
    """Keep weights in the type that products are made in."""
    kept = weights.to(getattr(torch, dtype))
    return Small([kept], linear, kept)


def eight_bits(weights: Tensor, dtype: str) -> Small:
    """Keep whole numbers from -127 to 127, and a scale of each row."""
    scales = (weights.abs().amax(1) / 127).to(getattr(torch, dtype))
    whole = (weights / scales[:, None]).round().clamp(-127, 127)
    multiply = torch._weight_int8pack_mm  # noqa: SLF001 - has no public name
    return Small([whole.to(torch.int8), scales], multiply, whole * scales[:, None])


def four_bits(weights: Tensor, dtype: str) -> Small:
    """Keep whole numbers from -8 to 7, two in a byte, and a scale of each group of a row."""
    groups = weights.view(len(weights), -1, GROUP)
    scales = (groups.abs().amax(2, keepdim=True) / 7).to(getattr(torch, dtype))
    whole = (groups / scales).round().clamp(-8, 7)
    codes = (whole.flatten(1) + 8).to(torch.int32)
    if weights.device.type == "cpu":
        packed = torch._convert_weight_to_int4pack_for_cpu(codes, 1)  # noqa: SLF001 - as above
        product = torch._weight_int4pack_mm_for_cpu  # noqa: SLF001
    else:
        pairs = (codes[:, ::2] << 4 | codes[:, 1::2]).to(torch.uint8)
        packed = torch._convert_weight_to_int4pack(pairs, 8)  # noqa: SLF001
        product = torch._weight_int4pack_mm  # noqa: SLF001
    scales_and_zeros = torch.cat([scales, torch.zeros_like(scales)], 2).transpose(0, 1).contiguous()

    def multiply(numbers: Tensor, packed: Tensor, scales: Tensor) -> Tensor:
        return product(numbers, packed, GROUP, scales)

    return Small([packed, scales_and_zeros], multiply, (whole * scales).flatten(1))


def eight_bit_floats(weights: Tensor, _dtype: str) -> Small:
    """Keep floats of eight bits, and a scale of all."""
    kind = Device(str(weights.device)).uniform(1, dtype="float8_e4m3fn").dtype
    largest = torch.finfo(kind).max

    def rounded(numbers: Tensor) -> tuple[Tensor, Tensor]:
        scale = numbers.abs().amax().float() / largest
        return (numbers / scale).to(kind), scale

    def multiply(numbers: Tensor, kept: Tensor, scale: Tensor) -> Tensor:
        few, its = rounded(numbers)
        one = ScalingType.TensorWise
        return scaled_mm(few, kept.t(), its, one, scale, one, output_dtype=numbers.dtype)

    kept, scale = rounded(weights)
    return Small([kept, scale], multiply, kept.float() * scale)


WAYS: dict[str, Callable[[Tensor, str], Small]] = {
    "bfloat16": as_they_are,
    "int8": eight_bits,
    "int4": four_bits,
    "float8_e4m3fn": eight_bit_floats,
}


def lost(
    original: Sequence[Tensor],
    rounded: Sequence[Tensor],
    given: tuple[Tensor, Sequence[Cache]],
    weights: str,
    dtype: str,
) -> Callable[[Tensor], Check]:
    """Check outputs beside those of the original weights, unless they are not of the rounded ones.

    The difference that rounding makes is far smaller than the outputs, and hardly larger than the
    rounding of everything else, which is independent of it: so what the outputs show of it is the
    part of their own difference that lies along it.
    """

    def check(outputs: Tensor) -> Check:
        inputs, caches = given
        plain, small = (truth([each], exact(inputs), caches)[0] for each in (original, rounded))
        right = close(small, outputs, NEAR[weights], "outputs, with rounded weights")
        difference = small - plain
        along = ((exact(outputs) - plain) * difference).sum() / difference.square().sum()
        used = Check("what outputs show of the rounding of weights", abs(1 - along.item()), 0.5)
        needs = [right] if weights == dtype else [right, used]
        loss = close(plain, outputs, LOST[weights], "outputs, with weights that are not rounded")
        return next((need for need in needs if not need.passed), loss)

    return check
