# SPDX-License-Identifier: MIT
"""A search comes near the best of a device whose every shape is known, in few tries."""

import math
from collections.abc import Callable
from random import Random

import pytest

from frobench.suite.kit.search_strategy import (
    LEADER_TRIES,
    LEAST_TRIES,
    Shape,
    Try,
    outcome,
    proposal,
)

CALL = 0.05
"""Seconds that a call may take."""
Surface = Callable[[Shape], float]
Limits = tuple[float, float, int | None]
"""Seconds of a call and of all tries, and the processors."""
ANY_TILE = ((256, 128, 1.0), (128, 256, 1.0), (128, 128, 0.95), (64, 128, 0.85), (64, 64, 0.7))


def chip(
    processors: int,
    rate: float,
    tiles: tuple[tuple[int, int, float], ...] = ANY_TILE,
    throttling: float = 0.0,
    calm: float = 1e12,
) -> Surface:
    """Build an accelerator: whole rounds of tiles, and a power limit that large products meet.

    throttling, calm : part by which each doubling of the operations above `calm` slows it
    """

    def seconds(shape: Shape) -> float:
        rounds = (
            math.ceil(math.ceil(shape.rows / tall) * math.ceil(shape.columns / wide) / processors)
            * (tall * wide / speed)
            for tall, wide, speed in tiles
        )
        slowed = 1 + throttling * max(0.0, math.log2(shape.flops / calm))
        return 1e-5 + slowed * min(rounds) * 2 * (shape.inner + 200) * processors / rate

    return seconds


def cached(rate: float, cache: float, loss: float) -> Surface:
    """Build a CPU: slower where the matrices leave its cache, and where sides are short."""

    def seconds(shape: Shape) -> float:
        filled = math.prod(
            side / (side + edge) for side, edge in zip(shape, (24, 40, 24), strict=True)
        )
        left = 1 / (1 + (cache / (4 * shape.elements)) ** 3)
        return 5e-6 + shape.flops / (rate * filled * (1 - loss * left))

    return seconds


SURFACES: dict[str, tuple[Surface, int | None]] = {
    "132 processors": (chip(132, 9e14, throttling=0.02), 132),
    "108 of one kernel": (chip(108, 3e14, ((256, 128, 1.0),), 0.03, 2e11), 108),
    "82 processors": (chip(82, 7e13), 82),
    "113, a prime": (chip(113, 1e14, ((128, 256, 1.0),), 0.02, 1e11), 113),
    "ten small ones": (chip(10, 3e12, ((64, 64, 1.0),)), 10),
    "a CPU with a plateau": (cached(1.1e11, 8e6, 0.1), None),
    "a CPU with a cliff": (cached(4e12, 1e8, 0.3), None),
}


def exhaustive(seconds: Surface) -> float:
    """Return the best rate on a grid of 256 in rows and columns and 2048 in what is summed."""
    sides, inners = range(256, 16385, 256), range(512, 16385, 2048)
    shapes = (Shape(m, k, n) for m in sides for n in sides for k in inners)
    return max(
        shape.flops / took
        for shape in shapes
        if shape.flops <= 2.0 * 16384**3 and (took := seconds(shape)) <= CALL
    )


def searched(
    seconds: Surface, limits: Limits, noise: float, seed: int, most: int = 1000
) -> list[Try]:
    """Search with tries of a second each, at most `most` of them."""
    random, tries = Random(seed), list[Try]()  # noqa: S311 - not for secrets
    while len(tries) < most and (shape := proposal(tries, *limits)) is not None:
        took = seconds(shape)
        assert took <= 1.5 * limits[0]
        tries.append(Try(shape, took * random.lognormvariate(0.0, noise), 1.0))
    return tries


def reached(seconds: Surface, tries: list[Try]) -> float:
    """Return the true rate of the shape that tries led to."""
    found = outcome(tries)
    assert found is not None
    shape = Shape(*found.shape)
    return shape.flops / seconds(shape)


@pytest.fixture(scope="module")
def best() -> dict[str, float]:
    return {name: exhaustive(seconds) for name, (seconds, _) in SURFACES.items()}


@pytest.mark.parametrize("name", SURFACES)
def test_it_comes_within_two_percent_of_an_exhaustive_scan(
    name: str, best: dict[str, float]
) -> None:
    seconds, processors = SURFACES[name]
    for seed in range(4):
        tries = searched(seconds, (CALL, 80.0, processors), 0.01, seed)
        assert len(tries) <= 80
        assert reached(seconds, tries) >= 0.98 * best[name]


@pytest.mark.parametrize("name", SURFACES)
def test_noise_of_three_percent_rarely_costs_more(name: str, best: dict[str, float]) -> None:
    seconds, processors = SURFACES[name]
    limits = (CALL, 100.0, processors)
    parts = [
        reached(seconds, searched(seconds, limits, 0.03, seed)) / best[name] for seed in range(9)
    ]
    assert sorted(parts)[4] >= 0.98
    assert min(parts) >= 0.95


def test_it_is_the_same_for_what_was_tried_and_goes_on_where_it_was() -> None:
    seconds, processors = SURFACES["108 of one kernel"]
    limits = (CALL, 60.0, processors)
    whole = searched(seconds, limits, 0.0, seed=1)
    half = searched(seconds, limits, 0.0, seed=1, most=25)
    assert half == whole[:25]
    assert proposal(half, *limits) == whole[25].shape


def test_it_ends_when_nothing_promises_more() -> None:
    seconds, processors = SURFACES["132 processors"]
    limits = (CALL, 1000.0, processors)
    tries = searched(seconds, limits, 0.0, seed=1)
    assert LEAST_TRIES < len(tries) < 700
    assert proposal(tries, *limits) is None
    (leader,) = {one.shape for one in tries if [*one.shape] == getattr(outcome(tries), "shape", ())}
    assert sum(one.shape == leader for one in tries) == LEADER_TRIES


def test_however_little_time_there_is_a_few_are_tried() -> None:
    tries = searched(SURFACES["132 processors"][0], (CALL, 0.0, None), 0.0, seed=1)
    assert len(tries) == LEAST_TRIES


def test_no_call_is_longer_than_it_may_even_where_large_products_are_slow() -> None:
    def half_precision(shape: Shape) -> float:
        return shape.flops / (1.2e9 if shape.elements < 3 * 1024**2 else 0.3e9)

    tries = searched(half_precision, (CALL, 100.0, None), 0.0, seed=1)
    assert max(one.seconds for one in tries if one.seconds) <= CALL


def test_what_does_not_fit_is_not_tried_again_nor_anything_larger() -> None:
    limits, tries = (1.0, 60.0, None), list[Try]()
    while (shape := proposal(tries, *limits)) is not None:
        fits = shape.elements <= 3 * 1024**2
        tries.append(Try(shape, shape.flops / 1e12 if fits else None, 1.0))
    refused = [one.shape.elements for one in tries if one.seconds is None]
    assert refused == sorted(refused, reverse=True)
    assert len(refused) == len(set(refused))
    assert outcome(tries)


def test_where_nothing_fits_there_is_no_outcome() -> None:
    tries = [Try(Shape(256, 256, 256), None, 1.0)]
    assert proposal(tries, 1.0, 60.0) is None
    assert outcome(tries) is None


def test_the_winner_is_not_the_one_that_was_lucky_once() -> None:
    steady, lucky = Shape(512, 512, 512), Shape(1024, 512, 512)
    tries = [Try(steady, steady.flops / 1e12, 1.0)] * 3 + [Try(lucky, lucky.flops / 1.2e12, 1.0)]
    found = outcome(tries)
    assert found is not None
    assert found.shape == [*steady]
    assert found.shapes == 2
    assert found.seconds == 4.0
    assert found.runner_up == 1.0


def test_the_second_best_is_told_relative_to_the_best() -> None:
    tries = [Try(Shape(side, 512, 512), 1e-3, 1.0) for side in (1024, 512, 256)]
    found = outcome(tries)
    assert found is not None
    assert found.runner_up == 0.5
