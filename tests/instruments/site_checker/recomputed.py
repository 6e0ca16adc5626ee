# SPDX-License-Identifier: MIT
"""Estimates from launches, written a second time from `docs/methodology.md`."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from tests.instruments.site_checker.printed import Row

LEAST, RANGE, AIM = 6, 6, 0.971
AIM_BY_COUNT = {7: 0.977, 8: 0.977, 9: 0.96, 12: 0.968, 15: 0.964, 18: 0.968}
OUTWARD, MOST_OUTWARD = 0.063, 0.5
STEP = 1e-3
"""Of the logarithm of a time."""
ByLaunch = Mapping[int, float]


def estimate(values: Iterable[float], unit: str) -> Row:
    """Return the median over launches with its interval; none below six launches."""
    ordered = sorted(values)
    low, high = interval(ordered) if len(ordered) >= LEAST else (None, None)
    return Row(median(ordered), low, high, len(ordered), unit)


def interval(ordered: Sequence[float]) -> tuple[float, float]:
    """Return the ends between which the median over all launches lies, from ascending values."""
    count = len(ordered)
    if count == RANGE:
        middle = median(ordered)
        low, high = (
            end + math.copysign(min(OUTWARD * abs(end - middle), MOST_OUTWARD * abs(end)), way)
            for end, way in ((ordered[0], -1), (ordered[-1], 1))
        )
        return low, high
    aim = AIM_BY_COUNT.get(count, AIM)
    cover = [1 - 2 * _below(count, rank) for rank in range(count // 2 + 1)]
    rank = max(rank for rank, part in enumerate(cover) if part >= aim)
    part = (cover[rank] - aim) / (cover[rank] - cover[rank + 1])
    inward = (count - rank) * part / (rank + (count - 2 * rank) * part)
    low, inner_low = ordered[rank - 1 : rank + 1]
    inner_high, high = ordered[count - rank - 1 : count - rank + 1]
    most = (inner_high - inner_low) / 2
    return (
        low + min(inward * (inner_low - low), most),
        high - min(inward * (high - inner_high), most),
    )


def _below(count: int, rank: int) -> float:
    """Return the chance that fewer than `rank` of the launches lie below the median."""
    return float(sum(math.comb(count, below) for below in range(rank)) / 2**count)


def log_seconds(medians: Iterable[float]) -> float | None:
    """Return the logarithm of the time that ratios are made of, in whole steps."""
    known = [one for one in medians if one > 0]
    return round(pseudomedian(known) / STEP) * STEP if known else None


def log_error(medians: Sequence[float]) -> float | None:
    """Return the standard error of the mean of the logs, and a quarter for launches being few."""
    if len(medians) < LEAST or min(medians) <= 0:
        return None
    logs = [math.log(one) for one in medians]
    mean = sum(logs) / len(logs)
    variance = sum((one - mean) ** 2 for one in logs) / (len(logs) - 1)
    return 1.25 * math.sqrt(variance / len(logs))


def pseudomedian(medians: Sequence[float]) -> float:
    """Return the median of the means of all pairs of logs, each with itself."""
    logs = [math.log(one) for one in medians]
    return median((one + two) / 2 for at, one in enumerate(logs) for two in logs[at:])


def same(one: float | None, other: float | None) -> bool:
    """Tell whether two numbers of tables are equal but for the order of additions."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-15)


def equal(one: Row, other: Row) -> bool:
    """Tell whether two estimates are equal but for the order of additions."""
    ends = ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    return all(same(*pair) for pair in ends) and one.launches == other.launches
