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
from functools import cache, partial
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

TILES = (256, 128, 64)
"""Rows or columns that one processor is given at a time."""
WHOLE_TILES = ((256, 128), (128, 256), (128, 128))
"""Tiles of the fastest kernels, by rows and columns."""
SMALLEST, LARGEST = 64, 2**15
"""The shortest and the longest side that is tried."""
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

_MOVES = [*product((-1, 0, 1), repeat=3)]
_OF_ONE_SIDE = [move for move in _MOVES if sorted(map(abs, move)) == [0, 0, 1]]
_OF_TWO_SIDES = [move for move in _MOVES if sorted(move) == [-1, 0, 1]]
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


@cache
def coarse(processors: int | None) -> list[Shape]:
    """Return the grid that is tried first: cubes, and shapes that fill the processors."""
    cubes = CUBES if processors else sorted(CUBES + BETWEEN_CUBES)
    grid = [Shape(side, side, side) for side in cubes]
    if not processors:
        return grid
    areas = (rounds * processors * WHOLE_TILES[0][0] * WHOLE_TILES[0][1] for rounds in ROUNDS)
    sides = [round(sqrt(area)) for area in areas if area <= LARGEST**2 / NEAR]
    filled = [_filling(Shape(side, 1, side), processors)[0] for side in sides]
    oblong = [shape._replace(inner=inner) for shape in filled for inner in INNERS]
    return grid + sorted(oblong, key=lambda shape: shape.flops)


def around(centre: Shape, processors: int | None) -> Iterator[Shape]:
    """Yield the neighbours of a shape: those that fill the processors, then ever nearer ones."""
    if processors:
        yield from _filling(centre, processors)
    for factor in FACTORS:
        for move in (*_OF_ONE_SIDE, *_OF_TWO_SIDES):
            yield Shape(*(_rounded(n * factor**way) for n, way in zip(centre, move, strict=True)))
    for tile in TILES:
        for move in _OF_ONE_SIDE:
            yield Shape(*(n + tile * way for n, way in zip(centre, move, strict=True)))


@cache
def _filling(centre: Shape, processors: int) -> list[Shape]:
    """Return the nearby shapes whose tiles divide most evenly among the processors."""
    area = centre.rows * centre.columns

    def merit(sides: tuple[int, int]) -> tuple[float, float]:
        """Order by the part of the processors that work with the worst of the tiles, then area."""
        rows, columns = sides
        tiles = (ceil(rows / tall) * ceil(columns / wide) for tall, wide in WHOLE_TILES)
        fullness = min(count / processors / ceil(count / processors) for count in tiles)
        return -fullness, abs(log2(rows * columns / area))

    pairs = sorted(product(_near(centre.rows), _near(centre.columns)), key=merit)
    return [Shape(rows, centre.inner, columns) for rows, columns in pairs[:FILLINGS]]


def _near(side: int) -> list[int]:
    """Return the sides of whole tiles near `side`; at least the nearest."""
    tile = TILES[0]
    sides = range(tile * ceil(side / NEAR / tile), min(LARGEST, int(side * NEAR)) + 1, tile)
    return list(sides) or [tile * max(1, round(side / tile))]


def _rounded(side: float) -> int:
    tile = TILES[1] if side >= 4 * TILES[0] else TILES[2]
    return max(1, round(side / tile)) * tile


class Try(Struct, frozen=True):
    """One try of a shape.

    seconds : of a call; ``None`` where the memory was too small
    spent : seconds that the try took, set-up included
    """

    shape: Shape
    seconds: float | None
    spent: float


class Limits(Struct, frozen=True):
    """Limits of a search.

    call : seconds that one call may take, by prediction
    seconds : that all tries may take together
    processors : of the device, if their number is known
    """

    call: float
    seconds: float
    processors: int | None = None


def proposal(tries: Sequence[Try], limits: Limits) -> Shape | None:
    """Return the shape to try next; ``None`` when the time is over or nothing promises more."""
    tried = _Tried(tries, limits.call)
    spent = sum(attempt.spent for attempt in tries)
    if len(tries) >= LEAST_TRIES and spent + spent / len(tries) > limits.seconds:
        return None
    leaders = [shape for shape in tried.ranked[:LEADERS] if tried.count(shape) < LEADER_TRIES]
    leader = min(leaders, key=tried.count, default=None)
    if spent < EXPLORING * limits.seconds or len(tries) < LEAST_TRIES:
        return next(_explored(tried, limits.processors), leader)
    return leader


def _explored(tried: "_Tried", processors: int | None) -> Iterator[Shape]:
    """Yield new shapes, and the fastest again, which may have been lucky, before neighbours."""
    yield from tried.new(coarse(processors))
    for centre in tried.ranked[:CENTRES]:
        if tried.count(centre) < CENTRE_TRIES:
            yield centre
        yield from tried.new(around(centre, processors))


def outcome(tries: Sequence[Try]) -> Search | None:
    """Return the fastest shape and the runner-up's rate; ``None`` where none had a result."""
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
        runner_up=min(1.0, tried.rates[second] / tried.rates[best]) if second else None,
    )


class _Tried:
    """The tries, by shape.

    longest : seconds that a call may take
    rates : the median rate of each shape that had a result, FLOP/s
    ranked : these shapes, the fastest first
    """

    def __init__(self, tries: Iterable[Try], longest: float = inf) -> None:
        self._seconds: defaultdict[Shape, list[float]] = defaultdict(list)
        self._longest = longest
        self._too_large = inf
        for attempt in tries:
            if attempt.seconds is None:
                self._too_large = min(self._too_large, attempt.shape.elements)
            else:
                self._seconds[attempt.shape].append(attempt.seconds)
        self.rates = {shape: shape.flops / median(took) for shape, took in self._seconds.items()}
        self.ranked = sorted(self.rates, key=self.rates.__getitem__, reverse=True)

    def count(self, shape: Shape) -> int:
        return len(self._seconds[shape])

    def new(self, shapes: Iterable[Shape]) -> Iterator[Shape]:
        return (shape for shape in shapes if shape not in self.rates and self._may(shape))

    def _may(self, shape: Shape) -> bool:
        """Tell whether a shape is small enough, by the rate of the nearest one tried."""
        if min(shape) < SMALLEST or max(shape) > LARGEST or shape.elements >= self._too_large:
            return False
        nearest = min(self.rates, key=partial(Shape.distance, shape), default=None)
        return nearest is None or shape.flops / self.rates[nearest] <= self._longest
