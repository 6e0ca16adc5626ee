# SPDX-License-Identifier: MIT
# mypy: disable-error-code="no-untyped-call"
"""Does a run survive a GPU that has no memory left, fails for good or hangs?"""

from itertools import count

import torch

from frobench import Device, Measure, Work, cases, close_to, freivalds, same_bytes
from frobench.suite.stored.types import Check

LATER = 10
"""A call that no pilot makes, and every launch does while it warms a body up."""
SHORT, HANGING = 10**5, 3 * 10**11
"""Cycles: of no time, and of two minutes, which no deadline waits for and no GPU is lost by."""


@cases("quick", when=["at_once", "later"])
def bench_index(measure: Measure, accelerator: Device, when: str) -> None:
    """Read behind the end of a table, which the kernel notices and no process survives."""
    table = accelerator.uniform(16)
    inside, behind = (torch.full((1,), place, device=accelerator.handle) for place in (0, 16))
    calls, wrong = count(1), 1 if when == "at_once" else LATER
    measure(
        lambda: table[behind if next(calls) >= wrong else inside],
        work=Work(items=1),
        check=same_bytes([table[:1]]),
    )


def bench_hang(measure: Measure, accelerator: Device) -> None:
    """Wait for a kernel that does not end, from the tenth call on."""
    calls = count(1)
    measure(
        lambda: torch.cuda._sleep(HANGING if next(calls) >= LATER else SHORT),
        work=Work(items=1),
        check=lambda _: Check("nothing", 0.0, 1.0),
    )


def bench_foreseen(measure: Measure, accelerator: Device) -> None:
    """Draw more numbers than there is memory for."""
    numbers = accelerator.uniform(2**40)
    measure(lambda: numbers, work=Work(items=1), check=same_bytes([numbers]))


def bench_known(measure: Measure, accelerator: Device) -> None:
    """Take a known amount of memory."""
    add_ones(measure, accelerator, 2**26)


def bench_unforeseen(measure: Measure, accelerator: Device) -> None:
    """Take more memory than there is."""
    add_ones(measure, accelerator, 2**40)


def bench_product(measure: Measure, accelerator: Device) -> None:
    """Multiply two matrices."""
    a, b = accelerator.uniform(1024, 1024), accelerator.uniform(1024, 1024)
    measure(lambda: a @ b, work=Work(flops=2 * 1024**3), check=freivalds(a, b))


def add_ones(measure: Measure, accelerator: Device, numbers: int) -> None:
    """Measure what takes memory for some numbers, and gives it back."""
    measure(
        lambda: torch.ones(numbers, device=accelerator.handle).sum(),
        work=Work(bytes=4 * numbers),
        check=close_to(torch.tensor(float(numbers)), 1e-5, "the sum"),
    )
