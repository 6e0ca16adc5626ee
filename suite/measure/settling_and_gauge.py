# SPDX-License-Identifier: MIT
"""What a launch does around its cases: clocks settle, the harness is timed, the gauge is read.

The gauge is a few fixed bodies that every launch times on every device, whatever is measured. Two
runs whose gauges differ met the machine in different states (another clock, a neighbour on the same
host), so their cases may differ for that reason alone. Stored times are not corrected by it; a
comparison may divide them by the Python loop's (see `suite.compare.between_run_spread`).
"""

import math
import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TypeVar

from frobench.suite.errors import DoesNotFitError
from frobench.suite.kit.device import REFUSALS, Device
from frobench.suite.lazy_torch import is_imported, torch
from frobench.suite.measure.timed_loop import Body, Sampler
from frobench.suite.profiles import SETTLE_SECONDS

T = TypeVar("T")

SETTLE_CALL = 1e-3
WAKE_SECONDS = 0.5
"""Seconds of work after which a link that slows down while it is idle is at its generation."""
SETTLERS = tuple(2**power for power in range(8, 13))
REFUSED = (DoesNotFitError, *REFUSALS)
"""Errors of a device that is full or lost: its cases will say so, and the other devices go on."""
ROUNDS = 5
"""Samples of each body before the first case and behind the last one."""
ROUNDS_BETWEEN = 20
"""Samples of each body between cases, at most."""
LOOP, OPERATIONS, PRODUCT = 10_000, 20, 256
"""Passes of a Python loop, tiny operations in a row, and rows of a square product."""
COPIED = 2**25
"""Bytes of a copy: more than the caches next to a core hold."""


def steady_clocks(devices: Sequence[Device], seconds: float = SETTLE_SECONDS) -> None:
    """Keep accelerators busy, all at once: the clock of an idle GPU swings before it settles.

    A CPU is left alone, and so is an accelerator that refuses.
    """
    accelerators = [device for device in devices if device.is_accelerator]
    products = list(of_each(accelerators, _settler).values())
    begun = perf_counter()
    while products and perf_counter() - begun < seconds:
        products = [product for product in products if _fits(product.body)]
        products = [product for product in products if _fits(product.took)]


def of_each(devices: Sequence[Device], find: Callable[[Device], T]) -> dict[str, T]:
    """Return what `find` returns of each device that refuses nothing, by the device's name."""
    values = {}
    for device in devices:
        with suppress(*REFUSED):
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
        with suppress(*REFUSED):
            product = _product(device, n)
    return product


def _product(device: Device, n: int) -> Sampler:
    return Sampler(partial(torch.matmul, *(device.uniform(n, n) for _ in "ab")), [device])


def _fits(call: Callable[[], object]) -> bool:
    try:
        call()
    except REFUSED:
        return False
    return True


class Gauge:
    """Times the fixed bodies of some devices; a body that a device refuses is left out.

    cases : how many cases follow, over which further samples are spread evenly
    """

    def __init__(self, devices: Sequence[Device], cases: int) -> None:
        self._samplers: dict[str, Sampler] = {}
        self._samples: dict[str, list[float]] = {}
        self._stride = math.ceil(cases / ROUNDS_BETWEEN)
        self._cases = 0
        for device in devices:
            for body_name, body in _bodies(device).items():
                name, sampler = f"{device.name}/{body_name}", Sampler(body, [device])
                with suppress(*REFUSALS):
                    sampler.took(2)
                    self._samplers[name], self._samples[name] = sampler, []
        self._read(ROUNDS)

    def read_before_case(self) -> None:
        """Take a sample of each body, unless one was taken a few cases ago."""
        if self._cases % self._stride == 0:
            self._read(1)
        self._cases += 1

    def finish(self) -> dict[str, float]:
        """Take the last samples; return the median seconds of each body that a clock can tell."""
        self._read(ROUNDS)
        medians = {name: statistics.median(taken) for name, taken in self._samples.items() if taken}
        return {name: seconds for name, seconds in medians.items() if seconds > 0}

    def _read(self, rounds: int) -> None:
        for _ in range(rounds):
            for name in list(self._samplers):
                try:
                    self._samples[name].append(self._samplers[name].took())
                except REFUSALS:  # the device is full, or lost, which its next case will say
                    del self._samplers[name]


def _bodies(device: Device) -> dict[str, Body]:
    bodies: dict[str, Body] = {} if device.is_accelerator else {"python": _loop}
    if not is_imported():
        return bodies
    try:
        small, source = device.uniform(16, 16), device.uniform(COPIED // 4)
        left, right = device.uniform(PRODUCT, PRODUCT), device.uniform(PRODUCT, PRODUCT)
        target = torch.empty_like(source)
    except REFUSED:
        return bodies
    return bodies | {
        "operations": partial(_add_often, small),
        "product": partial(torch.matmul, left, right),
        "copy": partial(target.copy_, source),
    }


def _loop() -> int:
    total = 0
    for number in range(LOOP):
        total += number
    return total


def _add_often(small: "torch.Tensor") -> "torch.Tensor":
    for _ in range(OPERATIONS):
        small = small + 0.0
    return small
