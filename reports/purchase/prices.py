# SPDX-License-Identifier: MIT
"""What devices cost: a dated price with its source where somebody knows one, and nothing else.

A table of prices is `prices.csv` or a file of the buyer's, of the same columns (`docs/prices.md`);
the two are never mixed. A device that the table does not have has no price.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

from msgspec import Meta, ValidationError, convert

from frobench.reports.table.equipment import Equipment
from frobench.suite.datasheets.catalog import MEMORY_SEEN, rows

PATH = Path(__file__).with_name("prices.csv")
LIMITS = 1e-6, 1e12
"""Of a price: what lies beyond is a slip, and spoils every chart that it is on."""
HOUR = "hour"
"""What a price to rent is for."""


_Words = Annotated[str, Meta(min_length=1)]


class Price(NamedTuple):
    """A row of a table of prices: its columns, and what a cell of each may hold."""

    torch_name: _Words
    memory_bytes: Annotated[int, Meta(gt=0)] | None
    price: Annotated[float, Meta(ge=LIMITS[0], le=LIMITS[1])]
    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")]
    date: Annotated[str, Meta(pattern=r"^\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])$")]
    kind: _Words
    source: _Words
    per: Annotated[str, Meta(pattern=f"^({HOUR}|)$")] = ""


def read(path: Path = PATH) -> list[Price]:
    """Return the rows of a table of prices.

    Raises `ValueError` if a row is wrong (the message names its line and column), and `OSError` if
    the file cannot be read.
    """
    *columns, per = Price._fields
    return [_price(row, where) for where, row in rows(path, columns, [per])]


def total(known: Sequence[Price], bought: Equipment, per: str = "") -> Price | None:
    """Return what all devices of a machine cost together, as one row has it.

    They are bought, or with ``per=HOUR`` rented for an hour. Of several rows for a device the
    newest counts, and of several of that day none, because nobody can say which. Nothing is said
    either of devices of which one has no price, or whose prices differ in more than the amount.
    """
    known = [one for one in known if one.per == per]
    each = [_newest(known, one.name, one.memory_bytes) for one in bought.accelerators] or [
        _newest(known, bought.device, None)
    ]
    found = [price for price in each if price is not None]
    alike = {price[3:] for price in found}
    if len(found) < len(each) or len(alike) > 1:
        return None
    return found[0]._replace(price=sum(price.price for price in found))


def _newest(known: Sequence[Price], name: str, memory_bytes: int | None) -> Price | None:
    low, high = MEMORY_SEEN
    fitting = [
        one
        for one in known
        if re.search(one.torch_name, name)
        and (not one.memory_bytes or low <= (memory_bytes or 0) / one.memory_bytes <= high)
    ]
    newest = max((one.date for one in fitting), default=None)
    found = [one for one in fitting if one.date == newest]
    return found[0] if len(found) == 1 else None


def _price(row: list[str], where: str) -> Price:
    """Read a row, and name the column of the first thing that is wrong."""
    read: dict[str, Any] = {}
    for (column, kind), cell in zip(
        get_type_hints(Price, include_extras=True).items(), map(str.strip, row), strict=True
    ):
        given = None if column == "memory_bytes" and not cell else cell
        try:
            read[column] = convert(given, kind, strict=False)
            re.compile(cell if column == "torch_name" else "")
        except (ValidationError, re.error) as error:
            raise ValueError(f"{where}: {column} {cell!r}: {error}") from error
    return Price(**read)
