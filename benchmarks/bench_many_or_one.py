# SPDX-License-Identifier: MIT
"""Many small operations, or one large?

A sample is the time until the last result is there: launching each operation from Python,
computing, and waiting for the device. The operands lie on the device; every operation allocates
its result, as PyTorch does.

The same arithmetic is done by one operation or by many: a tensor is squared whole, or cut in
equal pieces, one after the other. It is so small that a CPU does not share it among threads, and
that an accelerator is done with a piece before the next one is launched. So what the number of
pieces adds is the cost of an operation, whatever its size. One call for a list of tensors
(``torch._foreach_mul``) and the replay of a recorded graph avoid parts of that.

Pointwise chains show from which size on computing takes longer than launching: in them a tensor
is added to a sum a hundred times, each time as an operation that needs the one before it. CPUs
share tensors of 32,768 numbers and more among their threads. ``torch.compile`` makes one
operation of the chain. Compiling is no part of a sample; it happens once a launch, with empty
caches, and its time is kept apart. The bytes are those of operands and results, each counted
once, however often a chain goes over them.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from frobench import (
    Check,
    Device,
    Measure,
    Work,
    capture,
    cases,
    close_to,
    compiled,
    cpu_twins,
    same_bytes,
)

pytestmark = cpu_twins()

NUMBERS = 30_000
LENGTH = 100
"""Operations in a chain."""


@cases("quick", pieces=[1, 100, 1000])
@cases(pieces=[1, 10, 100, 1000, 10_000])
def bench_pieces(measure: Measure, device: Device, pieces: int) -> None:
    """Square a tensor piece by piece."""
    numbers = device.uniform(NUMBERS)
    parts = numbers.view(pieces, -1).unbind()
    measure(lambda: [part * part for part in parts], work=work(pieces), check=squares(numbers))


@cases(pieces=[1000])
@cases("rigorous", pieces=[1, 10, 100, 10_000])
def bench_pieces_foreach(measure: Measure, device: Device, pieces: int) -> None:
    """Square all pieces of a tensor in one call."""
    numbers = device.uniform(NUMBERS)
    parts = numbers.view(pieces, -1).unbind()
    multiply = torch._foreach_mul  # noqa: SLF001 - has no public name
    measure(lambda: multiply(parts, parts), work=work(pieces), check=squares(numbers))


@cases(pieces=[1000])
@cases("rigorous", pieces=[1, 10, 100, 10_000])
def bench_pieces_graph(measure: Measure, accelerator: Device, pieces: int) -> None:
    """Replay the recorded squares of all pieces of a tensor."""
    numbers = accelerator.uniform(NUMBERS)
    parts = numbers.view(pieces, -1).unbind()
    replay = capture(accelerator, lambda: [part * part for part in parts])
    measure(replay, work=work(pieces), check=squares(numbers))


@cases(n=[1, 4**3, 4**6, 4**7, 4**8])
@cases("rigorous", n=[2**11, 2**13, 2**15])
def bench_chain(measure: Measure, device: Device, n: int) -> None:
    """Add n numbers to n others, again and again."""
    add_up(measure, device, n)


@cases(n=[2**power for power in range(17, 24)])
def bench_chain_large(measure: Measure, accelerator: Device, n: int) -> None:
    """Do as bench_chain, with more numbers, which only accelerators add up in a launch's time."""
    add_up(measure, accelerator, n)


@cases("rigorous", n=[4**3, 4**8])
def bench_chain_compiled(measure: Measure, device: Device, n: int) -> None:
    """Add n numbers to n others, again and again, in one compiled operation."""
    numbers = device.uniform(n)
    body, seconds = compiled(device, lambda: chain(numbers))
    measure(body, work=chain_work(numbers), check=added(numbers), apart={"compile": seconds})


def add_up(measure: Measure, device: Device, n: int) -> None:
    """Measure a chain, an operation after the other."""
    numbers = device.uniform(n)
    measure(lambda: chain(numbers), work=chain_work(numbers), check=added(numbers))


def chain(numbers: Tensor) -> Tensor:
    """Add numbers to a sum of them, a hundred times."""
    total = numbers
    for _ in range(LENGTH):
        total = total + numbers
    return total


def work(pieces: int) -> Work:
    """Count a product for each number, wherever it lies; operations are the items."""
    return Work(flops=NUMBERS, bytes=2 * 4 * NUMBERS, items=pieces)


def chain_work(numbers: Tensor) -> Work:
    """Count the sums of a chain; operations are the items."""
    return Work(flops=LENGTH * numbers.numel(), bytes=2 * numbers.nbytes, items=LENGTH)


def squares(numbers: Tensor) -> Callable[[list[Tensor]], Check]:
    """Check that pieces are the squares of numbers, rounded once."""
    same = same_bytes([numbers.cpu().double().square().float()])
    return lambda parts: same(torch.cat(list(parts)))


def added(numbers: Tensor) -> Callable[[Tensor], Check]:
    """Check the sum of a chain, which every operation may round."""
    return close_to((LENGTH + 1) * numbers.cpu().double(), 1e-5, "the sum of the chain")
