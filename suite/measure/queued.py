# SPDX-License-Identifier: MIT
"""Blockers: work that keeps a device busy while the host queues other work behind it."""

import math
from collections.abc import Callable

import torch

from suite.errors import DoesNotFitError
from suite.kit.device import Device

SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
"""Rows of the products that block, the smallest first: it drives little else out of the caches."""
CALLS = 8
"""Products in a row by which the time of one is told."""
AHEAD = 4
"""Times its launching that a product must take, so that the host gets ahead of the device."""


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
            candidate = Blocker(device, n)
            if candidate.is_ahead(clock):
                return candidate
    except (DoesNotFitError, RuntimeError, NotImplementedError, AttributeError, TypeError):
        pass  # the device is full, or cannot multiply: its cases will say so
    return None
