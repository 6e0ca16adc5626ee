# SPDX-License-Identifier: MIT
"""What does reporting the loss each minibatch do to training?

A sample is a training of 30 steps: forward, loss, backward and update in each, until the last
loss is in the host's memory. A fresh copy of the network is made before. The data lie on the
device already, unless the question is where they are loaded from.

A training on one device is measured right beside one that is silent: its data lie on the device,
and so do its losses, until all of them are read together at the end. ``every`` is the number of
steps whose losses are kept on the device before they are read together; where it is 1, each loss
is read at once by ``.item()``. The silent training, too, reads at its end, so that what a longer
training would pay is computed from the read-backs it was spared. Steps of the small and the medium
network take an accelerator less time than their launches take the host; those of the large one,
which only accelerators train, take longer. Data are loaded from pageable or from pinned memory,
batch by batch or all at once before the first step. A batch is prefetched when it is copied from
pinned memory, in a second stream, while the device works on the batch before.

Where several devices train, each trains a network of its own. ``span`` is then the time that all
but the first of them take: nobody reads their losses until the end, so it shows what reading
those of the first costs the others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice, zip_longest

import torch
from torch import Tensor
from training import Batch, Trained, Training, skip_where_too_large, split, work

from frobench import Check, Device, Lane, Measure, cases, cpu_twins, needed, pinned, worst

pytestmark = cpu_twins()

STEPS = 30
NETWORKS = ["small", "medium"]
BATCH, LARGER = 64, [1024, 16_384]
EVERY = ["1", "5", "15"]
"""Words, for whole numbers would be climbed like sizes, and here the larger are the faster."""
MEMORIES = ["pageable", "pinned", "prefetched", "at_once"]
READING = ["nobody", "first"]
"""Whose losses are read in each step."""
Steps = Iterator[None]
"""A training that takes a step whenever it is asked."""
Loader = Callable[[], Iterable[Batch]]


@cases("quick", network=["small"], batch=[BATCH], every=EVERY[::2])
@cases(network=NETWORKS, batch=[BATCH], every=EVERY)
@cases(network=["large"], batch=LARGER[:1], every=EVERY[::2])
@cases("rigorous", network=NETWORKS, batch=[BATCH, *LARGER], every=[*EVERY, "2", "3", "10"])
def bench_reading(measure: Measure, device: Device, network: str, batch: int, every: str) -> None:
    """Read the losses of so many steps together, against those of all steps at the end."""
    skip_where_too_large(network, device.handle.type)
    training = Training(device, network, batch)
    batches, silent = on_device(training), training.twin()
    measure(
        lambda: train(training, batches, int(every)),
        against=lambda: train(silent, batches),
        before=partial(begin, [training, silent]),
        work=work(network, batch, STEPS),
        check=training.check(STEPS),
    )


@cases(network=NETWORKS, batch=[BATCH], memory=MEMORIES)
@cases(network=["large"], batch=LARGER[:1], memory=MEMORIES[::2])
@cases("rigorous", network=NETWORKS, batch=LARGER, memory=MEMORIES)
@cases("rigorous", network=["large"], batch=LARGER[:1], memory=MEMORIES)
def bench_loading(
    measure: Measure, accelerator: Device, network: str, batch: int, memory: str
) -> None:
    """Load data from the host's memory, against data that lie on the device."""
    training = Training(accelerator, network, batch)
    load, batches, silent = LOADERS[memory](training), on_device(training), training.twin()
    measure(
        lambda: train(training, load()),
        against=lambda: train(silent, batches),
        before=partial(begin, [training, silent]),
        work=work(network, batch, STEPS),
        check=training.check(STEPS),
    )


@cases(network=NETWORKS, batch=[BATCH], reading=READING)
@cases("rigorous", network=NETWORKS, batch=LARGER, reading=READING)
def bench_one_thread(
    measure: Measure, devices: list[Device], network: str, batch: int, reading: str
) -> None:
    """Train a network on each device, driven by one thread that takes a step on each in turn."""
    group = Group([Training(one, network, batch) for one in devices], reading)
    measure(
        lambda: group.train(in_turn),
        before=partial(begin, group.trainings),
        work=work(network, batch, STEPS, len(devices)),
        check=group.check,
        lanes=group.lanes[1:],
    )


@cases(network=NETWORKS, batch=[BATCH], reading=READING)
@cases("rigorous", network=NETWORKS, batch=LARGER, reading=READING)
def bench_threads(
    measure: Measure, devices: list[Device], network: str, batch: int, reading: str
) -> None:
    """Train a network on each device, driven by a thread each."""
    group = Group([Training(one, network, batch) for one in devices], reading)
    with ExitStack() as stack:
        # A thread that changes devices would set libraries up anew.
        threads = [stack.enter_context(ThreadPoolExecutor(1)) for _ in devices]

        def drive(trainings: Iterable[Steps]) -> None:
            begun = [
                thread.submit(in_turn, [one])
                for thread, one in zip(threads, trainings, strict=True)
            ]
            for one in begun:
                one.result()

        measure(
            lambda: group.train(drive),
            before=partial(begin, group.trainings),
            work=work(network, batch, STEPS, len(devices)),
            check=group.check,
            lanes=group.lanes[1:],
        )


class Group:
    """A training on each device, and whose losses are read in each step.

    lanes : of each device; those behind the first see when the others work
    """

    def __init__(self, trainings: Sequence[Training], reading: str) -> None:
        self.trainings = trainings
        self.lanes = [Lane(one.device) for one in trainings]
        self._every = [1 if reading == "first" else STEPS, *[STEPS] * len(trainings[1:])]
        self._batches = [on_device(one) for one in trainings]
        self._checks = [one.check(STEPS) for one in trainings]

    def train(self, drive: Callable[[Iterable[Steps]], object]) -> list[Trained]:
        """Let all trainings be driven, step by step."""
        losses: list[list[float]] = [[] for _ in self.trainings]
        drive(map(steps, self.trainings, self._batches, self._every, losses, self.lanes))
        return [Trained(one.model, its) for one, its in zip(self.trainings, losses, strict=True)]

    def check(self, results: Sequence[Trained]) -> Check:
        """Check what each device has trained."""
        return worst(check(one) for check, one in zip(self._checks, results, strict=True))


def train(training: Training, batches: Iterable[Batch], every: int = STEPS) -> Trained:
    """Train on one device; read the losses of so many steps together."""
    losses: list[float] = []
    in_turn([steps(training, batches, every, losses, Lane(training.device))])
    return Trained(training.model, losses)


def in_turn(trainings: Iterable[Steps]) -> None:
    """Take a step of each training in turn, until all have ended."""
    for _ in zip_longest(*trainings):
        pass


def steps(
    training: Training, batches: Iterable[Batch], every: int, losses: list[float], lane: Lane
) -> Steps:
    """Train step by step, adding the losses to a list; the last ones when asked once more."""
    log: list[Tensor] = []
    for inputs, targets in batches:
        if len(log) == every > 1:
            losses += torch.stack(log).tolist()
            log.clear()
        with lane:
            log.append(training.step(inputs, targets))
        if every == 1:
            losses.append(log.pop().item())
        yield
    if log:
        losses += torch.stack(log).tolist()


def begin(trainings: Iterable[Training]) -> None:
    """Take a fresh network for each training."""
    for one in trainings:
        one.begin()


def turns(batches: Iterable[Batch]) -> list[Batch]:
    """Return the batches of all steps."""
    return list(islice(cycle(batches), STEPS))


def there(data: Iterable[Tensor], device: Device, *, non_blocking: bool = False) -> Batch:
    """Return inputs and targets on a device."""
    inputs, targets = (half.to(device.handle, non_blocking=non_blocking) for half in data)
    return inputs, targets


def on_device(training: Training) -> list[Batch]:
    """Return the batches of all steps, from data that lie on the device."""
    return turns(split(there(training.data, training.device), training.batch))


def pageable(training: Training) -> Loader:
    """Return what copies each batch as PyTorch gives it."""
    batches = turns(training.batches)
    return lambda: (there(batch, training.device) for batch in batches)


def from_pinned(training: Training) -> Loader:
    """Return what copies each batch from pinned memory, without waiting."""
    batches = turns([(pinned(x), pinned(y)) for x, y in training.batches])
    return lambda: (there(batch, training.device, non_blocking=True) for batch in batches)


def at_once(training: Training) -> Loader:
    """Return what copies all data together."""
    return lambda: on_device(training)


def prefetched(training: Training) -> Loader:
    """Return what copies a batch to one of two places while the other's is worked on."""
    device = training.device
    batches = turns([(pinned(x), pinned(y)) for x, y in training.batches])
    places = [there(batch, device) for batch in batches[:2]]
    with needed("streams"):
        main, copying = device.module.current_stream(device.handle), device.stream()

    def load() -> Iterator[Batch]:
        for number, batch in enumerate(batches):
            copying.wait_stream(main)  # until the place is free
            with copying:
                for place, half in zip(places[number % 2], batch, strict=True):
                    place.copy_(half, non_blocking=True)
            if number:
                yield places[1 - number % 2]
            main.wait_stream(copying)
        yield places[number % 2]

    return load


LOADERS: dict[str, Callable[[Training], Loader]] = {
    "pageable": pageable,
    "pinned": from_pinned,
    "prefetched": prefetched,
    "at_once": at_once,
}
