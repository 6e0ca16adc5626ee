# SPDX-License-Identifier: MIT
"""What devices cost: a dated price with its source where somebody knows one, and nothing else.

A table of prices is `prices.csv` or a file of the buyer's, of the same columns (`docs/prices.md`);
the two are never mixed. A device that the table does not have has no price.
"""

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from frobench.reports.table.equipment import Equipment
from frobench.suite.datasheets.catalog import MEMORY_SEEN, rows

PATH = Path(__file__).with_name("prices.csv")
LIMITS = 1e-6, 1e12
"""Of a price: what lies beyond is a slip, and spoils every chart that it is on."""
_CURRENCY = re.compile(r"[A-Z]{3}")
HOUR = "hour"
"""What a price to rent is for."""


class Price(NamedTuple):
    """A row of a table of prices."""

    torch_name: re.Pattern[str]
    memory_bytes: int | None
    price: float
    currency: str
    date: str
    kind: str
    source: str
    per: str = ""


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
        if one.torch_name.search(name)
        and (
            one.memory_bytes is None
            or (memory_bytes is not None and low <= memory_bytes / one.memory_bytes <= high)
        )
    ]
    newest = max((one.date for one in fitting), default=None)
    found = [one for one in fitting if one.date == newest]
    return found[0] if len(found) == 1 else None


def _price(row: list[str], where: str) -> Price:
    """Read a row, and name the column of the first thing that is wrong."""
    cells = dict(zip(Price._fields, (cell.strip() for cell in row), strict=True))
    column = ""
    try:
        for column in ("torch_name", "currency", "date", "kind", "source"):
            _demand(cells[column], "is empty")
        column = "torch_name"
        pattern = re.compile(cells[column])
        column = "memory_bytes"
        memory = int(cells[column]) if cells[column] else None
        _demand(memory is None or memory > 0, "is not positive")
        column = "price"
        price = float(cells[column])
        low, high = LIMITS
        _demand(low <= price <= high, f"is not from {low:f} to {high:,.0f}")
        column = "currency"
        _demand(_CURRENCY.fullmatch(cells[column]), "is no code of three capitals (ISO 4217)")
        column = "date"
        day = date.fromisoformat(cells[column]).isoformat()
        column = "per"
        _demand(cells[column] in {"", HOUR}, f"is neither {HOUR} nor empty")
    except (ValueError, re.error) as error:
        raise ValueError(f"{where}: {column} {cells[column]!r}: {error}") from error
    words = (cells[name] for name in ("kind", "source", "per"))
    return Price(pattern, memory, price, cells["currency"], day, *words)


def _demand(holds: object, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)
