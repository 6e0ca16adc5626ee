# SPDX-License-Identifier: MIT
"""Training on shares of a batch: what devices and processes exchange, and how it is checked."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parameters_to_vector
from training import Batch, Training, flops, step

from frobench import Check, Device, Lane, Measure, Work, Worker, close_to, needed, worst

FURTHER_SAMPLES, FURTHER_STEPS = 8192, 25
"""For its check a training goes on, with so many samples and in so many steps at most."""
TOLERANCE = 1e-3
"""Of a step's change, which is small beside the parameters that it is added to."""
PATIENCE = timedelta(seconds=60)
"""How long processes wait for each other."""
STEPS_PER_MESSAGE = 10
"""A message to a process and back takes as long as a small step: it is shared by so many."""


class Group(NamedTuple):
    """Processes that exchange gradients: how many, and where on this machine they meet."""

    members: int
    port: int


Take = Callable[[Tensor, Tensor], object]
Task = tuple[Callable[[], None], Callable[[object], Check], Callable[[], None]]
"""What is timed, its check, and what comes before each sample."""


def measure_course(  # noqa: PLR0913 - a keyword for each thing that few ways need
    measure: Measure,
    training: Training,
    take: Take,
    models: Sequence[nn.Module],
    *,
    lanes: Sequence[Lane] = (),
    count: int = 1,
) -> None:
    """Measure a way to take a step of training; see `course`."""
    body, check, restart = course(training, take, models, training.batches, count)

    def check_and_go_on(result: object) -> Check:
        first = check(result)
        for _ in range(further(training.batch)):
            body()
        return worst([first, check(result)])

    measure(body, work=training.work(1), check=check_and_go_on, lanes=lanes, before=restart)


def measure_workers(measure: Measure, workers: Sequence[Worker], size: str, batch: int) -> None:
    """Measure steps that processes take at once, each as it was set up, so many to a message.

    The check begins anew, with a single step that can be compared.
    """

    def take(steps: int) -> None:
        for worker in workers:
            worker.start(steps)
        for worker in workers:
            worker.wait()

    def get_ready() -> None:
        for worker in workers:
            worker.get_ready()

    def check(_: object) -> Check:
        checks = [worker.check() for worker in workers]
        get_ready()
        for steps in (1, further(batch)):
            take(steps)
            checks += [worker.check() for worker in workers]
        return worst(checks)

    steps = STEPS_PER_MESSAGE
    measure(
        lambda: take(steps),
        work=Work(flops=steps * flops(size, batch), items=steps * batch),
        check=check,
        lanes=workers,
        before=get_ready,
    )


def course(
    training: Training,
    take: Take,
    models: Sequence[nn.Module],
    batches: Sequence[Batch],
    count: int,
) -> Task:
    """Return what takes the next step of a training, its check, and what goes back to the start.

    After one step the check compares what it changed in the parameters, in float64; after more
    it wants the loss to have fallen as it must.

    take : takes a step on a batch
    models : what it trains; afterwards all of them are the same
    batches : of the training, or this process's share of each
    count : devices that share a batch
    """
    there = training.device.handle
    batches = [(inputs.to(there), targets.to(there)) for inputs, targets in batches]
    taken = 0

    def body() -> None:
        nonlocal taken
        take(*batches[taken % len(batches)])
        taken += 1

    def restart() -> None:
        nonlocal taken
        taken = 0
        for model in models:
            set_back(model, training.start)

    def check(_: object) -> Check:
        if taken > 1:
            return training.learned(models[0], taken)
        what = f"what a step on {at_work(training.batch, count)} of {count} devices changes"
        expected = changed(training.size, training.batch, training.device.seed)
        right = close_to(expected, TOLERANCE, what)
        return worst(right(flat(model) - flat(training.start)) for model in models)

    return body, check, restart


@cache
def changed(size: str, batch: int, seed: int) -> Tensor:
    """Return what a step on the first batch changes, from a reference in float64 on the CPU.

    It is the same for every way and device, and for the large network takes a while.
    """
    training = Training(Device("cpu", seed), size, batch)
    model = deepcopy(training.start).double()
    inputs, targets = training.batch_of(0)
    before = flat(model)
    optimizer = torch.optim.SGD(model.parameters(), rate(training))
    step(model, optimizer, inputs.double(), targets.double())
    return flat(model) - before


def flat(model: nn.Module) -> Tensor:
    """Return a copy of all parameters in one tensor of float64 on the CPU."""
    parameters = (one.detach() for one in model.parameters())
    return parameters_to_vector(one.cpu().double() for one in parameters)


def set_back(model: nn.Module, start: nn.Module) -> None:
    """Set the parameters of a network to those of another."""
    with torch.no_grad():
        for now, then in zip(model.parameters(), start.parameters(), strict=True):
            now.copy_(then)


def rate(training: Training) -> float:
    """Return how fast a training's network learns."""
    return float(training.optimizer.param_groups[0]["lr"])


def further(batch: int) -> int:
    """Return how many steps a training goes on for its check."""
    return min(FURTHER_STEPS, max(1, FURTHER_SAMPLES // batch))


def at_work(batch: int, count: int) -> int:
    """Return how many of some devices get a share of a batch."""
    return len(torch.empty(batch).chunk(count))


def send(devices: Sequence[Device], inputs: Tensor, targets: Tensor) -> list[Batch]:
    """Copy a share of a batch to each device, before any of them is kept busy with its own."""
    shares = zip(inputs.chunk(len(devices)), targets.chunk(len(devices)), strict=True)
    return [
        (ours.to(device.handle), theirs.to(device.handle))
        for device, (ours, theirs) in zip(devices, shares, strict=False)
    ]


def backward(model: nn.Module, share: Batch, whole: float) -> None:
    """Find the gradients of a share's part in the mean over a whole batch."""
    inputs, targets = share
    loss = mse_loss(model(inputs), targets, reduction="sum") / whole
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it so


def add_up(models: Sequence[nn.Module]) -> None:
    """Add gradients up on the first device; give the sums to all others, also the idle ones."""
    for alike in zip(*(model.parameters() for model in models), strict=True):
        total, *others = [one.grad for one in alike if one.grad is not None]
        for other in others:
            total += other.to(total.device)
        for one in alike[1:]:
            one.grad = total.to(one.device)


def meeting_point(workers: Sequence[Worker]) -> Any:  # noqa: ANN401 - torch hides the type
    """Return a store where workers find each other, if torch lets them exchange gradients."""
    with needed("backend for a group of processes"):
        backend = dist.get_default_backend_for_device(workers[0].seat.device)
        if not dist.is_backend_available(backend):
            raise ValueError(f"torch is built without {backend}")
        return _store(0, is_master=True, wait_for_workers=False)


def _store(port: int, **options: Any) -> Any:  # noqa: ANN401 - as above
    return dist.TCPStore("127.0.0.1", port, timeout=PATIENCE, **options)  # type: ignore[attr-defined]  # hidden, as above


def in_worker(device: Device, size: str, batch: int) -> Task:
    """Return, in a worker, a step on the whole batch."""
    training = Training(device, size, batch)

    def take(inputs: Tensor, targets: Tensor) -> None:
        training.step(inputs, targets)
        device.synchronize()  # or it would begin the next step early, as no other way does

    return course(training, take, [training.model], training.batches, 1)


@contextmanager
def in_group(device: Device, number: int, group: Group, size: str, batch: int) -> Iterator[Task]:
    """Make a worker a member of a group of this case alone; yield its part of a step.

    The reasons are in `docs/decisions/groups-of-nodes.md`.
    """
    with torch.accelerator.device_index(device.handle.index):
        dist.init_process_group(
            dist.get_default_backend_for_device(device.handle),
            store=_store(group.port),
            rank=number,
            world_size=group.members,
            timeout=PATIENCE,
            device_id=device.handle if device.is_accelerator else None,
        )
        yield _part(device, number, group.members, size, batch)
        dist.barrier()  # nobody leaves while others still talk
        dist.destroy_process_group()


def _part(device: Device, number: int, count: int, size: str, batch: int) -> Task:
    training = Training(device, size, batch)
    model = DistributedDataParallel(
        training.model, [device.handle] if device.is_accelerator else None
    )
    shares = [_share(both, number, count) for both in training.batches]

    def take(inputs: Tensor, targets: Tensor) -> None:
        training.optimizer.zero_grad()
        backward(model, (inputs, targets), batch / count)  # processes take the mean of theirs
        training.optimizer.step()
        device.synchronize()  # as above

    return course(training, take, [training.model], shares, count)


def _share(batch: Batch, number: int, count: int) -> Batch:
    """Return a process's share, which is empty if there are too few samples."""
    if number >= at_work(len(batch[0]), count):
        return batch[0][:0], batch[1][:0]
    return batch[0].chunk(count)[number], batch[1].chunk(count)[number]
