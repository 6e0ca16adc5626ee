# SPDX-License-Identifier: MIT
"""The device's own time for a body: a span behind work that was queued before it.

A span on an idle device begins when its first event arrives, and so holds a launch, and every gap
in which the device waited for the host. Here a blocker keeps the device busy while the host queues
the whole body behind it, so the device goes from the one to the other without waiting.

Whether that worked is seen, not assumed: when the host has queued the body, the first event must
not have happened yet. Of a body that waits for its device, or that takes longer to queue than the
blocker lasts, nothing is claimed.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from suite.errors import DoesNotFitError
from suite.kit.device import Device
from suite.kit.lanes import MILLISECOND

if TYPE_CHECKING:
    from suite.measure.sampler import Sampler

SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
"""Rows of the products that block, the smallest first: it drives little else out of the caches."""
CALLS = 8
"""Products in a row by which the time of one is told."""
AHEAD = 4
"""Times its launching that a product must take, so that the host gets ahead of the device."""
SLACK = 100e-6
"""Seconds that a blocker lasts beyond twice what the host should need."""
LONGEST = 0.02
"""Seconds that a blocker lasts at most."""
SPANS, FAILURES = 5, 3
"""Spans of a body in a launch, and attempts without one after which there are no more."""


class Blocker:
    """Keeps a device busy for about as long as is asked.

    unit : seconds of a product
    """

    def __init__(self, device: Device, n: int) -> None:
        a, b = device.uniform(n, n), device.uniform(n, n)
        self._device = device
        self._product = torch.empty_like(a)
        self._factors = a, b
        self.unit = 0.0

    def queue(self, seconds: float) -> None:
        """Queue as many products as take so long."""
        for _ in range(max(1, math.ceil(seconds / self.unit))):
            self._multiply()

    def is_ahead(self, clock: Callable[[], float]) -> bool:
        """Time the product; tell whether the host launches it much faster than it is computed."""
        for _ in range(2):  # the first time pays for what later ones do not
            self._device.synchronize()
            begun = clock()
            for _ in range(CALLS):
                self._multiply()
            queued = clock()
            self._device.synchronize()
            took = clock() - begun
        self.unit = took / CALLS
        return took >= AHEAD * (queued - begun)

    def _multiply(self) -> None:
        torch.mm(*self._factors, out=self._product)


def blocker(device: Device, clock: Callable[[], float]) -> Blocker | None:
    """Return the smallest blocker that works; none for a CPU, or where there are no events."""
    if not (device.is_accelerator and device.has_events):
        return None
    try:
        for n in SIZES:
            found = Blocker(device, n)
            if found.is_ahead(clock):
                return found
    except (DoesNotFitError, RuntimeError, NotImplementedError, AttributeError, TypeError):
        pass  # the device is full, or cannot multiply: its cases will say so
    return None


def device_spans(sampler: "Sampler", device: Device, enqueue: float, seconds: float) -> list[float]:
    """Return the seconds that the device works on a call, for as many calls as there is time.

    enqueue : seconds until the body returns
    seconds : that further spans may take once there is one
    """
    found: list[float] = []
    failures, wanted, begun = 0, 2 * (2 * enqueue) + SLACK, sampler.clock()
    while len(found) < SPANS and failures < FAILURES and wanted <= LONGEST:
        if found and sampler.clock() - begun > seconds:
            break
        span = _device_span(sampler, device, wanted)
        if span is None:
            failures, wanted = failures + 1, 2 * wanted
        else:
            found.append(span)
    return found


def _device_span(sampler: "Sampler", device: Device, wanted: float) -> float | None:
    """Return the span of a call behind a blocker; `None` where the device had to wait.

    What the blocker drove out of the caches an unrecorded call brings back, unless they shall be
    cold.
    """
    begin, end = device.event(), device.event()
    device.synchronize()
    if sampler.blocker is not None:
        sampler.blocker.queue(wanted)
    if sampler.cold is None:
        sampler.body()
    else:
        sampler.cold()
    device.record(begin)
    sampler.body()
    device.record(end)
    in_time = not begin.query()
    device.synchronize()
    span = begin.elapsed_time(end) * MILLISECOND
    return span if in_time and span > 0 else None
