# SPDX-License-Identifier: MIT
"""What do the ways of data parallelism give and cost?

A sample is a step of training on one batch: forward, loss, backward and the update of the
parameters, until all devices are done. Before it, outside the clocks, the parameters are
set back to where the training begins. The batch lies on the first device; where each device has
a process, every process has its share on its own. Each device takes an equal share of the
batch, as far as that goes: of a batch with fewer samples than devices some get none, and do
not take part.

``by_hand`` needs nothing but copies: shares go to the devices, gradients to the first one, where
they are added up, and the sums go back, so that every device updates parameters of its own.
``data_parallel`` is ``nn.DataParallel``: in every step it copies the parameters anew to all
devices (replicate) and the shares of the batch (scatter), lets a thread each run the network
(parallel_apply) and joins the outputs on the first device (gather), where the loss and the
update are. A sample of these four is the forward pass alone: all of it, or one of them.
``distributed`` is ``DistributedDataParallel``, which adds up the gradients of processes while
the backward pass still runs.

Where there are no two accelerators, the processes run on two halves of the CPU, and what they
are compared with is one half. A message through a pipe tells a process to take ten steps, one after
the other: these are a sample then, and a tenth of the messages' time is in each step.

The small and the medium network keep an accelerator busy for less time than the launches take, so
that nothing can be gained there. What can is shown by the large one, which only accelerators train.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any

import torch
from several import beside_several
from sharing import (
    Group,
    add_up,
    at_work,
    backward,
    in_group,
    in_worker,
    measure_course,
    measure_workers,
    meeting_point,
    rate,
    send,
)
from torch import Tensor, nn
from torch.nn.parallel import gather, parallel_apply, replicate, scatter
from training import SIZES, Training, skip_where_too_large, step

from frobench import Check, Device, Lane, Measure, Work, Worker, cases, close_to, needed, together

BATCHES, MORE = [1, 64, 1024], [16, 256, 4096, 16384, 65536]
LARGE = [64, 1024, 4096]
"""Batches of the large network; a step on the last one is a tenth of a TFLOP."""
PARTS = ["scatter", "replicate", "parallel_apply", "gather", "whole"]


@beside_several
@cases("quick", size=["large"], batch=LARGE)
@cases(size=["medium"], batch=BATCHES[:2])
@cases("rigorous", size=["small", "medium"], batch=BATCHES + MORE)
def bench_one_device(measure: Measure, accelerator: Device, size: str, batch: int) -> None:
    """Take a step on one device."""
    training = Training(accelerator, size, batch)
    measure_course(measure, training, training.step, [training.model])


@cases("quick", size=["large"], batch=LARGE)
@cases(size=["medium"], batch=BATCHES[:2])
@cases("rigorous", size=["small", "medium"], batch=BATCHES + MORE)
def bench_by_hand(measure: Measure, devices: list[Device], size: str, batch: int) -> None:
    """Take a step on several devices: copy shares, gradients and their sums."""
    training = Training(devices[0], size, batch)
    models = [deepcopy(training.model).to(device.handle) for device in devices]
    optimizers = [torch.optim.SGD(model.parameters(), rate(training)) for model in models]
    lanes = [Lane(device) for device in devices[: at_work(batch, len(devices))]]

    def take(inputs: Tensor, targets: Tensor) -> None:
        for optimizer in optimizers:
            optimizer.zero_grad()
        shares = send(devices, inputs, targets)
        for lane, model, share in zip(lanes, models, shares, strict=False):
            with lane:
                backward(model, share, batch)
        add_up(models)
        for optimizer in optimizers:
            optimizer.step()

    measure_course(measure, training, take, models, lanes=lanes, count=len(devices))


@cases("quick", size=["large"], batch=LARGE)
@cases(size=["medium"], batch=BATCHES[:2])
@cases("rigorous", size=["small", "medium"], batch=BATCHES + MORE)
def bench_data_parallel(measure: Measure, devices: list[Device], size: str, batch: int) -> None:
    """Take a step on several devices with nn.DataParallel."""
    handles = with_primitives(devices)
    training = Training(devices[0], size, batch)
    model = nn.DataParallel(training.model, handles)

    def take(inputs: Tensor, targets: Tensor) -> None:
        step(model, training.optimizer, inputs, targets)

    measure_course(measure, training, take, [training.model], count=len(devices))


@beside_several
@cases(size=["large"], batch=LARGE[::2])
@cases("rigorous", size=["small", "medium"], batch=BATCHES + MORE)
def bench_forward(measure: Measure, accelerator: Device, size: str, batch: int) -> None:
    """Run the network forward on one device."""
    training = Training(accelerator, size, batch)
    inputs = training.batch_of(0)[0].to(accelerator.handle)
    measure(
        lambda: training.model(inputs), work=forward_work(size, batch), check=outputs_of(training)
    )


@cases(size=["large"], batch=LARGE[::2], part=PARTS)
@cases("rigorous", size=["small", "medium"], batch=BATCHES + MORE, part=PARTS)
def bench_forward_parts(
    measure: Measure, devices: list[Device], size: str, batch: int, part: str
) -> None:
    """Run the network forward as nn.DataParallel does, the whole of it or a part."""
    handles = with_primitives(devices)[: at_work(batch, len(devices))]
    training = Training(devices[0], size, batch)
    model, inputs = training.model, training.batch_of(0)[0].to(handles[0])
    shares, replicas = scatter(inputs, handles), replicate(model, handles)
    outputs = parallel_apply(replicas, shares)

    def run(replicas: Sequence[nn.Module], shares: Sequence[Tensor]) -> Tensor:
        outputs: Tensor = gather(parallel_apply(replicas, shares), handles[0])
        return outputs

    ways: dict[str, tuple[Callable[[], Any], Callable[[Any], Tensor]]] = {
        "scatter": (lambda: scatter(inputs, handles), lambda made: run(replicas, made)),
        "replicate": (lambda: replicate(model, handles), lambda made: run(made, shares)),
        "parallel_apply": (
            lambda: parallel_apply(replicas, shares),
            lambda made: gather(made, handles[0]),
        ),
        "gather": (lambda: gather(outputs, handles[0]), lambda made: made),
        "whole": (
            lambda: run(replicate(model, handles), scatter(inputs, handles)),
            lambda made: made,
        ),
    }
    body, rest = ways[part]
    right = outputs_of(training)
    applied = part in {"parallel_apply", "whole"}
    work = forward_work(size, batch) if applied else Work(items=batch)
    measure(body, work=work, check=lambda made: right(rest(made)))


@cases(size=["medium"], batch=BATCHES)
@cases(size=["large"], batch=LARGE)
@cases("rigorous", size=["small", "medium"], batch=BATCHES + MORE)
def bench_distributed(measure: Measure, workers: list[Worker], size: str, batch: int) -> None:
    """Take a step in a process on each device, with DistributedDataParallel."""
    skip_where_too_large(size, workers[0].seat.device)
    store = meeting_point(workers)
    with together(workers, in_group, Group(len(workers), store.port), size, batch):
        measure_workers(measure, workers, size, batch)


@cases(size=["medium"], batch=BATCHES)
@cases(size=["large"], batch=LARGE)
@cases("rigorous", size=["small", "medium"], batch=BATCHES + MORE)
def bench_one_process(measure: Measure, workers: list[Worker], size: str, batch: int) -> None:
    """Take a step in the process on the first device alone."""
    skip_where_too_large(size, workers[0].seat.device)
    workers[0].set_up(in_worker, size, batch)
    measure_workers(measure, workers[:1], size, batch)


def with_primitives(devices: Sequence[Device]) -> list[torch.device]:
    """Return the devices for `nn.DataParallel`, where torch is built with what it needs."""
    handles = [device.handle for device in devices]
    with needed("primitives for nn.DataParallel"):
        module = nn.DataParallel(nn.Linear(1, 1, device=handles[0]), handles)
        module(torch.ones(len(handles), 1, device=handles[0]))
    return handles


def forward_work(size: str, batch: int) -> Work:
    """Count the products of a forward pass."""
    return Work(flops=sum(2 * batch * a * b for a, b in pairwise(SIZES[size])), items=batch)


def outputs_of(training: Training) -> Callable[[Tensor], Check]:
    """Check what a network makes of the first batch."""
    model = deepcopy(training.model).cpu().double()
    with torch.no_grad():
        return close_to(model(training.batch_of(0)[0].double()), 1e-4, "the outputs")
