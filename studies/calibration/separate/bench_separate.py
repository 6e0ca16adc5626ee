# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Is the same code called different in separate runs, and slower code called slower?"""  # noqa: D400 - a question

from functools import partial

import torch
from subject import repeat
from torch import Tensor

from frobench import Device, Measure, Work, cases, close_to

PIECES = ["add", "norm", "sort", "python", "product", "copy"]


@cases("quick", piece=PIECES)
def bench_separate(measure: Measure, device: Device, piece: str) -> None:
    """Do a piece of work as often as the imported code says."""
    work, size = WORKS[piece]
    numbers = device.uniform(size)
    measure(
        partial(repeat, work, numbers),
        work=Work(items=1),
        check=close_to(work(numbers.double()), 1e-4, "the last piece"),
    )


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
    for number in range(500):
        total += number
    return numbers[0]


def product(numbers: Tensor) -> Tensor:
    """Multiply on every core."""
    square = numbers.view(128, 128)
    return square @ square


def copy(numbers: Tensor) -> Tensor:
    """Move what no cache next to a core holds."""
    return numbers.clone()


WORKS = {
    "add": (add, 4096),
    "norm": (norm, 1024),
    "sort": (sort, 128),
    "python": (python, 1),
    "product": (product, 128 * 128),
    "copy": (copy, 2**18),
}
