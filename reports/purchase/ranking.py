# SPDX-License-Identifier: MIT
"""Which of several machines are surely faster than which, each two by what they measured alone.

Two ratios to the same reference may rest on cases that are not alike, since the one machine lacks
some and the other others. So whether two separate is never told from these: their own comparison
tells, of which either is the reference, and no third machine has a say in it.

The page's script does the same in `static/economics.js`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from reports.purchase.comparison import Comparison
from reports.purchase.economics import Speed, overall

T = TypeVar("T")
Faster = Callable[[T, T], bool]
"""Whether the first of two is surely faster than the second."""


class Place(NamedTuple):
    """A rank as far as it is sure: machines that do not separate share one at least."""

    first: int
    last: int


def beside(
    comparisons: Mapping[str, Comparison], one: str, other: str, weights: Mapping[str, float]
) -> Speed | None:
    """Return how fast a machine is beside another, by the comparison of these two.

    Parameters
    ----------
    comparisons
        By reference, each with all machines.
    one, other
        Their runs.
    weights
        By exercise; those without one count for nothing.
    """
    held = comparisons[other]
    machine = next(each for each in held.machines if each.run == one)
    every = {each.name: weights.get(each.name, 0.0) for each in held.exercises}
    return overall(held, machine, every).speed


def surely(speed: Speed | None, than: float = 1.0) -> bool:
    """Tell whether a machine is surely more than so many times as fast as the reference.

    Where launches are too few, or without a common case, nothing is sure.
    """
    if speed is None or speed.error is None or speed.quantile is None:
        return False
    return speed.log - math.log(than) > speed.quantile * speed.error


def places(machines: Sequence[T], faster: Faster[T]) -> list[Place]:
    """Rank machines by speed, each from the best place it may have to the worst.

    A machine is behind those that are surely faster and before those that are surely slower. It
    reaches down to the best place of each that it is not surely faster than, so that two which do
    not separate always share one, whoever stands between them.
    """
    firsts = [1 + sum(faster(other, one) for other in machines) for one in machines]

    def last(one: T) -> int:
        before = sum(faster(one, other) for other in machines)
        ranked = zip(machines, firsts, strict=True)
        level = (first for other, first in ranked if not faster(one, other))
        return max(len(machines) - before, *level)

    return [Place(first, last(one)) for one, first in zip(machines, firsts, strict=True)]


def beaters(options: Sequence[tuple[float, T]], faster: Faster[T]) -> list[list[T]]:
    """Return for each machine those that cost no more and are surely faster.

    It is on the Pareto front of speed against a cost where there are none.

    Parameters
    ----------
    options
        Each machine's cost, of which less is better (a price, watts; less its memory), and itself.
    """
    return [
        [other for its, other in options if its <= cost and faster(other, one)]
        for cost, one in options
    ]
