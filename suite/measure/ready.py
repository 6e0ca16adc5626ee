# SPDX-License-Identifier: MIT
"""Before the first case of a launch: devices come to a steady clock, the harness is timed."""

import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TypeVar

import torch

from suite.errors import DoesNotFitError
from suite.kit.device import Device
from suite.measure.sampler import Sampler
from suite.profiles import SETTLE_SECONDS

T = TypeVar("T")

SETTLE_CALL = 1e-3
WAKE_SECONDS = 0.5
"""Seconds of work after which a link that slows down while it is idle is at its generation."""
SETTLERS = (256, 512, 1024, 2048, 4096)
FULL = (DoesNotFitError, torch.OutOfMemoryError)
"""Errors of a device without memory, which is left to its cases; the other devices go on."""


def steady_clocks(devices: Sequence[Device], seconds: float = SETTLE_SECONDS) -> None:
    """Keep accelerators busy, all at once: the clock of an idle GPU swings before it settles.

    A CPU is left alone, and so is an accelerator that has no memory left.
    """
    accelerators = [device for device in devices if device.is_accelerator]
    products = list(of_each(accelerators, _settler).values())
    begun = perf_counter()
    while products and perf_counter() - begun < seconds:
        products = [product for product in products if _fits(product.body)]
        products = [product for product in products if _fits(product.took)]


def of_each(devices: Sequence[Device], find: Callable[[Device], T]) -> dict[str, T]:
    """Return what `find` returns of each device that has memory, by the device's name."""
    values = {}
    for device in devices:
        with suppress(*FULL):
            values[device.name] = find(device)
    return values


def empty_body(device: Device) -> float:
    """Return the seconds that one call of an empty body seems to take; stored, never subtracted."""
    sampler = Sampler(lambda: None, [device])
    return statistics.median(sampler.took() for _ in range(200))


def _settler(device: Device) -> Sampler:
    """Return a product that keeps the device, rather than its launching, busy, if it fits."""
    smallest, *larger = SETTLERS
    product = _product(device, smallest)
    for n in larger:
        if min(product.took() for _ in range(3)) > SETTLE_CALL:
            break
        with suppress(*FULL):
            product = _product(device, n)
    return product


def _product(device: Device, n: int) -> Sampler:
    return Sampler(partial(torch.matmul, *(device.uniform(n, n) for _ in "ab")), [device])


def _fits(call: Callable[[], object]) -> bool:
    try:
        call()
    except FULL:
        return False
    return True
