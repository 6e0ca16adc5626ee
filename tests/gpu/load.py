# SPDX-License-Identifier: MIT
"""Work that keeps a GPU busy for as long as a test wants."""

from math import ceil
from time import perf_counter

import torch

from frobench.suite.kit.device import Device
from frobench.suite.measure.timed_loop import Sampler

N = 16384
"""So large that the GPU has seconds of work where many are queued."""
WARM_UPS, CALLS = 3, 5


class Load:
    """Matrix products, as many as take some time."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._a, self._b = (device.uniform(N, N, dtype="bfloat16") for _ in "ab")
        self._product = torch.empty_like(self._a)
        sampler = Sampler(self._multiply, [device])
        sampler.took(WARM_UPS)
        self._call = sampler.took(CALLS) / CALLS

    def queue(self, seconds: float) -> None:
        """Have the GPU work for so long, and do not wait for it."""
        for _ in range(ceil(seconds / self._call)):
            self._multiply()

    def keep_busy(self, seconds: float) -> None:
        """Have the GPU work for so long, and wait for it."""
        begun = perf_counter()
        while perf_counter() - begun < seconds:
            self.queue(seconds / 20)
            self._device.synchronize()

    def _multiply(self) -> None:
        torch.mm(self._a, self._b, out=self._product)
