# SPDX-License-Identifier: MIT
"""What lanes share is a fact about intervals on one clock, and about a control in turn."""

import pytest

from frobench.suite.concurrency import Interval, concurrency, shareable, shared, union
from tests.instruments.runs.evidence import side_by_side


@pytest.mark.parametrize(
    ("lanes", "seconds"),
    [
        ([[(0.0, 1.0)], [(0.0, 1.0)]], 1.0),
        ([[(0.0, 9.0)], [(4.0, 5.0)]], 1.0),
        ([[(0.0, 1.0), (2.0, 3.0)], [(1.0, 2.0), (3.0, 4.0)]], 0.0),  # entries strictly in turn
        ([[(0.0, 1.0), (1.0, 2.0)], [(1.0, 2.0), (2.0, 3.0)]], 1.0),  # a pipeline of two stages
        ([[(0.0, 1.0)], [(0.0, 1.0)], [(0.0, 1.0)]], 2.0),
        ([[(0.0, 1.0)], []], 0.0),
    ],
)
def test_lanes_share_all_time_less_what_passes(lanes: list[list[Interval]], seconds: float) -> None:
    assert shared(lanes) == pytest.approx(seconds)


def test_what_can_be_shared_is_all_but_the_longest_lane() -> None:
    assert (shareable([3.0, 1.0]), shareable([2.0, 2.0, 2.0])) == (1.0, 4.0)
    assert union([(5.0, 6.0), (0.0, 2.0), (1.0, 3.0)]) == 4.0


def test_intervals_without_time_saved_prove_nothing_nor_does_time_without_intervals() -> None:
    proved = side_by_side(1.0, 0.8)
    changes: list[dict[str, float]] = [{}, {"in_turn": 1.0}, {"shared": 0.0}, {"in_turn": 0.9}]
    assert [concurrency(proved | one) for one in changes] == pytest.approx([0.8, 0, 0, 0])
    assert concurrency(side_by_side(1.0, 1.2)) == 1
    assert concurrency(proved | {"shared_in_turn": 0.1, "shareable": 1.0}) == pytest.approx(0.3)
    assert concurrency(proved | {"shareable": 0.0}) is None


@pytest.mark.parametrize("name", ["at_once", "in_turn", "shared", "shared_in_turn", "shareable"])
def test_nothing_is_claimed_without_all_evidence(name: str) -> None:
    parts = side_by_side(1.0, 0.8)
    del parts[name]
    assert concurrency(parts) is None
