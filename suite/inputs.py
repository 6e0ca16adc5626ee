# SPDX-License-Identifier: MIT
"""A look at what a body works on: zeros, ones and identities are no fair inputs.

They run measurably faster than random numbers on devices whose power is limited, and hide
mistakes. What a body holds is found in its closure and its bound arguments.
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
    """The tensors that a body holds, looked at before it is first called.

    A tensor that the body writes over is plain before (zeros to write into) or after
    (filled with a number), and an input is the same at both times.
    """

    def __init__(self, body: object) -> None:
        found = {id(tensor): tensor for tensor in _held(body)}.values()
        least = SMALL * max((tensor.numel() for tensor in found), default=0)
        self._tensors = [tensor for tensor in found if tensor.numel() >= least][:MOST_TENSORS]
        self._before = [_commonest(tensor) for tensor in self._tensors]

    def commonest(self) -> float | None:
        """Return the largest part of any input's elements with one and the same value.

        ``None`` where the body holds no tensor that says something.
        """
        parts = [
            min(before, after)
            for before, after in zip(self._before, map(_commonest, self._tensors), strict=True)
            if before is not None and after is not None
        ]
        return max(parts, default=None)


def _held(value: Any, depth: int = 4) -> Iterator[Tensor]:  # noqa: ANN401 - whatever it holds
    """Yield the tensors within reach of a value."""
    if isinstance(value, Tensor):
        if value.numel() >= LEAST_ELEMENTS and value.dtype != torch.bool:
            yield value
    elif depth:
        for each in _inside(value):
            yield from _held(each, depth - 1)


def _inside(value: Any) -> Iterable[Any]:  # noqa: ANN401 - whatever it holds
    """Return what a value holds, if it is one of those that hold something."""
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
    found = []
    for cell in getattr(value, "__closure__", None) or ():
        with suppress(ValueError):  # a cell that is still empty
            found.append(cell.cell_contents)
    return found


def _commonest(tensor: Tensor) -> float | None:
    """Return the part of a tensor's elements that have its commonest value."""
    with suppress(RuntimeError, NotImplementedError):  # a look must not fail a case
        seen = tensor.detach()
        if seen.itemsize == 1:
            seen = seen.view(torch.uint8)  # not every narrow type can be indexed
        if seen.numel() > LOOKED_AT:
            chance = torch.Generator()  # torch's own is the benchmark's
            draw = partial(torch.randint, 0, size=(LOOKED_AT,), generator=chance)
            seen = seen[tuple(draw(high=size).to(seen.device) for size in seen.shape)]
        flat = seen.cpu().contiguous().view(-1)
        _, counts = torch.unique(flat.view(_BITS[flat.itemsize]), return_counts=True)
        return int(counts.max()) / flat.numel()
    return None
