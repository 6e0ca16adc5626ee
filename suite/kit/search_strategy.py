# SPDX-License-Identifier: MIT
"""The search for the shape of product that a device multiplies fastest.

A small product is slowed by its overhead, a large one by caches or a power limit. Libraries cut a
product into tiles, and the last round leaves processors idle unless the tiles divide evenly among
them. So the search tries a coarse grid, of shapes that fill the processors if their number is
known; then ever nearer neighbours of the fastest; then the leaders again, so that no shape wins by
luck. The next shape follows from the tries alone, so an interrupted search can go on.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from math import ceil, inf, log2, sqrt
from statistics import median
from typing import NamedTuple

from msgspec import Struct

from frobench.suite.stored.types import Search

CENTRES, LEADERS = 3, 5
"""Shapes whose neighbours are tried, and shapes that may win in the end."""
CENTRE_TRIES, LEADER_TRIES = 2, 5
"""Tries of a shape before its neighbours are tried, and tries of a leader at most."""
EXPLORING = 0.7
"""The part of the time after which no new shape is tried."""
LEAST_TRIES = 6
"""Tries that are made however little time there is."""

SMALLEST, LARGEST = 64, 2**15
"""The shortest and the longest side that is tried; sides are multiples of the shortest."""
TILE = 256
"""Rows or columns between two shapes that fill the processors."""
WHOLE_TILES = ((256, 128), (128, 256), (128, 128))
"""Tiles of the fastest kernels, by rows and columns."""
CUBES = tuple(2**power for power in range(8, 15))
BETWEEN_CUBES = tuple(3 * 2**power for power in range(7, 13))
ROUNDS = (1, 2, 4, 8, 16, 32)
"""How many tiles each processor is given in the coarse grid, where their number is known."""
INNERS = (1024, 2048, 4096, 8192, 16384)
"""Inner sides in that part of the grid."""
FACTORS = (2.0, 1.5, 1.25)
"""Factors between neighbours, the coarsest first; the nearest neighbours differ by a tile."""
NEAR, FILLINGS = 1.3, 6
"""The largest factor by which a side changes to fill the processors, and how many such shapes are
tried."""

_OF_ONE_SIDE = [move for move in product((-1, 0, 1), repeat=3) if sum(map(abs, move)) == 1]
_OF_TWO_SIDES = [move for move in product((-1, 0, 1), repeat=3) if sorted(move) == [-1, 0, 1]]
"""One side grows and another shrinks."""


class Shape(NamedTuple):
    """The sides of a product: rows x inner times inner x columns."""

    rows: int
    inner: int
    columns: int

    @property
    def flops(self) -> float:
        """Floating-point operations, counted from the definition."""
        return 2.0 * self.rows * self.inner * self.columns

    @property
    def elements(self) -> int:
        """Elements of the factors and of the product."""
        return self.rows * self.inner + self.inner * self.columns + self.rows * self.columns

    def distance(self, other: "Shape") -> float:
        """Return how often sides must be doubled or halved to make one shape the other."""
        return sum(abs(log2(mine / its)) for mine, its in zip(self, other, strict=True))


class Try(Struct, frozen=True):
    """One try of a shape.

    seconds : of a call; ``None`` where the memory was too small
    spent : seconds that the try took, set-up included
    """

    shape: Shape
    seconds: float | None
    spent: float


@cache
def coarse(processors: int | None) -> list[Shape]:
    """Return the grid that is tried first: cubes, and shapes that fill the processors."""
    if not processors:
        return [Shape(side, side, side) for side in sorted(CUBES + BETWEEN_CUBES)]
    areas = (rounds * processors * WHOLE_TILES[0][0] * WHOLE_TILES[0][1] for rounds in ROUNDS)
    filled = [_filling(round(sqrt(area)), round(sqrt(area)), processors)[0] for area in areas]
    oblong = [Shape(rows, inner, columns) for rows, columns in filled for inner in INNERS]
    cubes = [Shape(side, side, side) for side in CUBES]
    return cubes + sorted(oblong, key=lambda shape: shape.flops)


def around(centre: Shape, processors: int | None) -> Iterator[Shape]:
    """Yield the neighbours of a shape: those that fill the processors, then ever nearer ones."""
    if processors:
        for rows, columns in _filling(centre.rows, centre.columns, processors):
            yield Shape(rows, centre.inner, columns)
    for factor, move in product(FACTORS, (*_OF_ONE_SIDE, *_OF_TWO_SIDES)):
        sides = (side * factor**way / SMALLEST for side, way in zip(centre, move, strict=True))
        yield Shape(*(SMALLEST * max(1, round(side)) for side in sides))
    for tile, move in product((TILE, TILE // 2, TILE // 4), _OF_ONE_SIDE):
        yield Shape(*(side + tile * way for side, way in zip(centre, move, strict=True)))


@cache
def _filling(rows: int, columns: int, processors: int) -> list[tuple[int, int]]:
    """Return nearby rows and columns whose tiles divide most evenly among the processors."""

    def merit(sides: tuple[int, int]) -> tuple[float, float]:
        """Order by the rounds that the worst of the tiles wastes, then by the area."""
        tiles = (ceil(sides[0] / tall) * ceil(sides[1] / wide) for tall, wide in WHOLE_TILES)
        rounds = [count / processors for count in tiles]
        area = abs(log2(sides[0] * sides[1] / (rows * columns)))
        return max(ceil(count) / count for count in rounds), area

    tall, wide = (
        range(TILE * max(1, ceil(side / NEAR / TILE)), int(side * NEAR) + TILE, TILE)
        for side in (rows, columns)
    )
    return sorted(product(tall, wide), key=merit)[:FILLINGS]


def proposal(
    tries: Sequence[Try], call: float, seconds: float, processors: int | None = None
) -> Shape | None:
    """Return the shape to try next; ``None`` when the time is over or nothing promises more.

    call : seconds that one call may take, by prediction
    seconds : that all tries may take together
    processors : of the device, if their number is known
    """
    took, rates, ranked = _ranked(tries)
    too_large = min((one.shape.elements for one in tries if one.seconds is None), default=inf)
    spent, few = sum(one.spent for one in tries), len(tries) < LEAST_TRIES
    if not few and spent + spent / len(tries) > seconds:
        return None

    def is_new(shape: Shape) -> bool:
        """Tell whether a shape is small enough, by the rate of the nearest one tried."""
        if shape in rates or min(shape) < SMALLEST or max(shape) > LARGEST:
            return False
        nearest = min(rates, key=shape.distance, default=None)
        in_time = nearest is None or shape.flops / rates[nearest] <= call
        return in_time and shape.elements < too_large

    def explored() -> Iterator[Shape]:
        """Yield new shapes, and the fastest again, which may have been lucky, before neighbours."""
        yield from filter(is_new, coarse(processors))
        for centre in ranked[:CENTRES]:
            if len(took[centre]) < CENTRE_TRIES:
                yield centre
            yield from filter(is_new, around(centre, processors))

    leaders = [shape for shape in ranked[:LEADERS] if len(took[shape]) < LEADER_TRIES]
    leader = min(leaders, key=lambda shape: len(took[shape]), default=None)
    return next(explored(), leader) if few or spent < EXPLORING * seconds else leader


def outcome(tries: Sequence[Try]) -> Search | None:
    """Return the fastest shape and the runner-up's rate; ``None`` where none had a result."""
    took, rates, ranked = _ranked(tries)
    if not ranked:
        return None
    most = max(len(took[shape]) for shape in ranked[:LEADERS])
    best = next(shape for shape in ranked if len(took[shape]) >= min(most, CENTRE_TRIES))
    second = next((shape for shape in ranked if shape != best), None)
    return Search(
        shape=[*best],
        shapes=len(ranked),
        seconds=round(sum(attempt.spent for attempt in tries), 3),
        runner_up=min(1.0, rates[second] / rates[best]) if second else None,
    )


def _ranked(
    tries: Iterable[Try],
) -> tuple[dict[Shape, list[float]], dict[Shape, float], list[Shape]]:
    """Return the seconds of each shape that had a result, its rate, and the fastest first."""
    took: defaultdict[Shape, list[float]] = defaultdict(list)
    for attempt in tries:
        if attempt.seconds is not None:
            took[attempt.shape].append(attempt.seconds)
    rates = {shape: shape.flops / median(seconds) for shape, seconds in took.items()}
    return took, rates, sorted(rates, key=rates.__getitem__, reverse=True)
