# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Are 100 repeats of a piece of work told from another 100, and from 102?"""  # noqa: D400 - a question

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from frobench import Device, Measure, Work, cases, close_to

REPEATS = 100

Piece = Callable[[Tensor], Tensor]


@cases("quick", piece=["add", "norm", "sort", "python"], repeats=[REPEATS, REPEATS + 2])
def bench_repeats(measure: Measure, device: Device, piece: str, repeats: int) -> None:
    """Do a piece of work so often, beside 100 times."""
    work, size = PIECES[piece]
    numbers = device.uniform(size)
    measure(
        partial(repeat, work, numbers, repeats),
        against=partial(repeat, work, numbers, REPEATS),
        work=Work(items=repeats),
        check=close_to(work(numbers.double()), 1e-5, "the last piece"),
    )


def repeat(piece: Piece, numbers: Tensor, times: int) -> Tensor:
    """Do a piece of work several times."""
    for _ in range(times):
        result = piece(numbers)
    return result


def add(numbers: Tensor) -> Tensor:
    """Add in the caches."""
    return numbers + numbers


def norm(numbers: Tensor) -> Tensor:
    """Reduce in the caches."""
    length: Tensor = torch.linalg.vector_norm(numbers)
    return length


def sort(numbers: Tensor) -> Tensor:
    """Compare and branch."""
    return numbers.sort().values


def python(numbers: Tensor) -> Tensor:
    """Leave torch alone, most of the time."""
    total = 0
    for number in range(100):
        total += number
    return numbers[0]


# Small enough for torch to stay in one thread; 100 repeats take 0.1 to 1 ms.
PIECES: dict[str, tuple[Piece, int]] = {
    "add": (add, 4096),
    "norm": (norm, 1024),
    "sort": (sort, 128),
    "python": (python, 1),
}
