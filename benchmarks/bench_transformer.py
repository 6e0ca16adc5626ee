# SPDX-License-Identifier: MIT
"""What does the machine give to the work that GPUs are bought for, the layers of a transformer?

A sample is the time that a user waits for a training step, a prefill or a token of decoding. The
layers are decoders from ``torch.nn`` with ``scaled_dot_product_attention``, heads of 128 numbers
and random weights. Language models of about 1 billion parameters have layers of width 2,048, those
of about 7 billion of width 4,096; four of the one have as many parameters as one of the other, 201
million. Embeddings and the choice of the next word are left out, since a model has them once.

A training step is forward, backward and AdamW, on 1,024 tokens. Products are made in bfloat16
(autocast); weights, gradients and the optimizer's moments are kept in float32. A prefill sends
2,048 tokens through layers whose weights are in bfloat16, and fills the cache of keys and values.
Decoding sends one token of each sequence through them, against a cache of 2,048. A graph that is
replayed was recorded before the clock starts. The weights are put back before each training step,
outside the clock. A CPU, which few use for models of this size, has one layer of width 256, 128
tokens, and float32.

Operations are those of the products, and of the attention no more than the causal half that counts;
backward counts twice as much as forward. Bytes are those that must be moved at least: in training
each weight with its gradient and both its moments read and written once; else the weights and the
cache once, the inputs and the outputs. Tokens are the items.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from decoders import (
    BFLOAT16,
    FLOAT32,
    Cache,
    Shape,
    draw_caches,
    draw_layers,
    inferred,
    parameters,
    prepared,
    through,
    training_work,
)
from torch import Tensor

from frobench import Check, Device, Measure, Work, capture, cases, cpu_twins

pytestmark = cpu_twins()

TRAINED, CACHED = 1024, 2048
"""Tokens of a training step; tokens of a prefill, and of the cache that decoding attends to."""
NARROW, FEW = 256, 128
"""Width of the layer that CPUs have, and its tokens."""


@cases("quick", width=[4096], layers=[1], dtype=["bfloat16"])
@cases(width=[2048], layers=[4], dtype=["bfloat16"])
@cases("rigorous", width=[2048, 4096], layers=[1, 4], dtype=["bfloat16"])
def bench_train(measure: Measure, accelerator: Device, width: int, layers: int, dtype: str) -> None:
    """Train wide layers on 1,024 tokens: forward, backward and AdamW."""
    training = prepared(accelerator, Shape(width, layers, dtype), TRAINED)
    measure(
        training.step,
        before=training.begin,
        work=training_work(width, layers, TRAINED),
        check=training.check,
    )


@cases(width=[4096], layers=[1], dtype=["bfloat16"])
@cases(width=[2048], layers=[4], dtype=["bfloat16"])
@cases("rigorous", width=[2048, 4096], layers=[1, 4], dtype=["bfloat16"])
def bench_train_graph(
    measure: Measure, accelerator: Device, width: int, layers: int, dtype: str
) -> None:
    """Replay the recorded training step of wide layers on 1,024 tokens."""
    training = prepared(accelerator, Shape(width, layers, dtype), TRAINED, capturable=True)
    measure(
        capture(accelerator, training.step),
        before=training.begin,
        work=training_work(width, layers, TRAINED),
        check=training.check,
    )


@cases("quick", width=[NARROW], layers=[1], dtype=["float32"])
def bench_train_narrow(
    measure: Measure, device: Device, width: int, layers: int, dtype: str
) -> None:
    """Train a narrow layer on 128 tokens: forward, backward and AdamW."""
    training = prepared(device, Shape(width, layers, dtype), FEW)
    measure(
        training.step,
        before=training.begin,
        work=training_work(width, layers, FEW),
        check=training.check,
    )


@cases("quick", width=[4096], layers=[1], dtype=["bfloat16"])
@cases(width=[2048], layers=[4], dtype=["bfloat16"])
@cases("rigorous", width=[2048, 4096], layers=[1, 4], dtype=["bfloat16"])
def bench_prefill(
    measure: Measure, accelerator: Device, width: int, layers: int, dtype: str
) -> None:
    """Send 2,048 tokens through wide layers, filling the cache."""
    body, check = inference(accelerator, Shape(width, layers, dtype), CACHED, CACHED, 1)
    measure(body, work=prefill_work(width, layers, CACHED, BFLOAT16), check=check)


@cases(width=[4096], layers=[1], dtype=["bfloat16"])
@cases(width=[2048], layers=[4], dtype=["bfloat16"])
@cases("rigorous", width=[2048, 4096], layers=[1, 4], dtype=["bfloat16"])
def bench_prefill_graph(
    measure: Measure, accelerator: Device, width: int, layers: int, dtype: str
) -> None:
    """Replay the recorded way of 2,048 tokens through wide layers."""
    body, check = inference(accelerator, Shape(width, layers, dtype), CACHED, CACHED, 1)
    measure(
        capture(accelerator, body), work=prefill_work(width, layers, CACHED, BFLOAT16), check=check
    )


@cases("quick", width=[NARROW], layers=[1], dtype=["float32"])
def bench_prefill_narrow(
    measure: Measure, device: Device, width: int, layers: int, dtype: str
) -> None:
    """Send 128 tokens through a narrow layer, filling the cache."""
    body, check = inference(device, Shape(width, layers, dtype), FEW, FEW, 1)
    measure(body, work=prefill_work(width, layers, FEW, FLOAT32), check=check)


@cases("quick", width=[4096], layers=[1], batch=[1], dtype=["bfloat16"])
@cases(width=[4096], layers=[1], batch=[1, 32], dtype=["bfloat16"])
@cases(width=[2048], layers=[4], batch=[1, 32], dtype=["bfloat16"])
@cases("rigorous", width=[2048, 4096], layers=[1, 4], batch=[1, 32], dtype=["bfloat16"])
def bench_decode(  # noqa: PLR0913, PLR0917 - a parameter each
    measure: Measure, accelerator: Device, width: int, layers: int, batch: int, dtype: str
) -> None:
    """Send one token of each sequence through wide layers, against a cache of 2,048."""
    body, check = inference(accelerator, Shape(width, layers, dtype), 1, CACHED, batch)
    measure(body, work=decode_work(width, layers, CACHED, batch, BFLOAT16), check=check)


@cases("quick", width=[4096], layers=[1], batch=[1], dtype=["bfloat16"])
@cases(width=[4096], layers=[1], batch=[1, 32], dtype=["bfloat16"])
@cases(width=[2048], layers=[4], batch=[1, 32], dtype=["bfloat16"])
@cases("rigorous", width=[2048, 4096], layers=[1, 4], batch=[1, 32], dtype=["bfloat16"])
def bench_decode_graph(  # noqa: PLR0913, PLR0917 - a parameter each
    measure: Measure, accelerator: Device, width: int, layers: int, batch: int, dtype: str
) -> None:
    """Replay the recorded way of one token of each sequence through wide layers."""
    body, check = inference(accelerator, Shape(width, layers, dtype), 1, CACHED, batch)
    measure(
        capture(accelerator, body),
        work=decode_work(width, layers, CACHED, batch, BFLOAT16),
        check=check,
    )


@cases("quick", width=[NARROW], layers=[1], batch=[1], dtype=["float32"])
@cases(width=[NARROW], layers=[1], batch=[32], dtype=["float32"])
def bench_decode_narrow(  # noqa: PLR0913, PLR0917 - a parameter each
    measure: Measure, device: Device, width: int, layers: int, batch: int, dtype: str
) -> None:
    """Send one token of each sequence through a narrow layer, against a cache of 128."""
    body, check = inference(device, Shape(width, layers, dtype), 1, FEW, batch)
    measure(body, work=decode_work(width, layers, FEW, batch, FLOAT32), check=check)


def inference(
    device: Device, shape: Shape, tokens: int, cached: int, batch: int
) -> tuple[Callable[[], Any], Callable[[Any], Check]]:
    """Return what sends the last tokens of each sequence through layers, and its check."""
    device.require(inference_bytes(shape.width, shape.layers, tokens, cached, batch))
    model, caches = (
        draw_layers(device, shape, shape.dtype),
        draw_caches(device, shape, cached, batch),
    )
    inputs = device.uniform(batch, tokens, shape.width, dtype=shape.dtype)

    @torch.no_grad()
    def body() -> tuple[Tensor, Sequence[Cache]]:
        return through(model, inputs, caches), caches

    return body, inferred(model, inputs, shape.dtype)


def inference_bytes(width: int, layers: int, tokens: int, cached: int, batch: int) -> float:
    """Return the memory that a pass and its check need: all of it, and a layer in float32."""
    return (
        BFLOAT16 * layers * (parameters(width) + 2 * cached * batch * width)
        + FLOAT32 * (parameters(width) + 2 * cached * batch * width)
        + FLOAT32 * batch * tokens * (20 * width + 3 * cached)
    )


def prefill_work(width: int, layers: int, tokens: int, itemsize: int) -> Work:
    """Count a prefill of tokens that fill the cache; tokens are the items."""
    return Work(
        flops=layers * (24 * width**2 * tokens + 2 * width * tokens * (tokens + 1)),
        bytes=itemsize
        * (layers * (12 * width**2 + 2 * width + 2 * tokens * width) + 2 * tokens * width),
        items=tokens,
    )


def decode_work(width: int, layers: int, cached: int, batch: int, itemsize: int) -> Work:
    """Count the pass of one token of each sequence; tokens are the items."""
    return Work(
        flops=layers * batch * (24 * width**2 + 4 * width * cached),
        bytes=itemsize
        * (layers * (12 * width**2 + 2 * width + 2 * cached * batch * width) + 2 * batch * width),
        items=batch,
    )
