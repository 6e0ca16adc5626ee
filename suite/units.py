# SPDX-License-Identifier: MIT
"""Numbers for people: the only place that knows micro and giga.

Rates, times, power and energy have decimal prefixes, as datasheets and links do, and so has the
capacity of a memory (GB). Other bytes have binary ones (KiB, MiB, GiB), as sizes in memory do. A
measured number is printed by `format_estimate`, with its interval and with no more digits than
that supports.
"""

import math

from suite.stored.run import Estimate

_DECIMAL = dict(
    zip(
        (1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12, 1e15),
        ("n", "\N{MICRO SIGN}", "m", "", "k", "M", "G", "T", "P"),
        strict=True,
    )
)
_BINARY = {1.0: "", 2.0**10: "Ki", 2.0**20: "Mi", 2.0**30: "Gi", 2.0**40: "Ti"}
_PREFIXES = {
    "s": {factor: prefix for factor, prefix in _DECIMAL.items() if factor <= 1},
    **dict.fromkeys(("FLOP", "FLOP/s", "op/s", "B/s", "Hz", "W", "J"), _DECIMAL),
    "B": _BINARY,
    "capacity": {factor: prefix for factor, prefix in _DECIMAL.items() if factor >= 1},
}
_SYMBOLS = {"capacity": "B"}
"""What is written for units that have another name here."""
NOT_FINITE = "beyond all numbers"
"""Stands for what is computed from absurd numbers."""
RATIO = "\N{MULTIPLICATION SIGN}"
"""The unit of a ratio."""
_FRACTION, _SIZE = "1", "n"
_DIGITS = 3
_MOST_DIGITS = 4


def format_estimate(estimate: Estimate, unit: str) -> str:
    """Return an estimate with its interval, such as "285 µs [281, 290]".

    All three numbers share a prefix and are rounded to one decimal place, which is a half
    to a twentieth of the interval's half-width. Without an interval the text says why:
    "285 µs (no interval: 3 launches)".

    unit : one of ``s``, ``FLOP``, ``FLOP/s``, ``op/s``, ``B/s``, ``B``, ``Hz``, ``W``, ``J``, the
        multiplication sign (a ratio), ``1`` (a fraction, shown in percent) and ``n`` (a size, a
        whole number); empty for a plain number. Any other is written behind the number, without a
        prefix
    """
    low, high = estimate.low, estimate.high
    if low is None or high is None:
        launches = counted(estimate.launches, "launch")
        return f"{format_value(estimate.value, unit)} (no interval: {launches})"
    if any(map(math.isinf, (estimate.value, low, high))):
        return NOT_FINITE
    factor, symbol = _scale(max(abs(estimate.value), (high - low) / 2), unit)
    value, low, high = estimate.value / factor, low / factor, high / factor
    step = _step(value, low, high)
    if unit == _SIZE:
        step = max(step, 1.0)
    return f"{_text(value, step)}{symbol} [{_text(low, step)}, {_text(high, step)}]"


def format_point(estimate: Estimate, unit: str) -> str:
    """Return an estimate's value alone, to the digits that its interval supports.

    For tables in which a ratio with its interval stands beside both its terms.
    """
    return format_estimate(estimate, unit).partition(" [")[0].partition(" (")[0]


def rounded(estimate: Estimate) -> float:
    """Return an estimate's value, in its own unit, to the digits that its interval supports."""
    low, high = estimate.low, estimate.high
    if low is None or high is None or any(map(math.isinf, (estimate.value, low, high))):
        return estimate.value
    step = _step(estimate.value, low, high)
    return round(estimate.value / step) * step


def format_ends(estimate: Estimate, unit: str) -> str:
    """Return the ends of an interval as `format_estimate` has them, such as "281 to 290 µs"."""
    text = format_estimate(estimate, unit)
    low, high = text.partition("[")[2].removesuffix("]").split(", ")
    return f"{low} to {high}{_behind(text.partition(' [')[0])}"


def format_value(value: float, unit: str, digits: int = _DIGITS) -> str:
    """Return a number that has no interval by nature, to some significant digits.

    For settings, sizes and datasheet figures; what was measured is for `format_estimate`.
    """
    if math.isinf(value):  # of a file that was changed
        return NOT_FINITE
    factor, symbol = _scale(abs(value), unit)
    number = value / factor
    step = min(1.0, _magnitude(number) / math.pow(10, digits - 1)) if number else 1.0
    text = _text(number, step)
    return (text.rstrip("0").rstrip(".") if "." in text else text) + symbol


def format_capacity(amount: float) -> str:
    """Return the bytes that a memory holds in words, such as "85 GB"."""
    return format_value(amount, "capacity")


def format_range(
    low: float, high: float, unit: str, between: str = " to ", digits: int = _DIGITS
) -> str:
    """Return two ends, such as "3.1 to 3.3 TB/s": the unit once where both have the same."""
    first, last = format_value(low, unit, digits), format_value(high, unit, digits)
    if first == last:
        return first
    same = _behind(last)
    return f"{first.removesuffix(same) if _behind(first) == same else first}{between}{last}"


def _behind(text: str) -> str:
    return text.lstrip("-0123456789.,")


def prefixed(magnitude: float, unit: str) -> tuple[float, str]:
    """Return what to divide numbers of that size by, and their unit with its prefix."""
    factor, symbol = _scale(abs(magnitude), unit)
    return factor, symbol.strip()


def format_seconds(seconds: float) -> str:
    """Return a time that has no interval by nature, such as a limit."""
    return format_value(seconds, "s")


def nanoseconds(seconds: float) -> float:
    """Return a time in nanoseconds, to the picosecond, for programs that want that unit."""
    return round(seconds / 1e-9, 3)


def counted(number: int, noun: str) -> str:
    """Return a number of things, such as "1 launch" or "12 cases"."""
    plural = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}{plural}"


def _scale(magnitude: float, unit: str) -> tuple[float, str]:
    """Return what to divide by, and what to write behind the number."""
    if unit in _PREFIXES:
        prefixes = _PREFIXES[unit]
        fitting = [factor for factor in prefixes if factor <= magnitude]
        factor = max(fitting, default=min(prefixes) if magnitude else 1.0)
        return factor, f" {prefixes[factor]}{_SYMBOLS.get(unit, unit)}"
    if unit == _FRACTION:
        return 0.01, "%"
    if unit == RATIO:
        return 1.0, RATIO
    return 1.0, f" {unit}" if unit not in {"", _SIZE} else ""


def _step(value: float, low: float, high: float) -> float:
    """Return the last decimal place that an interval supports, a power of ten.

    However wide the interval, what is away from zero keeps its first digit.
    """
    half = (high - low) / 2
    largest = max(abs(value), half)
    if largest == 0:
        return 1.0
    finest = _magnitude(largest) / math.pow(10, _MOST_DIGITS - 1)
    step = max(finest, _magnitude(half / 2)) if half else finest
    if low <= 0 <= high:
        return step
    nearest = min(abs(low), abs(value), abs(high))
    return min(step, max(finest, _magnitude(nearest)))


def _magnitude(value: float) -> float:
    return math.pow(10, math.floor(math.log10(abs(value)) + 1e-9))


def _text(number: float, step: float) -> str:
    """Return a number rounded to a power of ten, never "-0"."""
    decimals = max(0, round(-math.log10(step)))
    return f"{round(number / step) * step + 0.0:,.{decimals}f}"
