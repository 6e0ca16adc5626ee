# SPDX-License-Identifier: MIT
"""Seconds of a case count in a comparison only if both runs measured the same thing."""

from msgspec.structs import replace

from frobench.suite.compare.pairs import other_thing
from frobench.suite.stored.types import Case, Search
from tests.instruments.runs import factory


def of_shape(*shape: int) -> Case:
    """Build a case whose shape a search found."""
    case = factory.run().benchmarks[0]
    found = Search(shape=[*shape], shapes=50, seconds=2.0, runner_up=0.99)
    return replace(case, extra_info=replace(case.extra_info, search=found))


def test_the_same_shape_found_twice_is_the_same_thing() -> None:
    assert other_thing(of_shape(64, 128, 256), of_shape(64, 128, 256)) is None


def test_another_shape_is_another_thing() -> None:
    reason = other_thing(of_shape(64, 128, 256), of_shape(64, 128, 512))
    assert reason == "another shape was found: 64 x 128 x 256 -> 64 x 128 x 512"
