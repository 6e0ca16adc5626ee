# SPDX-License-Identifier: MIT
"""Shapes of products, and which of them are worth a try on a device that nobody knows.

Libraries cut a product into tiles and give each processor of the device some of them. The
last round leaves processors idle unless the number of tiles divides evenly among them, so
where their number is known, shapes that do are tried first.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from math import ceil, log2, sqrt
from typing import NamedTuple

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
"""How long the sums are in that part of the grid."""
FACTORS = (2.0, 1.5, 1.25)
"""By what neighbours differ, the coarsest first, before they differ by a tile."""
NEAR, FILLINGS = 1.3, 6
"""By which factor a side may change to fill the processors, and how many such shapes count."""

_MOVES = sorted(
    (move for move in product((-1, 0, 1), repeat=3) if any(move)),
    key=lambda move: (sum(map(abs, move)), abs(sum(move))),
)
_ALONE, _TRADED = 6, 12
"""Moves of one side are the first six; in the next six one side grows and another shrinks."""


class Shape(NamedTuple):
    """A product of rows x inner and inner x columns."""

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

    @property
    def is_sensible(self) -> bool:
        """Whether no side is shorter or longer than is ever worth a try."""
        return min(self) >= SMALLEST and max(self) <= LARGEST

    def distance(self, other: "Shape") -> float:
        """Return how often sides must be doubled or halved to get from one to the other."""
        return sum(abs(log2(mine / its)) for mine, its in zip(self, other, strict=True))


@cache
def coarse(processors: int | None) -> list[Shape]:
    """Return the grid that is tried first: cubes, and what gives each processor as much to do.

    processors : how many the device divides a product among, if that is known
    """
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
    """Yield the neighbours of a shape: those that fill the processors, then the coarse ones."""
    if processors:
        yield from _filling(centre, processors)
    for factor in FACTORS:
        for move in _MOVES[:_TRADED]:
            yield Shape(*(_rounded(n * factor**way) for n, way in zip(centre, move, strict=True)))
    for tile in TILES:
        for move in _MOVES[:_ALONE]:
            yield Shape(*(n + tile * way for n, way in zip(centre, move, strict=True)))


@cache
def _filling(centre: Shape, processors: int) -> list[Shape]:
    """Return the nearby shapes whose tiles divide most evenly among the processors."""
    area = centre.rows * centre.columns

    def merit(sides: tuple[int, int]) -> tuple[float, float]:
        return -_fullness(*sides, processors), abs(log2(sides[0] * sides[1] / area))

    pairs = sorted(product(_near(centre.rows), _near(centre.columns)), key=merit)
    return [Shape(rows, centre.inner, columns) for rows, columns in pairs[:FILLINGS]]


def _fullness(rows: int, columns: int, processors: int) -> float:
    """Return the part of the processors that work, on average, with the least suitable tile."""
    tiles = (ceil(rows / tall) * ceil(columns / wide) for tall, wide in WHOLE_TILES)
    return min(count / processors / ceil(count / processors) for count in tiles)


def _near(side: int) -> list[int]:
    """Return the sides near another one that are whole tiles; the nearest at least."""
    tile = TILES[0]
    sides = range(tile * ceil(side / NEAR / tile), min(LARGEST, int(side * NEAR)) + 1, tile)
    return list(sides) or [tile * max(1, round(side / tile))]


def _rounded(side: float) -> int:
    """Round a side to whole tiles, small ones where it is short."""
    tile = TILES[1] if side >= 4 * TILES[0] else TILES[2]
    return max(1, round(side / tile)) * tile
