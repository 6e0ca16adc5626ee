# SPDX-License-Identifier: MIT
"""What speed costs: to buy, to run, and beside other machines.

Speed is relative: a machine's work in a time, in units of what the reference does in it. Money is
in whatever currency the prices are in; nothing here converts one. Where an amount is not known
there is nothing to ask of these functions, so a price, a power or a memory is always a number.

The page's script does the same with what a reader sets.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reports.purchase.comparison import Comparison, Exercise, Less, Machine, Rate

DAYS_A_YEAR = 365
JOULES_A_KWH = 3.6e6
SECONDS_AN_HOUR = 3600


class Amount(NamedTuple):
    """A number with its 95% interval, whose ends are ``None`` where launches are too few."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Speed:
    """How many times as fast as the reference a machine is.

    Parameters
    ----------
    log, error
        The ratio's logarithm and its standard error; ``None`` where launches are too few.
    quantile
        See `reports.purchase.comparison.Machine`.
    """

    log: float
    error: float | None
    quantile: float | None

    @property
    def ratio(self) -> Amount:
        """The ratio itself."""
        if self.error is None or self.quantile is None:
            return Amount(math.exp(self.log), None, None)
        half = self.quantile * self.error
        return Amount(*(math.exp(self.log + part) for part in (0.0, -half, half)))


@dataclass(frozen=True)
class Overall:
    """A machine's speed over several exercises, as far as it and the reference have both.

    Parameters
    ----------
    speed
        The weighted geometric mean over the exercises with common cases: no shift, nothing
        filled in. ``None`` without any.
    exercises, of
        How many exercises are in it, and how many have a weight.
    cases, every
        The common cases in it, and the reference's in all exercises that have a weight.
    best, worst
        The ratio if all that is missing were as good, or bad, as the machine's best or worst of
        the same kind (`reports.purchase.comparison.Machine`). No interval: what if. ``None``
        where an exercise has nothing to go by.
    """

    speed: Speed | None
    exercises: int
    of: int
    cases: int
    every: int
    best: float | None
    worst: float | None


@dataclass(frozen=True)
class Use:
    """What a machine is bought for.

    Parameters
    ----------
    share
        The part of these hours in which it draws all that it may; in the rest it counts as off.
    """

    hours_a_day: float
    years: float
    price_a_kwh: float
    share: float = 1.0

    @property
    def busy_seconds(self) -> float:
        """How long it draws its power in its life."""
        return self.hours_a_day * SECONDS_AN_HOUR * DAYS_A_YEAR * self.years * self.share


def overall(
    comparison: Comparison, machine: Machine, weights: Mapping[str, float] | None = None
) -> Overall:
    """Return a machine's speed over all exercises.

    Parameters
    ----------
    weights
        By exercise, instead of the comparison's own; of 0 or more.
    """
    said = weights or {}
    wanted = {one.name: said.get(one.name, one.weight) for one in comparison.exercises}
    asked = [one for one in comparison.exercises if wanted[one.name] > 0]
    there = [one for one in asked if one.name in machine.logs]
    return Overall(
        speed=_speed(comparison.exercises, machine, {one.name: wanted[one.name] for one in there}),
        exercises=len(there),
        of=len(asked),
        cases=sum(machine.counts[one.name] for one in there),
        every=sum(one.total for one in asked),
        best=_if(asked, machine.best, wanted),
        worst=_if(asked, machine.worst, wanted),
    )


def single(comparison: Comparison, machine: Machine, exercise: str) -> Speed | None:
    """Return a machine's speed in one exercise; ``None`` without a common case."""
    there = {exercise: 1.0} if exercise in machine.logs else {}
    return _speed(comparison.exercises, machine, there)


def _speed(
    exercises: Sequence[Exercise], machine: Machine, weights: Mapping[str, float]
) -> Speed | None:
    if not weights:
        return None
    every = sum(weights.values())
    shares = [weights.get(one.name, 0.0) / every for one in exercises]
    log = sum(weight * machine.logs[name] for name, weight in weights.items()) / every
    if machine.covariance is None:
        return Speed(log, None, None)
    variance = sum(
        one * other * value
        for one, row in zip(shares, machine.covariance, strict=True)
        for other, value in zip(shares, row, strict=True)
    )
    return Speed(log, math.sqrt(max(variance, 0.0)), machine.quantile)


def _if(
    asked: Sequence[Exercise], logs: Mapping[str, float | None], weights: Mapping[str, float]
) -> float | None:
    known = [(weights[one.name], log) for one in asked if (log := logs[one.name]) is not None]
    if not known or len(known) < len(asked):
        return None
    return math.exp(sum(weight * log for weight, log in known) / sum(w for w, _ in known))


def per_work(amount: float, speed: Speed) -> Amount:
    """Return what a unit of work takes of an amount, such as a price: amount / speed.

    The unit of work is what the reference does in the time, so that for the reference itself
    this is its own amount.
    """
    value, low, high = speed.ratio
    return Amount(amount / value, high and amount / high, low and amount / low)


def work_per(speed: Speed, amount: float) -> Amount:
    """Return the work for each unit of an amount, such as a watt: speed / amount."""
    value, low, high = speed.ratio
    return Amount(value / amount, low and low / amount, high and high / amount)


def work_per_joule(energy: Less) -> Amount:
    """Return how many times the reference's work a joule does, by what was measured.

    It is another thing than work per watt of a limit, and never stands in its place.
    """
    error = None if energy.variance is None else math.sqrt(energy.variance)
    return Speed(energy.log, error, energy.quantile).ratio


def price_per_rate(price: float, rate: Rate, count: int = 1) -> Amount:
    """Return the price of a FLOP/s at the rate that was measured.

    Parameters
    ----------
    price
        Of all devices.
    count
        How many devices the price is for; the rate is one's.
    """
    low, high = rate.high and price / rate.high, rate.low and price / rate.low
    parts = (one and one / count for one in (low, high))
    return Amount(price / rate.value / count, *parts)


def memory_per_price(memory_bytes: int, price: float) -> float:
    """Return the bytes for each unit of money."""
    return memory_bytes / price


def ownership(price: float, watts: float, use: Use) -> float:
    """Return what it costs to buy a machine and to run it: price and energy, nothing else."""
    return price + watts * use.busy_seconds / JOULES_A_KWH * use.price_a_kwh
