# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - one of two modules of this name; the run chooses by its search path
"""What the bodies of the separate runs import: how often they repeat their work."""

from collections.abc import Callable

from torch import Tensor

REPEATS = 110


def repeat(piece: Callable[[Tensor], Tensor], numbers: Tensor) -> Tensor:
    """Do a piece of work several times."""
    for _ in range(REPEATS):
        result = piece(numbers)
    return result
