# SPDX-License-Identifier: MIT
"""From which length of the context does attention outweigh the products of a transformer's layer?

A sample is the time that a user waits for the attention of one layer, or for the products of this
layer with its weights. Both are measured alone, so that their times can be compared by length.

In a prefill each token of a prompt attends to itself and to those before it
(``scaled_dot_product_attention``, causal). In decoding one token attends to a cache. The products
are those of `bench_transformer`: three linear maps of the layer's width for queries, keys and
values, one for the output of the attention, and two to four times the width and back. A layer is
4,096 wide and computes in bfloat16, as in language models of about 7 billion parameters. A layer
for CPUs is 256 wide, in float32.

Operations of the attention are those of the causal half. Bytes are queries, keys, values and
outputs, each moved once; of the products the weights, the inputs and the outputs. Tokens that
attend, or are multiplied, are the items.
"""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from decoders import BFLOAT16, FLOAT32, HEAD, NEAR, Shape, close, draw_layers, exact, skip_unsuited
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

from frobench import Check, Device, Measure, Work, cases, cpu_twins, needed

pytestmark = cpu_twins()

NARROW = 256
"""Width of the layer that CPUs have."""
ROWS = 32
"""Results that are checked, drawn at random."""


@cases("quick", tokens=[2048, 8192], width=[4096], dtype=["bfloat16"])
@cases(tokens=[2048, 8192, 32_768], width=[4096], dtype=["bfloat16"])
@cases(tokens=[512, 2048], width=[NARROW], dtype=["float32"])
@cases("rigorous", tokens=[8192], width=[NARROW], dtype=["float32"])
def bench_prefill(measure: Measure, device: Device, tokens: int, width: int, dtype: str) -> None:
    """Attend from each token of a prompt to itself and those before it."""
    queries, keys, values = draw(device, tokens, tokens, width, dtype)
    body = partial(scaled_dot_product_attention, queries, keys, values, is_causal=True)
    skip_without_memory(device, body)
    measure(
        body,
        work=attention_work(width, tokens * (tokens + 1) // 2, queries, keys),
        check=attended(queries, keys, values, NEAR[dtype]),
    )


@cases("quick", cached=[2048, 32_768], width=[4096], dtype=["bfloat16"])
@cases(cached=[2048, 8192, 32_768, 131_072], width=[4096], dtype=["bfloat16"])
@cases(cached=[2048, 8192, 32_768, 131_072], width=[NARROW], dtype=["float32"])
def bench_decode(measure: Measure, device: Device, cached: int, width: int, dtype: str) -> None:
    """Attend from one token to a cache."""
    queries, keys, values = draw(device, 1, cached, width, dtype)
    measure(
        partial(scaled_dot_product_attention, queries, keys, values),
        work=attention_work(width, cached, queries, keys),
        check=attended(queries, keys, values, NEAR[dtype]),
    )


@cases("quick", tokens=[1, 2048, 8192], width=[4096], dtype=["bfloat16"])
@cases(tokens=[1, 2048, 8192, 32_768], width=[4096], dtype=["bfloat16"])
@cases(tokens=[1, 512, 2048], width=[NARROW], dtype=["float32"])
@cases("rigorous", tokens=[8192], width=[NARROW], dtype=["float32"])
def bench_products(measure: Measure, device: Device, tokens: int, width: int, dtype: str) -> None:
    """Multiply tokens by the weights of a layer."""
    skip_unsuited(device, wide=width > NARROW)
    device.require(FLOAT32 * (2 * 12 * width**2 + 10 * tokens * width))
    layer = draw_layers(device, Shape(width, 1, dtype), dtype)
    _, mix, merge, _, up, down = (weights.detach() for weights in layer.parameters())
    numbers = device.uniform(tokens, width, dtype=dtype)

    def body() -> Tensor:
        mixed = linear(numbers, mix)[:, :width]
        return linear(linear(linear(mixed, merge), up), down)

    def check(outputs: Tensor) -> Check:
        rows = drawn(tokens)
        true = exact(numbers[rows])
        for weights in (mix[:width], merge, up, down):
            true = true @ exact(weights).t()
        return close(true, outputs[rows], NEAR[dtype], "products")

    moved = numbers.itemsize * (12 * width**2 + 2 * tokens * width)
    measure(body, work=Work(flops=24 * width**2 * tokens, bytes=moved, items=tokens), check=check)


def draw(
    device: Device, attending: int, tokens: int, width: int, dtype: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries of some tokens, and keys and values of all, in heads."""
    skip_unsuited(device, wide=width > NARROW)
    device.require((2 * FLOAT32 + 2 * BFLOAT16) * (attending + tokens) * width)
    with needed(f"attention in {dtype}"):
        few = device.uniform(1, 1, 2, HEAD, dtype=dtype)
        scaled_dot_product_attention(few, few, few, is_causal=True)
    queries, keys, values = (
        device.uniform(1, width // HEAD, count, HEAD, dtype=dtype)
        for count in (attending, tokens, tokens)
    )
    return queries, keys, values


def skip_without_memory(device: Device, body: Callable[[], Tensor]) -> None:
    """Skip the case where attention keeps a score for each pair of tokens, and they do not fit."""
    if device.is_accelerator:
        try:
            body()
        except torch.OutOfMemoryError as error:
            pytest.skip(f"attention keeps all scores here, for which the memory is full: {error}")


def attention_work(width: int, pairs: int, queries: Tensor, keys: Tensor) -> Work:
    """Count the attention of pairs of tokens; the tokens that attend are the items."""
    moved = 2 * (queries.nbytes + keys.nbytes)
    return Work(flops=4 * width * pairs, bytes=moved, items=queries.shape[2])


def attended(
    queries: Tensor, keys: Tensor, values: Tensor, near: float
) -> Callable[[Tensor], Check]:
    """Check what some of the last tokens make of themselves and of those before them."""

    def check(outputs: Tensor) -> Check:
        if outputs.shape != queries.shape:
            return Check(f"outputs of shape {tuple(outputs.shape)}", math.inf, near)
        heads, attending = queries.shape[1:3]
        past = keys.shape[2] - attending
        true, seen = [], []
        for head, row in {*zip(drawn(heads), drawn(attending), strict=True)}:
            query, until = queries[0, head, row : row + 1], past + row + 1
            scores = exact(query) @ exact(keys[0, head, :until]).t() / math.sqrt(HEAD)
            true.append(torch.softmax(scores, 1) @ exact(values[0, head, :until]))
            seen.append(outputs[0, head, row : row + 1])
        return close(torch.cat(true), torch.cat(seen), near, "attention")

    return check


def drawn(below: int) -> list[int]:
    """Draw numbers that no body can foresee."""
    chance = torch.Generator()
    chance.seed()
    rows: list[int] = torch.randint(below, (ROWS,), generator=chance).tolist()
    return rows
