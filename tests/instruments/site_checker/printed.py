# SPDX-License-Identifier: MIT
"""Printed numbers read back: "12.3 µs [12.1, 12.6]" is three numbers of seconds, and a precision.

The three share a unit and a last decimal place. Trailing zeros before the point may be places
that are not printed, so the place is the coarsest that all three allow; a number without an
interval has three digits.
"""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

RATIO = "\N{MULTIPLICATION SIGN}"
DECIMAL = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
DECIMAL |= {"P": 1e15}
BINARY = {"": 1.0, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
BASES = dict.fromkeys(("FLOP/s", "op/s", "B/s", "FLOP", "Hz", "W", "J", "s"), DECIMAL)
BASES |= {"B": BINARY | {name: factor for name, factor in DECIMAL.items() if factor > 1}}
"""Units with prefixes; of two that fit the first is meant."""
_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
_WORD = r"[^\s\d\[\](),;:.|-][^\s\d\[\](),;:|]*"
_PLAIN = rf"(?<![\w.,-])({_NUMBER})((?:[ \u00a0]?{_WORD}(?: per {_WORD})?)?)"
_INTERVAL = rf"\[({_NUMBER}), ({_NUMBER})\]|\((?:no interval: )?(\d+) launch(?:es)?\)"
DIGITS = 3
"""Of a number without an interval."""


class Row(NamedTuple):
    """A number of a download, in a unit without a prefix."""

    value: float
    low: float | None = None
    high: float | None = None
    launches: int | None = None
    unit: str = ""


class Printed(NamedTuple):
    """A printed number.

    row : as exact as it is printed; its launches are known where they are too few for an interval
    step : its last place, in the same unit
    """

    text: str
    row: Row
    step: float

    def agrees(self, row: Row) -> bool:
        """Tell whether it is a row of a download, rounded to the printed place."""
        if row.unit not in self.units():
            return False
        launches = self.row.launches
        if launches is not None and (row.low is not None or launches != row.launches):
            return False
        return all(map(self._near, self.row[:3], row[:3]))

    def _near(self, shown: float | None, true: float | None) -> bool:
        if shown is None or true is None:
            return shown is true
        return abs(shown - true) <= self.step / 2 + 1e-9 * max(abs(shown), self.step)

    def units(self) -> tuple[str, ...]:
        """Return the units of rows that it may be."""
        return (self.row.unit,) if self.row.unit else ("", "n", RATIO)


def estimates(text: str) -> Iterator[Printed]:
    """Yield the numbers with intervals, or with the reason why they have none."""
    for found in re.finditer(rf"{_PLAIN}\s*(?:{_INTERVAL})", text):
        value, unit, low, high, launches = found.groups()
        factor, base = scale(unit.strip())
        begin, end = (None if launches else _number(one) * factor for one in (low, high))
        step = _digits(value) if launches else _place((value, low, high))
        count = int(launches) if launches else None
        row = Row(_number(value) * factor, begin, end, count, base)
        yield Printed(found[0], row, step * factor)


def scale(unit: str) -> tuple[float, str]:
    """Return how much a printed unit is, and the unit without its prefix."""
    if unit == "%":
        return 0.01, "1"
    for base, prefixes in BASES.items():
        prefix = unit.removesuffix(base)
        if unit.endswith(base) and prefix in prefixes:
            return prefixes[prefix], base
    return 1.0, unit


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _place(texts: tuple[str, ...]) -> float:
    """Return the last decimal place of numbers that share it."""
    decimals = max(len(text.partition(".")[2]) for text in texts)
    if decimals:
        return 10.0**-decimals
    whole = [abs(int(_number(text))) for text in texts if _number(text)]
    zeros = [len(str(one)) - len(str(one).rstrip("0")) for one in whole]
    return 10.0 ** min(zeros, default=0)


def _digits(text: str) -> float:
    """Return the last place of a number of three digits; more are printed before the point."""
    number = abs(_number(text))
    magnitude = math.floor(math.log10(number)) if number else 0
    return float(10.0 ** min(0, magnitude - DIGITS + 1))
