# SPDX-License-Identifier: MIT
"""Work that keeps a device busy while more is queued behind it, so that nothing waits for launches.

What then runs is queued ahead: the interval of an entry holds no launch gap, and is busy time.
"""

import math
from time import perf_counter

import torch

from suite.devices import Device
from suite.errors import DoesNotFitError

SIZES = (128, 256, 512, 1024)
"""Edges of the products that are tried."""
TRIED = 8
"""Products that show how long one takes."""
LEAST_RATIO = 4.0
"""Seconds of a product relative to those of its launch, at least."""


class Holder:
    """Products on a device that take it far longer than the host's launching.

    Where not even the largest product does, the device cannot be held.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._size, self._gained = 0, 0.0
        for size in SIZES:
            launch, product = self._try(size)
            self._size, self._gained = size, product - launch
            if product > LEAST_RATIO * launch:
                break
        else:
            self._size = 0

    def hold(self, seconds: float) -> torch.Event | None:
        """Queue products that last for so long from now; return the event at their end."""
        if not self._size:
            return None
        factor, product = self._factors(self._size)
        for _ in range(math.ceil(seconds / self._gained) + 1):
            torch.mm(factor, factor, out=product)
        end = self._device.event()
        self._device.record(end)
        return end

    def _try(self, size: int) -> tuple[float, float]:
        """Return the seconds of a launch and of a product, when several are queued."""
        factor, product = self._factors(size)
        torch.mm(factor, factor, out=product)
        self._device.synchronize()
        begun = perf_counter()
        for _ in range(TRIED):
            torch.mm(factor, factor, out=product)
        queued = perf_counter()
        self._device.synchronize()
        return (queued - begun) / TRIED, (perf_counter() - begun) / TRIED

    def _factors(self, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a matrix and the place of its square, on the device."""
        handle = self._device.handle
        return torch.ones(size, size, device=handle), torch.empty(size, size, device=handle)


def holder(device: Device) -> Holder | None:
    """Return what holds a device; nothing if there is no memory for it."""
    try:
        device.require(2 * 4 * SIZES[-1] ** 2)
    except DoesNotFitError:
        return None
    return Holder(device)
