# SPDX-License-Identifier: MIT
"""What others measured and published, of devices whose figures are also measured here.

`published.csv` has a figure a row. It holds what corresponds to a headline figure of the suite:
the best rate of a large matrix product by precision, and the bandwidth of copies over the link to
the host, to another device and within the device's memory (there bytes read and written both
count). Left out is what was measured of something else: products of constant operands, small
products, copies whose host memory is not told, kernels launched without PyTorch, networks.

Others measure in their own way: a difference of some percent says nothing.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from frobench.suite.datasheets.catalog import rows

PATH = Path(__file__).with_name("published.csv")


class Published(NamedTuple):
    """A figure that somebody published.

    torch_name : a regular expression that the name given by torch matches
    quantity : ``matmul``, ``copy_within``, ``copy_between``, or ``copy_to_device_`` and
        ``copy_to_host_`` with ``pinned`` or ``pageable``
    precision : of a product, named as the benchmarks name it; empty for copies
    value : in ``unit``, FLOP/s or B/s
    source : its address, and in parentheses the file there
    as_of : the day, month or year it was published or read; empty where nobody says
    """

    device: str
    torch_name: str
    quantity: str
    precision: str
    value: float
    unit: str
    method: str
    software: str
    source: str
    as_of: str

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
