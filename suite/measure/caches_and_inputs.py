# SPDX-License-Identifier: MIT
"""What surrounds the samples: cold caches, and the inputs that a body reads."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from types import BuiltinMethodType, MethodType
from typing import TYPE_CHECKING, Any

from frobench.suite.kit.device import Device
from frobench.suite.lazy_torch import is_imported, torch
from frobench.suite.machine.host import last_level_cache
from frobench.suite.profiles import TIMES_THE_CACHE

if TYPE_CHECKING:
    from torch import Tensor

UNKNOWN_CPU_CACHE, UNKNOWN_CACHE = 64 * 2**20, 256 * 2**20
"""Bytes of a last-level cache of unknown size, of a CPU and of an accelerator: nearly all those of
2026 are no larger."""
KEPT = 1 / 16
"""The part of the free memory up to which the CPU's buffer is kept for further cases: to map 1 GiB
takes several times as long as to read it."""

_kept: "dict[int, Tensor]" = {}
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


def _buffer(device: Device) -> "Tensor":
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


LOOKED_AT = 4096
"""Elements of a tensor that are looked at, drawn at random."""
LEAST_ELEMENTS = 16
"""Smaller tensors are scales and counters."""
SMALL = 0.1
"""A tensor smaller than this part of the largest may be plain: biases are, and sums use ones."""
MOST_TENSORS = 16
_BITS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


class Inputs:
    """The tensors that bodies hold, noted before a body is first called.

    PyTorch counts the writes to a tensor, which tells outputs from inputs afterwards.
    """

    def __init__(self, *bodies: object) -> None:
        self._held: dict[int, tuple[Tensor, int]] = {}
        for body in bodies if is_imported() else ():
            with suppress(Exception):  # a look must not fail a case, whatever a body holds
                self._held |= {id(tensor): (tensor, tensor._version) for tensor in _held(body)}  # noqa: SLF001 - has no public name

    def devices(self) -> set[str]:
        """Return the names of the devices that hold any of the bodies' tensors."""
        return {str(tensor.device) for tensor, _ in self._held.values()}

    def commonest(self) -> float | None:
        """Return the largest part of any input's elements with the same value, 0 to 1, if any."""
        held = self._held.values()
        read = [tensor for tensor, version in held if tensor._version == version]  # noqa: SLF001 - as above
        least = SMALL * max((tensor.numel() for tensor, _ in held), default=0)
        inputs = [tensor for tensor in read if tensor.numel() >= least][:MOST_TENSORS]
        parts = [_commonest(tensor) for tensor in inputs]
        return max((part for part in parts if part is not None), default=None)


def _held(value: Any, depth: int = 4) -> "Iterator[Tensor]":  # noqa: ANN401 - whatever it holds
    if isinstance(value, torch.Tensor):
        number = value.is_floating_point() or value.dtype == torch.int8  # others index and mask
        if number and value.numel() >= LEAST_ELEMENTS:
            yield value
    elif depth:
        for each in _inside(value):
            yield from _held(each, depth - 1)


def _inside(value: Any) -> Iterable[Any]:  # noqa: ANN401 - whatever it holds
    if isinstance(value, torch.nn.Module):
        return value.parameters()
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, MethodType | BuiltinMethodType):
        return [value.__self__]
    contents = []
    for cell in getattr(value, "__closure__", None) or ():
        with suppress(ValueError):  # a cell that is still empty
            contents.append(cell.cell_contents)
    return contents


def _commonest(tensor: "Tensor") -> float | None:
    with suppress(Exception):  # a look must not fail a case, whatever a backend lacks
        values = tensor.detach()
        if values.itemsize == 1:
            values = values.view(torch.uint8)  # not every narrow type can be indexed
        if values.numel() > LOOKED_AT:
            chance = torch.Generator()  # torch's own is the benchmark's
            draw = partial(torch.randint, 0, size=(LOOKED_AT,), generator=chance)
            values = values[tuple(draw(high=size).to(values.device) for size in values.shape)]
        flat = values.cpu().contiguous().view(-1)
        _, counts = torch.unique(
            flat.view(getattr(torch, _BITS[flat.itemsize])), return_counts=True
        )
        return int(counts.max()) / flat.numel()
    return None
