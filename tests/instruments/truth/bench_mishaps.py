# SPDX-License-Identifier: MIT
"""Does a run survive a device that has no memory left, hangs or is lost?"""

import torch

from frobench import Device, Measure, Work, cases, close_to, needed

MANY = 5000
"""Launches of one call; a device that is to go wrong does so before."""


@cases("quick", launches=[10])
def bench_first(measure: Measure, accelerator: Device, launches: int) -> None:
    """Add a few times."""
    add(measure, accelerator, launches)


@cases("quick", launches=[MANY])
def bench_many(measure: Measure, accelerator: Device, launches: int) -> None:
    """Add many times."""
    add(measure, accelerator, launches)


@cases("quick", launches=[MANY])
def bench_lacking(measure: Measure, accelerator: Device, launches: int) -> None:
    """Add many times to see whether the device can."""
    a = accelerator.uniform(64)
    with needed("adding"):
        for _ in range(launches):
            _ = a + a
    add(measure, accelerator, 1)


@cases("quick", gigabytes=[1000])
def bench_foreseen(measure: Measure, accelerator: Device, gigabytes: int) -> None:
    """Ask for more memory than there is."""
    accelerator.uniform(gigabytes * 10**9 // 4)
    add(measure, accelerator, 1)


@cases("quick", gigabytes=[1000])
def bench_unforeseen(measure: Measure, accelerator: Device, gigabytes: int) -> None:
    """Take more memory than there is."""
    measure(
        lambda: torch.empty(gigabytes * 10**9, dtype=torch.uint8, device=accelerator.handle),
        work=Work(items=1),
        check=close_to(torch.zeros(1), 1.0, "nothing"),
    )


@cases("quick", megabytes=[40])
def bench_wrong(measure: Measure, accelerator: Device, megabytes: int) -> None:
    """Fail with most of the memory in hand."""
    hold(measure, accelerator, megabytes, torch.tensor([9.0]))


@cases("quick", megabytes=[40])
def bench_right(measure: Measure, accelerator: Device, megabytes: int) -> None:
    """Need the same memory."""
    hold(measure, accelerator, megabytes, torch.tensor([0.0]))


@cases("quick", launches=[20])
def bench_last(measure: Measure, accelerator: Device, launches: int) -> None:
    """Add a few times more."""
    add(measure, accelerator, launches)


def add(measure: Measure, accelerator: Device, launches: int) -> None:
    """Add a vector to itself so often."""
    a = accelerator.uniform(64)

    def body() -> torch.Tensor:
        for _ in range(launches):
            total = a + a
        return total

    measure(body, work=Work(items=launches), check=close_to(2 * a.cpu().double(), 1e-6, "the sum"))


def hold(measure: Measure, accelerator: Device, megabytes: int, truth: torch.Tensor) -> None:
    """Multiply a number by nothing beside so much memory."""
    a = accelerator.uniform(megabytes * 10**6 // 4)
    check = close_to(truth + 1.0, 1e-6, "one")
    measure(lambda: a[:1] * 0 + 1, work=Work(items=1), check=check)
