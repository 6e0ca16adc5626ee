# SPDX-License-Identifier: MIT
"""What a launch does before its first case: devices come to a steady clock, the harness is timed.

A body that does nothing shows what the harness costs. That is stored beside the results, and
subtracted from none.
"""

import statistics
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter

import torch

from suite.devices import Device
from suite.errors import DoesNotFitError
from suite.profiles import SETTLE_SECONDS
from suite.timing import Sampler

EMPTY_CALLS = 200
SETTLE_CALL = 1e-3
SETTLERS = (256, 512, 1024, 2048, 4096)


def steady_clocks(devices: Sequence[Device]) -> None:
    """Keep accelerators busy, all at once, until their clocks have settled.

    The clock of a GPU that was idle swings for seconds before it settles. A CPU is left alone.
    """
    products = [_settler(device) for device in devices if device.is_accelerator]
    begun = perf_counter()
    while products and perf_counter() - begun < SETTLE_SECONDS:
        for product in products:
            product.body()
        for product in products:
            product.took()


def empty_body(device: Device) -> float:
    """Return the seconds that a single call of a body that does nothing seems to take."""
    sampler = Sampler(_nothing, [device])
    return statistics.median(sampler.took() for _ in range(EMPTY_CALLS))


def _settler(device: Device) -> Sampler:
    """Return a product that keeps the device, rather than its launching, busy, if it fits."""
    smallest, *larger = SETTLERS
    product = _product(device, smallest)
    for n in larger:
        if min(product.took() for _ in range(3)) > SETTLE_CALL:
            break
        with suppress(DoesNotFitError):
            product = _product(device, n)
    return product


def _product(device: Device, n: int) -> Sampler:
    return Sampler(partial(torch.matmul, *(device.uniform(n, n) for _ in "ab")), [device])


def _nothing() -> None:
    return None
