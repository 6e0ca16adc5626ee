# SPDX-License-Identifier: MIT
"""What others measured and published of devices.

`published.csv` has a figure a row: the best rate of a large matrix product by precision, the
bandwidth of the device's memory (of copies, in which bytes read and written both count, and of
kernels that only read), and of copies over the link to the host. Left out are products of constant
operands, small products, copies whose host memory is unknown, figures above what the device's own
datasheet allows, and devices on which no PyTorch of today computes.

Others measure in their own way: a difference of some percent says nothing.
"""

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NamedTuple

from frobench.suite.datasheets.catalog import rows

PATH = Path(__file__).with_name("published.csv")


class Published(NamedTuple):
    """A figure that somebody published.

    torch_name : a regular expression that the name given by torch matches
    quantity : ``matmul``, ``copy_within``, ``read_within``, or ``copy_to_device_pinned`` and
        ``copy_to_host_pinned``
    precision : of a product, named as the benchmarks name it; empty otherwise
    value : in ``unit``
    source : its address, and in parentheses the file there
    as_of : the day, month or year it was published or read; empty where that is unknown
    """

    device: str
    torch_name: str
    quantity: str
    precision: str
    value: float
    method: str
    software: str
    source: str
    as_of: str

    @property
    def unit(self) -> str:
        """The unit of `value`."""
        return "FLOP/s" if self.quantity == "matmul" else "B/s"

    @property
    def address(self) -> str:
        """Where a reader finds it."""
        return self.source.partition(" ")[0]


def read(path: Path = PATH) -> list[Published]:
    """Return all rows of a table of published figures.

    Raises `ValueError` if a row does not have the columns of `Published`, or a value is no number.
    """
    return [_figure(row, where) for where, row in rows(path, Published._fields)]


def _figure(row: list[str], where: str) -> Published:
    try:
        return Published._make([*row[:4], float(row[4]), *row[5:]])
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


_all = cache(read)


def of(name: str, quantity: str, precision: str = "") -> list[Published]:
    """Return the figures published of a device, the smallest first.

    name : as torch gives it
    """
    of_quantity = (row for row in _all() if (row.quantity, row.precision) == (quantity, precision))
    of_device = (row for row in of_quantity if re.search(row.torch_name, name))
    return sorted(of_device, key=lambda row: row.value)


def others(measured: Collection[str]) -> dict[str, list[Published]]:
    """Return the figures of devices by name, without those that were measured.

    measured : names as torch gives them
    """
    known: dict[str, list[Published]] = {}
    for row in _all():
        known.setdefault(row.device, []).append(row)
    return {
        device: figures
        for device, figures in known.items()
        if not any(re.search(figures[0].torch_name, name) for name in measured)
    }
