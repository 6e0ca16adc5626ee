# SPDX-License-Identifier: MIT
"""The search for the shape of product that a device multiplies fastest.

A fast product fills its device evenly, is large enough to hide what every product costs, and
not so large that caches or a power limit slow it down. So a coarse grid is tried first, then
ever nearer neighbours of the fastest, and at last the leaders in turn once more: the winner
shall not be the one that was merely lucky.

What is tried next follows from what was tried before, and from nothing else. So a search that
was interrupted goes on where it was, once it is told that.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from math import inf
from statistics import median

from msgspec import Struct

from suite.kit.shapes import Shape, around, coarse
from suite.stored.run import Search

CENTRES, LEADERS = 3, 5
"""Shapes whose neighbours are tried, and shapes that may win in the end."""
CENTRE_TRIES, LEADER_TRIES = 2, 5
"""Tries without which neighbours are not looked at, and after which a leader is known."""
EXPLORING = 0.7
"""The part of the time after which nothing new is tried."""
LEAST_TRIES = 6
"""Tries that are made however little time there is."""


class Try(Struct, frozen=True):
    """What one attempt showed.

    seconds : of a call; ``None`` where the memory was too small
    spent : seconds that the attempt took, set-up included
    """

    shape: Shape
    seconds: float | None
    spent: float


class Limits(Struct, frozen=True):
    """What a search keeps to.

    call : seconds that one call may take, by prediction
    seconds : that all tries may take together
    processors : how many the device divides a product among, if that is known
    """

    call: float
    seconds: float
    processors: int | None = None


def proposal(tries: Sequence[Try], limits: Limits) -> Shape | None:
    """Return what to try next; ``None`` when the time is over or nothing promises more."""
    tried = _Tried(tries, limits.call)
    spent = sum(attempt.spent for attempt in tries)
    if len(tries) >= LEAST_TRIES and spent + spent / len(tries) > limits.seconds:
        return None
    if spent < EXPLORING * limits.seconds or len(tries) < LEAST_TRIES:
        new = tried.first_new(coarse(limits.processors)) or _explore(tried, limits.processors)
        if new is not None:
            return new
    leaders = [shape for shape in tried.ranked[:LEADERS] if tried.count(shape) < LEADER_TRIES]
    return min(leaders, key=tried.count, default=None)


def outcome(tries: Sequence[Try]) -> Search | None:
    """Return which shape was fastest, and how sure that is; ``None`` where none had a result."""
    tried = _Tried(tries)
    if not tried.ranked:
        return None
    most = max(tried.count(shape) for shape in tried.ranked[:LEADERS])
    best = next(shape for shape in tried.ranked if tried.count(shape) >= min(most, CENTRE_TRIES))
    second = next((shape for shape in tried.ranked if shape != best), None)
    return Search(
        shape=[*best],
        shapes=len(tried.ranked),
        seconds=round(sum(attempt.spent for attempt in tries), 3),
        runner_up=min(1.0, tried.rate(second) / tried.rate(best)) if second else None,
    )


def _explore(tried: "_Tried", processors: int | None) -> Shape | None:
    """Return a new neighbour of the fastest shapes, or one of these that may have been lucky."""
    for centre in tried.ranked[:CENTRES]:
        if tried.count(centre) < CENTRE_TRIES:
            return centre
        new = tried.first_new(around(centre, processors))
        if new is not None:
            return new
    return None


class _Tried:
    """What was tried, by shape.

    longest : seconds that a call may take
    ranked : the shapes that had a result, the fastest first
    """

    def __init__(self, tries: Iterable[Try], longest: float = inf) -> None:
        self._seconds: dict[Shape, list[float]] = {}
        self._longest = longest
        self._too_large = inf
        for attempt in tries:
            if attempt.seconds is None:
                self._too_large = min(self._too_large, attempt.shape.elements)
            else:
                self._seconds.setdefault(attempt.shape, []).append(attempt.seconds)
        self._rates = {shape: shape.flops / median(took) for shape, took in self._seconds.items()}
        self.ranked = sorted(self._rates, key=self.rate, reverse=True)

    def rate(self, shape: Shape) -> float:
        """Return the median rate of a shape's tries, FLOP/s."""
        return self._rates[shape]

    def count(self, shape: Shape) -> int:
        """Return how often a shape was tried."""
        return len(self._seconds[shape])

    def first_new(self, shapes: Iterable[Shape]) -> Shape | None:
        """Return the first shape that was not tried yet and is not too large."""
        return next(
            (shape for shape in shapes if shape not in self._rates and self._may(shape)), None
        )

    def _may(self, shape: Shape) -> bool:
        """Tell whether a shape is small enough, by what the nearest of those tried took."""
        if not shape.is_sensible or shape.elements >= self._too_large:
            return False
        nearest = min(self._rates, key=partial(Shape.distance, shape), default=None)
        return nearest is None or shape.flops / self.rate(nearest) <= self._longest
