# SPDX-License-Identifier: MIT
"""Cold caches: what a body read or wrote last time is no longer in them when it is called again.

Between samples, outside the clocks, a buffer of twice the last-level cache is read on each device.
It is not written, or the body would pay for writing back what the caches still hold of it. On an
accelerator the caches of the CPU stay as they are: what launching costs when its code is not in
them is another question.
"""

from collections.abc import Iterable
from contextlib import suppress

import torch
from torch import Tensor

from frobench.suite.kit.device import Device
from frobench.suite.machine.processor import last_level_cache
from frobench.suite.profiles import TIMES_THE_CACHE

UNKNOWN_CPU_CACHE, UNKNOWN_CACHE = 64 * 2**20, 256 * 2**20
"""Bytes of a last-level cache of unknown size, of a CPU and of an accelerator: nearly all those of
2026 are no larger."""
KEPT = 1 / 16
"""The part of the free memory up to which the CPU's buffer is kept for further cases: to map 1 GiB
takes several times as long as to read it."""

_kept: dict[int, Tensor] = {}
"""The CPU's buffer, by its size in bytes."""


class ColdCaches:
    """Reads over the caches of some devices whenever it is called.

    The number of the call is written into both ends of each buffer, so the sum of its elements
    shows afterwards whether it was really read.
    """

    def __init__(self, devices: Iterable[Device]) -> None:
        self._calls = 0
        self._buffers = [_buffer(device) for device in devices]
        self._sums: list[Tensor] = []

    def __call__(self) -> None:
        """Read over the caches."""
        self._calls += 1
        for buffer in self._buffers:
            buffer[0] = buffer[-1] = self._calls
        self._sums = [buffer.sum() for buffer in self._buffers]

    def bytes_on(self, device: Device) -> int:
        """Return the bytes that this takes of a device's memory."""
        return sum(buffer.nbytes for buffer in self._buffers if buffer.device == device.handle)

    def flushed_bytes(self) -> int:
        """Return the bytes that each call read on every device, 0 if it did not."""
        return min(
            buffer.nbytes * (float(total) == 2 * self._calls)
            for buffer, total in zip(self._buffers, self._sums, strict=True)
        )


def _buffer(device: Device) -> Tensor:
    size = TIMES_THE_CACHE * cache_bytes(device)
    if not device.is_accelerator and size in _kept:
        return _kept[size]
    plenty = size <= KEPT * device.free_bytes()
    device.require(size)
    buffer = torch.zeros(size // 4, device=device.handle)
    if plenty and not device.is_accelerator:
        _kept[size] = buffer
    return buffer


def cache_bytes(device: Device) -> int:
    """Return the bytes of a device's last-level cache, or what is taken for it."""
    if not device.is_accelerator:
        return last_level_cache() or UNKNOWN_CPU_CACHE
    size = 0
    with suppress(AttributeError, NotImplementedError, RuntimeError):  # not every backend tells
        size = device.properties.L2_cache_size or 0
    # Behind the cache that ROCm tells of lies a larger one.
    return max(size, UNKNOWN_CACHE) if torch.version.hip or not size else size
