# SPDX-License-Identifier: MIT
"""Pieces of work that bodies repeat. All but the last two are small: torch uses one thread."""

from collections.abc import Callable

import torch
from torch import Tensor

Piece = Callable[[Tensor], Tensor]


def repeat(piece: Piece, numbers: Tensor, times: int) -> Tensor:
    """Do a piece of work several times."""
    for _ in range(times):
        result = piece(numbers)
    return result


def python(numbers: Tensor) -> Tensor:
    """Leave torch alone, most of the time."""
    total = 0
    for number in range(100):
        total += number
    return numbers[0]


def product(numbers: Tensor) -> Tensor:
    """Multiply on every core."""
    square = numbers.view(128, 128)
    return square @ square


PIECES: dict[str, tuple[Piece, int]] = {
    "add": (lambda numbers: numbers + numbers, 4096),
    "norm": (torch.linalg.vector_norm, 1024),
    "sort": (lambda numbers: numbers.sort().values, 128),
    "python": (python, 1),
    "product": (product, 128 * 128),
    "copy": (Tensor.clone, 2**18),
}
"""By name: the piece, and how many numbers it takes. The numbers of the first three fit into the
caches of a core, those of the copy do not. 100 repeats of the first four take 0.1 to 1 ms."""
