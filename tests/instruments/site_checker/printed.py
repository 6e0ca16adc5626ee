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
UNITS = {*BASES, "1", RATIO}
"""Units that are no words."""
_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
_WORD = r"[^\s\d\[\](),;:.|-][^\s\d\[\](),;:|]*"
_UNIT = rf"(?:[ \u00a0]?{_WORD}(?: per {_WORD})?)?"
_ESTIMATE = re.compile(
    rf"(?<![\w.,-])({_NUMBER})({_UNIT})\s*"
    rf"(?:\[({_NUMBER}), ({_NUMBER})\]|\((?:no interval: )?(\d+) launch(?:es)?\))"
)
_PLAIN = re.compile(rf"(?<![\w.,-])({_NUMBER})({_UNIT})")
DIGITS = 3
"""Of a number without an interval."""


class Row(NamedTuple):
    """A number as a download has it, in a unit without a prefix."""

    value: float
    low: float | None
    high: float | None
    launches: int | None
    unit: str


class Printed(NamedTuple):
    """A printed number: the ends are ``None`` where it has no interval, `step` is its last place.

    factor : what one of its unit is
    launches : as printed, where launches are too few for an interval
    """

    text: str
    value: float
    low: float | None
    high: float | None
    launches: int | None
    factor: float
    unit: str
    step: float

    def agrees(self, row: Row) -> bool:
        """Tell whether it is a row of a download, rounded to the printed place."""
        if self.unit != row.unit and not (self.unit == "" and row.unit in {"n", RATIO}):
            return False
        if self.launches is not None and (row.low is not None or self.launches != row.launches):
            return False
        pairs = [(self.value, row.value)]
        if self.launches is None:
            pairs += [(self.low or 0.0, row.low or 0.0), (self.high or 0.0, row.high or 0.0)]
            if (self.low is None) != (row.low is None):
                return False
        return all(self.near(shown, true) for shown, true in pairs)

    def near(self, shown: float, true: float) -> bool:
        """Tell whether a number as it is printed is another one, rounded."""
        error = abs(shown - true / self.factor)
        return error <= self.step / 2 + 1e-9 * max(abs(shown), self.step)

    def within(self, ceiling: "Printed") -> "Printed":
        """Let a part of a ceiling be off by as much as the ceiling is rounded."""
        return self._replace(step=self.step + self.value * ceiling.step / ceiling.value)

    def is_value(self, true: float) -> bool:
        """Tell whether the number alone is another one, rounded."""
        return self.near(self.value, true)

    def to_last_digit(self) -> "Printed":
        """Let the last digit be the finest place: an interval that stands elsewhere decides it."""
        number, *_ = re.findall(_NUMBER, self.text)
        decimals = len(number.partition(".")[2])
        return self._replace(step=max(self.step, 10.0**-decimals))


def estimates(text: str) -> Iterator[Printed]:
    """Yield the numbers with intervals, or with the reason why they have none."""
    for found in _ESTIMATE.finditer(text):
        value, unit, low, high, launches = found.groups()
        factor, base = scale(unit.strip())
        step = _digits(value) if launches else _place((value, low, high))
        count = None if launches is None else int(launches)
        begin, end = (None if launches else _number(one) for one in (low, high))
        yield Printed(found[0], _number(value), begin, end, count, factor, base, step)


def plain(text: str) -> Iterator[Printed]:
    """Yield all numbers as such that have no interval."""
    for found in _PLAIN.finditer(text):
        factor, base = scale(found[2].strip())
        value = _number(found[1])
        yield Printed(found[0], value, None, None, None, factor, base, _digits(found[1]))


def first(text: str) -> Printed | None:
    """Return the number that a text begins with, if it begins with one."""
    found = next(plain(text), None)
    return found if found and text.startswith(found.text) else None


def first_number(text: str) -> str:
    """Return the number that a text begins with, without its unit."""
    found = re.match(_NUMBER, text)
    return found[0].rstrip(",") if found else text


def scale(unit: str) -> tuple[float, str]:
    """Return what a printed unit is of one without a prefix, and that one."""
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
