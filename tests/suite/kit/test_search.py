# SPDX-License-Identifier: MIT
"""A search comes near the best of a device in few tries, which are journaled and share the time."""

import math
from collections.abc import Callable
from random import Random
from typing import Any
from unittest.mock import MagicMock

import pytest

from frobench.suite.journal import Tried
from frobench.suite.kit import search_strategy as strategy
from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Shape, Try
from frobench.suite.launch.search import Searches
from frobench.suite.stored.types import Search, Settings
from tests.instruments.runs import made_up_records

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


SURFACES: dict[str, tuple[Surface, int | None, int, float]] = {
    "132 processors": (chip(132, 9e14, throttling=0.02), 132, 591, 8.797e14),
    "108 of one kernel": (chip(108, 3e14, ((256, 128, 1.0),), 0.03, 2e11), 108, 606, 2.913e14),
    "113, a prime": (chip(113, 1e14, ((128, 256, 1.0),), 0.02, 1e11), 113, 594, 9.669e13),
    "ten small ones": (chip(10, 3e12, ((64, 64, 1.0),)), 10, 580, 2.960e12),
    "a CPU with a plateau": (cached(1.1e11, 8e6, 0.1), None, 560, 9.351e10),
    "a CPU with a cliff": (cached(4e12, 1e8, 0.3), None, 565, 3.748e12),
}
"""Seconds of a product, the processors, how many shapes nine searches try, and the best rate of
all shapes on a grid of 256 in rows and columns and 2048 in what is summed."""


def searched(
    seconds: Surface, limits: Limits, noise: float, seed: int, most: int = 1000
) -> list[Try]:
    """Search with tries of a second each, at most `most` of them."""
    random, tries = Random(seed), list[Try]()  # noqa: S311 - not for secrets
    while len(tries) < most and (shape := strategy.proposal(tries, *limits)) is not None:
        took = seconds(shape)
        assert took <= 1.5 * limits[0]
        tries.append(Try(shape, took * random.lognormvariate(0.0, noise), 1.0))
    return tries


def reached(seconds: Surface, tries: list[Try]) -> float:
    """Return the true rate of the shape that tries led to."""
    found = strategy.outcome(tries)
    assert found is not None
    shape = Shape(*found.shape)
    return shape.flops / seconds(shape)


@pytest.mark.parametrize("name", SURFACES)
def test_noise_of_three_percent_rarely_costs_more(name: str) -> None:
    seconds, processors, shapes, best = SURFACES[name]
    limits = (CALL, 100.0, processors)
    searches = [searched(seconds, limits, 0.03, seed) for seed in range(9)]
    assert max(map(len, searches)) <= 100  # one a second
    assert sum(len({one.shape for one in tries}) for tries in searches) == shapes
    parts = [reached(seconds, tries) / best for tries in searches]
    assert sorted(parts)[4] >= 0.98
    assert min(parts) >= 0.95


@pytest.mark.parametrize(
    ("given", "tries", "shapes", "of_the_best"),
    [(1000.0, 303, 280, 5), (20.0, 20, 14, 3), (4.0, 6, 6, 1)],
)
def test_it_ends_when_nothing_promises_more_or_the_time_is_over(
    given: float, tries: int, shapes: int, of_the_best: int
) -> None:
    seconds, processors, *_ = SURFACES["132 processors"]
    made = searched(seconds, (CALL, given, processors), 0.0, seed=1)
    found = strategy.outcome(made)
    assert found is not None
    assert (len(made), found.shapes) == (tries, shapes)
    assert sum([*one.shape] == found.shape for one in made) == of_the_best


def test_the_winner_is_not_the_one_that_was_lucky_once() -> None:
    steady, lucky = Shape(512, 512, 512), Shape(1024, 512, 512)
    tries = [Try(steady, steady.flops / 1e12, 1.0)] * 3
    tries.append(Try(lucky, lucky.flops / 1.2e12, 1.0006))
    found = strategy.outcome(tries)
    assert found == Search(shape=[*steady], shapes=2, seconds=4.001, runner_up=1.0)


def test_what_is_as_large_as_a_shape_without_memory_is_not_tried() -> None:
    cubes = [Shape(side, side, side) for side in (256, 384, 512)]
    tries = [Try(cube, took, 1.0) for cube, took in zip(cubes, (1.0, 1e-3, None), strict=True)]
    assert strategy.proposal(tries, CALL, 100.0) == cubes[1]  # the fastest again
    assert strategy.outcome(tries[2:]) is None


CPU = Device("cpu")
LAUNCH = "frobench.suite.launch.search"
SETTINGS = Settings(
    profile="standard", longest_sample=0.2, case_seconds=0.5, budget=10.0, devices=["cpu"]
)


def searches(**given: Any) -> tuple[Searches, list[Tried]]:  # noqa: ANN401 - as the plan has it
    """Return the searches of a pilot, and what they journal."""
    journal: list[Tried] = []
    return Searches(made_up_records.spec("pilot", SETTINGS, **given), journal.append), journal


def make(_: Shape) -> Callable[[], None]:
    return lambda: None


@pytest.mark.parametrize(
    ("given", "call", "calls", "lower_quartile"),
    [
        (60.0, 0.021, 5, 1.047),  # a tenth of a second
        (60.0, 0.2, 3, 1.048),  # at least three calls
        (60.0, 1e-4, 30, 1.028),  # at most thirty
        (4.0, 4e-3, 5, 1.047),  # a part of the given time
        (0.5, 1e-3, 5, 1.047),  # no less than five milliseconds
    ],
)
def test_a_try_takes_a_part_of_the_time(
    given: float, call: float, calls: int, lower_quartile: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = [9.0, *(call * (1.05 - number / 1000) for number in range(40))]  # the first is slow
    sample = MagicMock(side_effect=times)
    monkeypatch.setattr(f"{LAUNCH}.Sampler", lambda *_: MagicMock(sample=sample))
    monkeypatch.setattr(f"{LAUNCH}.proposal", MagicMock(side_effect=[Shape(64, 64, 64), None]))
    some, journal = searches(search_seconds=given)
    some.find("a", CPU, make)
    assert sample.call_count == 1 + calls
    assert journal[0].attempt.seconds == pytest.approx(lower_quartile * call)


def test_what_is_known_is_not_searched_for() -> None:
    known = Search(shape=[64, 128, 256], shapes=9, seconds=1.0, runner_up=0.9)
    some, journal = searches(searched={"a": known})
    assert some.find("a", CPU, make) == (64, 128, 256)
    assert journal == []
    assert some.took == {}


def test_cases_share_time_and_leave_what_they_do_not_use(monkeypatch: pytest.MonkeyPatch) -> None:
    once = MagicMock(side_effect=[Shape(64, 64, 64), None] * 3)  # every search ends after a try
    monkeypatch.setattr(f"{LAUNCH}.proposal", once)
    some, journal = searches(search_seconds=60.0)
    some.waiting = {*"abcd"}
    some.waiting.discard("d")  # it cannot be measured here
    for case in "abc":
        some.find(case, CPU, make)
        some.waiting.discard(case)
    first, second = (tried.attempt.spent for tried in journal[:2])
    given = [told[1:] for told, _ in once.call_args_list[::2]]
    shares = [20.0, (60.0 - first) / 2, 60.0 - first - second]
    assert given == [(0.05, pytest.approx(share), None) for share in shares]
