# SPDX-License-Identifier: MIT
"""A look at what a body works on: zeros, ones and identities are no fair inputs.

They run faster than random numbers on devices whose power is limited, and hide mistakes. What a
body holds is found in its closure and its bound arguments.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from types import BuiltinMethodType, MethodType
from typing import Any

import torch
from torch import Tensor

LOOKED_AT = 4096
"""Elements of a tensor that are looked at, drawn at random."""
LEAST_ELEMENTS = 16
"""Smaller tensors are scales and counters."""
SMALL = 0.1
"""A tensor smaller than this part of the largest may be plain: biases are, and sums use ones."""
MOST_TENSORS = 16
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Inputs:
    """The tensors that bodies hold, noted before a body is first called.

    PyTorch counts the writes to a tensor, which tells outputs from inputs afterwards.
    """

    def __init__(self, *bodies: object) -> None:
        self._held: dict[int, tuple[Tensor, int]] = {}
        for body in bodies:
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


def _held(value: Any, depth: int = 4) -> Iterator[Tensor]:  # noqa: ANN401 - whatever it holds
    if isinstance(value, Tensor):
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


def _commonest(tensor: Tensor) -> float | None:
    with suppress(Exception):  # a look must not fail a case, whatever a backend lacks
        values = tensor.detach()
        if values.itemsize == 1:
            values = values.view(torch.uint8)  # not every narrow type can be indexed
        if values.numel() > LOOKED_AT:
            chance = torch.Generator()  # torch's own is the benchmark's
            draw = partial(torch.randint, 0, size=(LOOKED_AT,), generator=chance)
            values = values[tuple(draw(high=size).to(values.device) for size in values.shape)]
        flat = values.cpu().contiguous().view(-1)
        _, counts = torch.unique(flat.view(_BITS[flat.itemsize]), return_counts=True)
        return int(counts.max()) / flat.numel()
    return None
