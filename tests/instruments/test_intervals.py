# SPDX-License-Identifier: MIT
"""The checker's own formula for intervals gives those of `suite.statistics`, from the method."""

import math
from collections.abc import Callable
from random import Random

import pytest

from frobench.suite.statistics import estimate
from tests.instruments.site_checker.intervals import interval

KINDS: dict[str, Callable[[Random, int], float]] = {
    "normal": lambda random, _: random.gauss(1.0, 0.05),
    "heavy tails": lambda random, _: math.exp(2 * random.gauss(0.0, 1.0)),
    "two modes": lambda random, _: random.choice([1.0, 2.0]) + random.gauss(0.0, 0.01),
    "ties": lambda random, _: round(random.gauss(1.0, 0.1), 1),
    "drift": lambda random, at: 1.0 + 0.03 * at + random.gauss(0.0, 0.05),
    "around zero": lambda random, _: random.gauss(0.0, 1.0),
    "all equal": lambda *_: 1.0,
}


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_are_those_of_the_documented_method(kind: str) -> None:
    random = Random(kind)  # noqa: S311 - data of a test
    for launches in range(6, 31):
        for _ in range(10):
            values = [KINDS[kind](random, at) for at in range(launches)]
            known = estimate(values)
            assert interval(values) == pytest.approx((known.low, known.high), rel=1e-12), values


def test_five_launches_have_no_interval() -> None:
    assert interval([1.0] * 5) is None
    assert estimate([1.0] * 5).low is None
