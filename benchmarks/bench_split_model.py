# SPDX-License-Identifier: MIT
"""Part of the model on the CPU, part on the GPU: what does the boundary cost?

A model looks words up in a table, its embedding, and sends them through layers of tanh. A
sample is a forward pass from the words' numbers, in pageable memory of the host, to the scores,
which are wanted there; or a step, which takes all gradients and leaves each where its
parameter is. Everything lies on one device, or the table on the CPU and the layers on the
accelerator, so that the words themselves have to move across: 4 bytes for each number of each
word, where 8 bytes for each word would do. The parts are also measured alone, each from
where its input is.

A larger model is a pipeline: as many stages as there are devices, each on its own, with the
batch in one or several micro-batches, all launched by one thread. A sample begins with the
batch on the first device and ends with all of it through the last stage. While the first
micro-batch fills the pipeline and the last one empties it, devices have nothing to do: of p
equal stages and m micro-batches, in theory, (p - 1) / (m + p - 1) of the time. To this bubble
come copies between stages and launches. It is measured against one device that takes the same
micro-batches through the whole model, so that it does not count what small batches cost
anywhere. The time that stages share is what the pipeline takes longer with its stages strictly in
turn; a batch in one piece is a further control, whose stages share none. Stages are busy while
they compute: that is measured in turn, with all of it queued ahead, so that it holds no launches.
Last, independent models run at once, one on each device, or one after the other on the first.
"""

from collections.abc import Sequence

import pytest
import torch
from layers import all_outputs, exact, outputs, slopes
from several import beside_several
from torch import Tensor
from torch.nn.functional import embedding

from frobench import Device, Lane, Measure, Work, cases, close_to, cpu_twins

pytestmark = cpu_twins(bench_forward={})

VOCABULARY, WIDTH, CLASSES = 4096, 512, 16
HIDDEN = 3
"""Layers between the embedding and the last one, which makes the scores."""
FORWARD = 2 * WIDTH * (HIDDEN * WIDTH + CLASSES)
"""Floating-point operations of the layers for a word."""
DEEP = 24
"""Layers of a pipeline: they divide by 2, 3, 4, 6, 8 and 12 devices."""
ROWS = 16
"""Rows of a pipeline's batch, in widths of its layers."""
TOKENS = [64, 256, 16_384]


@cases("quick", tokens=TOKENS[:2])
@cases(tokens=TOKENS)
def bench_forward(measure: Measure, device: Device, tokens: int) -> None:
    """Run a model forward, all of it on one device."""
    measure_forward(measure, tokens, device, device)


@cases("quick", tokens=TOKENS[:2])
@cases(tokens=TOKENS)
def bench_split_forward(measure: Measure, accelerator: Device, tokens: int) -> None:
    """Run a model forward, its embedding on the CPU and its layers on the accelerator."""
    measure_forward(measure, tokens, Device("cpu"), accelerator)


@cases(tokens=TOKENS)
def bench_embedding(measure: Measure, device: Device, tokens: int) -> None:
    """Look words up in the table."""
    words, table, _ = draw(tokens, device, device)
    measure(
        lambda: look_up(words, table),
        work=Work(bytes=2 * 4 * WIDTH * tokens, items=tokens),
        check=close_to(exact(table)[words], 0.0, "words"),
    )


@cases(tokens=TOKENS)
def bench_boundary(measure: Measure, accelerator: Device, tokens: int) -> None:
    """Move words that were looked up on the CPU to the accelerator."""
    words, table, _ = draw(tokens, Device("cpu"), accelerator)
    found = look_up(words, table)
    measure(
        lambda: found.to(accelerator.handle),
        work=Work(bytes=found.nbytes, items=tokens),
        check=close_to(exact(table)[words], 0.0, "words"),
    )


@cases(tokens=TOKENS)
def bench_layers(measure: Measure, device: Device, tokens: int) -> None:
    """Run the layers on words that were looked up and lie on the device."""
    words, table, layers = draw(tokens, device, device)
    found = look_up(words, table)
    measure(
        lambda: [through(found, layers).cpu()],
        work=Work(flops=FORWARD * tokens, items=tokens),
        check=outputs(found, layers),
    )


@cases(tokens=TOKENS[:2])
@cases("rigorous", tokens=TOKENS)
def bench_step(measure: Measure, device: Device, tokens: int) -> None:
    """Run a model forward and backward, all of it on one device."""
    measure_step(measure, tokens, device, device)


@cases(tokens=TOKENS[:2])
@cases("rigorous", tokens=TOKENS)
def bench_split_step(measure: Measure, accelerator: Device, tokens: int) -> None:
    """Run a model forward and backward, its embedding on the CPU, its layers elsewhere."""
    measure_step(measure, tokens, Device("cpu"), accelerator)


@cases("quick", n=[512], micro=[1, 8])
@cases(n=[64, 1024], micro=[1, 2, 4, 8])
@cases("rigorous", n=[64, 1024, 2048], micro=[1, 2, 4, 8, 16, 32])
def bench_pipeline(measure: Measure, devices: list[Device], n: int, micro: int) -> None:
    """Send micro-batches through as many stages as there are devices, one on each."""
    if DEEP % len(devices):
        pytest.skip(f"{DEEP} layers do not divide into {len(devices)} equal stages")
    lanes, share = [Lane(device) for device in devices], DEEP // len(devices)
    stages = [deep(device, n, share) for device in devices]
    batch = devices[0].uniform(ROWS * n, n)
    measure(
        lambda: flow(batch.chunk(micro), lanes, stages),
        work=Work(flops=2 * DEEP * ROWS * n**3, items=micro),
        check=outputs(batch, [layer for stage in stages for layer in stage]),
        lanes=lanes,
    )


@beside_several
@cases("quick", n=[512], micro=[1, 8])
@cases(n=[64, 1024], micro=[1, 2, 4, 8])
@cases("rigorous", n=[64, 1024, 2048], micro=[1, 2, 4, 8, 16, 32])
def bench_one_device(measure: Measure, accelerator: Device, n: int, micro: int) -> None:
    """Send micro-batches through all stages on a single device."""
    lane, layers = Lane(accelerator), deep(accelerator, n, DEEP)
    batch = accelerator.uniform(ROWS * n, n)
    measure(
        lambda: flow(batch.chunk(micro), [lane], [layers]),
        work=Work(flops=2 * DEEP * ROWS * n**3, items=micro),
        check=outputs(batch, layers),
        lanes=[lane],
    )


@cases(n=[64, 1024])
def bench_tasks_at_once(measure: Measure, devices: list[Device], n: int) -> None:
    """Run independent models at once, one on each device."""
    lanes = [Lane(device) for device in devices]
    tasks = [task(device, n) for device in devices]
    measure(
        lambda: [run(*both) for both in zip(lanes, tasks, strict=True)],
        work=Work(flops=len(tasks) * 2 * DEEP * ROWS * n**3, items=len(tasks)),
        check=all_outputs(tasks),
        lanes=lanes,
    )


@beside_several
@cases(n=[64, 1024])
def bench_tasks_in_sequence(measure: Measure, accelerator: Device, n: int) -> None:
    """Run two independent models, one after the other on a single device."""
    tasks = [task(accelerator, n) for _ in "12"]
    measure(
        lambda: [through(batch, layers) for batch, layers in tasks],
        work=Work(flops=len(tasks) * 2 * DEEP * ROWS * n**3, items=len(tasks)),
        check=all_outputs(tasks),
    )


def measure_forward(measure: Measure, tokens: int, first: Device, second: Device) -> None:
    """Measure a forward pass with the embedding on one device and the layers on another."""
    words, table, layers = draw(tokens, first, second)
    measure(
        lambda: [through(look_up(words, table).to(second.handle), layers).cpu()],
        work=Work(flops=FORWARD * tokens, items=tokens),
        check=outputs(exact(table)[words], layers),
    )


def measure_step(measure: Measure, tokens: int, first: Device, second: Device) -> None:
    """Measure both passes; the loss is the mean of the squared scores."""
    words, table, layers = draw(tokens, first, second)
    parameters = [value.requires_grad_() for value in (table, *layers)]

    def body() -> Sequence[Tensor]:
        seen = through(look_up(words, table).to(second.handle), layers)
        return torch.autograd.grad(seen.square().mean(), parameters)

    measure(
        body, work=Work(flops=3 * FORWARD * tokens, items=tokens), check=slopes(words, parameters)
    )


def draw(tokens: int, first: Device, second: Device) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Return words on the host, a table for them on one device, and layers on another."""
    words = torch.randint(VOCABULARY, (tokens,), generator=torch.Generator().manual_seed(1))
    widths = [WIDTH] * HIDDEN + [CLASSES]
    return words, first.uniform(VOCABULARY, WIDTH), [layer(second, WIDTH, to) for to in widths]


def layer(device: Device, inputs: int, outputs: int) -> Tensor:
    """Return weights under which the numbers keep about their size."""
    return device.uniform(inputs, outputs).mul_((3 / inputs) ** 0.5)


def deep(device: Device, n: int, layers: int) -> list[Tensor]:
    """Return layers of n x n weights."""
    return [layer(device, n, n) for _ in range(layers)]


def task(device: Device, n: int) -> tuple[Tensor, list[Tensor]]:
    """Return a batch and a model for it."""
    return device.uniform(ROWS * n, n), deep(device, n, DEEP)


def look_up(words: Tensor, table: Tensor) -> Tensor:
    """Return what the table has of words, on its device."""
    return embedding(words.to(table.device), table)


def through(numbers: Tensor, layers: Sequence[Tensor]) -> Tensor:
    """Send numbers through layers."""
    for weights in layers:
        numbers = (numbers @ weights).tanh()
    return numbers


def flow(
    batches: Sequence[Tensor], lanes: Sequence[Lane], stages: Sequence[Sequence[Tensor]]
) -> list[Tensor]:
    """Send micro-batches through stages, each on its lane."""
    results = []
    for batch in batches:
        numbers = batch
        for lane, layers in zip(lanes, stages, strict=True):
            # Outside the lane: a device that waits for its input does not work yet.
            arrived = numbers.to(lane.device.handle, non_blocking=True)
            numbers = run(lane, (arrived, layers))
        results.append(numbers)
    return results


def run(lane: Lane, model: tuple[Tensor, Sequence[Tensor]]) -> Tensor:
    """Send a batch through a model on a lane."""
    with lane:
        return through(*model)
