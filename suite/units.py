# SPDX-License-Identifier: MIT
"""Numbers for people: the only place that knows micro and giga.

Prefixes are decimal, as on datasheets; bytes have binary ones (KiB), but the capacity of a memory
is called as it is sold: 24 GB for 24 GiB. A measured number is printed by `format_estimate`, with
its interval and no more digits than that supports.
"""

import math

from frobench.suite.stored.machine_identity import memory_as_sold
from frobench.suite.stored.types import Estimate

_SMALL = {1e-9: "n", 1e-6: "\N{MICRO SIGN}", 1e-3: "m", 1.0: ""}
_LARGE = {1e3: "k", 1e6: "M", 1e9: "G", 1e12: "T", 1e15: "P"}
_BINARY = {1.0: "", 2.0**10: "Ki", 2.0**20: "Mi", 2.0**30: "Gi", 2.0**40: "Ti"}
_PREFIXES = {
    "s": _SMALL,
    "B": _BINARY,
    **dict.fromkeys(("FLOP", "FLOP/s", "op/s", "B/s", "Hz", "W", "J"), _SMALL | _LARGE),
}
NOT_FINITE = "beyond all numbers"
"""Stands for what is computed from absurd numbers."""
RATIO = "\N{MULTIPLICATION SIGN}"
"""The unit of a ratio."""
_SIZE = "n"
_WITHOUT_PREFIX = {"1": (0.01, "%"), RATIO: (1.0, RATIO), "": (1.0, ""), _SIZE: (1.0, "")}
_DIGITS = 3
_MOST_DIGITS = 4


def format_estimate(estimate: Estimate, unit: str) -> str:
    """Return an estimate with its interval, such as "285 µs [281, 290]".

    All three numbers share a prefix and a last decimal place, a half to a twentieth of the
    interval's half-width. Without an interval: "285 µs (no interval: 3 launches)".

    unit : ``s``, ``FLOP``, ``FLOP/s``, ``op/s``, ``B/s``, ``B``, ``Hz``, ``W``, ``J``, `RATIO`,
        ``1`` (a fraction, shown in percent), ``n`` (a size, a whole number), or empty. Any other
        is written behind the number, without a prefix
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
    """Return an estimate's value alone, to the digits that its interval supports."""
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
    """Return a number that was not measured, such as a setting, to some significant digits."""
    if math.isinf(value):  # of a file that was changed
        return NOT_FINITE
    factor, symbol = _scale(abs(value), unit)
    number = value / factor
    step = min(1.0, _magnitude(number) / math.pow(10, digits - 1)) if number else 1.0
    text = _text(number, step)
    return (text.rstrip("0").rstrip(".") if "." in text else text) + symbol


def format_capacity(amount: float) -> str:
    """Return how many bytes a memory holds, as it is sold, such as "24 GB"."""
    return f"{memory_as_sold(amount):,} GB"


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
    """Return a time that was not measured, such as a limit."""
    return format_value(seconds, "s")


def nanoseconds(seconds: float) -> float:
    """Return a time in nanoseconds, to the picosecond, for programs that want that unit."""
    return round(seconds / 1e-9, 3)


def capital(sentence: str) -> str:
    """Begin a sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def counted(number: int, noun: str) -> str:
    """Return a number of things, such as "1 launch" or "12 cases"."""
    plural = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}{plural}"


def _scale(magnitude: float, unit: str) -> tuple[float, str]:
    """Return what to divide by, and what to write behind the number."""
    prefixes = _PREFIXES.get(unit)
    if prefixes is None:
        return _WITHOUT_PREFIX.get(unit, (1.0, f" {unit}"))
    fitting = [factor for factor in prefixes if factor <= magnitude]
    factor = max(fitting, default=min(prefixes) if magnitude else 1.0)
    return factor, f" {prefixes[factor]}{unit}"


def _step(value: float, low: float, high: float) -> float:
    """Return the last decimal place that an interval supports, a power of ten.

    However wide the interval, a number keeps two digits, and an end away from zero its first.
    """
    half = (high - low) / 2
    largest = max(abs(value), half)
    if largest == 0:
        return 1.0
    finest = _magnitude(largest) / math.pow(10, _MOST_DIGITS - 1)
    step = max(finest, _magnitude(half / 2)) if half else finest
    if low <= 0 <= high:
        return min(step, _magnitude(largest) / 10)
    nearest = min(abs(low), abs(value), abs(high))
    return min(step, max(finest, min(_magnitude(nearest), _magnitude(value) / 10)))


def _magnitude(value: float) -> float:
    return math.pow(10, math.floor(math.log10(abs(value)) + 1e-9))


def _text(number: float, step: float) -> str:
    """Return a number rounded to a power of ten, an integer times it, so never "-0"."""
    decimals = max(0, round(-math.log10(step)))
    return f"{round(number / step) * step:,.{decimals}f}"
