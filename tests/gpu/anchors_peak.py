# SPDX-License-Identifier: MIT
"""The fastest shape of a bfloat16 product: the suite's search held against a scan."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

import torch

from frobench.suite.errors import DoesNotFitError
from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Shape
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.stored import store
from frobench.suite.stored.types import Search
from studies.peers.tool import ROOT, Order, run
from tests.gpu.anchors_measure import in_turn
from tests.gpu.goals import SEARCH, Peak

PEAK_CASE = "bench_product and bfloat16"
STEPS = (1024, 256, 128, 64)
"""Sides of the coarse grid are multiples of the first, and differ from a leader's by the others."""
LARGEST = 20 * STEPS[0]
AROUND, LEADERS, FINALISTS = 3, 12, 8
"""Steps to each side of a leader, leaders whose neighbours are tried, and shapes in the final."""
COARSE_PART = 0.6
"""The part of a scan's time that the coarse grid may take."""
TRIES, FINAL_CALLS = 3, 7
"""Calls whose median tells a shape's rate, in the scan and in each round of the final."""
BYTES_A_SIDE = 14
"""Of memory for both factors, the product, and what the factors are drawn in, by side squared."""


def search(device: Device, folder: Path) -> Search:
    """Return what the suite's own search finds in three minutes, as a user has it searched.

    folder : of the run that this takes; if one lies there already, it is asked instead
    """
    if not (stored := sorted(folder.glob("*/*.json"))):
        _, said = run(
            *("-m", "frobench", "run", "-k", PEAK_CASE, "--devices", device.name),
            *("--peak", "--launches", 1, "--results", folder.resolve()),
            order=Order(bodies=(), folder=folder.resolve(), processes=1, device=device.name),
        )
        stored = [ROOT / said.splitlines()[-1]]
    name = f"bench_product[{device.name}-bfloat16]"
    (case,) = (one for one in store.read(stored[-1]).benchmarks if one.name == name)
    assert case.extra_info.search is not None
    return case.extra_info.search


class Products:
    """Products of any shape, made of the same random numbers, so that none have to be drawn."""

    def __init__(self, device: Device, largest: int = LARGEST) -> None:
        self._device = device
        self.largest = largest
        try:
            device.require(BYTES_A_SIDE * largest**2)
        except DoesNotFitError:
            self.largest = largest // 2
        self._a, self._b = (device.uniform(self.largest**2, dtype="bfloat16") for _ in "ab")

    def rate(self, shape: Shape, calls: int) -> float:
        """Return the median FLOP/s of some calls, after one that is not looked at."""
        rows, inner, columns = shape
        a = self._a[: rows * inner].view(rows, inner)
        b = self._b[: inner * columns].view(inner, columns)
        sampler = Sampler(partial(torch.matmul, a, b), [self._device])
        sampler.took()
        return shape.flops / median(sampler.took() for _ in range(calls))


def scan(
    products: Products, seconds: float, step: int = STEPS[0]
) -> tuple[dict[Shape, float], int]:
    """Try shapes for so long: a coarse grid at random, then ever nearer neighbours of the fastest.

    Returns the rate of each shape that was tried, and how many of them are the grid's.
    """
    chance, begun = Random(0), perf_counter()  # noqa: S311 - not for secrets
    rates: dict[Shape, float] = {}

    def visit(shapes: Iterable[Shape], until: float) -> None:
        left = [shape for shape in shapes if shape not in rates]
        chance.shuffle(left)
        for shape in left:
            if perf_counter() - begun > until:
                break
            rates[shape] = products.rate(shape, TRIES)

    sides = range(step, products.largest + 1, step)
    visit((Shape(*sides) for sides in product(sides, repeat=3)), COARSE_PART * seconds)
    grid = len(rates)
    for fine in (step * finer // STEPS[0] for finer in STEPS[1:]):
        near = {one for leader in fastest(rates, LEADERS) for one in _around(leader, fine)}
        possible = (one for one in sorted(near) if fine <= min(one) <= max(one) <= products.largest)
        visit(possible, seconds)
    return rates, grid


def _around(shape: Shape, step: int) -> Iterator[Shape]:
    """Yield all shapes whose sides differ from another's by a few steps at most."""
    for moves in product(range(-AROUND, AROUND + 1), repeat=3):
        yield Shape(*(side + step * by for side, by in zip(shape, moves, strict=True)))


def fastest(rates: Mapping[Shape, float], count: int) -> list[Shape]:
    """Return the shapes of the highest rates."""
    return sorted(rates, key=lambda shape: -rates[shape])[:count]


def peak(device: Device, seconds: float, rounds: int, found: Search) -> Peak:
    """Scan for so long, then measure the fastest and what the suite's search found in turn."""
    products, begun = Products(device), perf_counter()
    rates, grid = scan(products, seconds)
    took = perf_counter() - begun
    finalists = {SEARCH: Shape(*found.shape)} | {
        f"scan, number {place}": shape
        for place, shape in enumerate(fastest(rates, FINALISTS), start=1)
    }
    ways = {name: partial(products.rate, shape, FINAL_CALLS) for name, shape in finalists.items()}
    return Peak(
        search_seconds=found.seconds,
        scan_seconds=took,
        tried=len(rates),
        grid=grid,
        shapes={name: [*shape] for name, shape in finalists.items()},
        rates=in_turn(ways, rounds),
    )
