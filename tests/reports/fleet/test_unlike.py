# SPDX-License-Identifier: MIT
"""A node is named only where it is unlike its peers; all seeds are fixed, so nothing is luck."""

import numpy as np
import pytest

from frobench.reports.fleet.unlike import Unlike, Values
from tests.instruments.runs.made_up_fleet import EQUAL, LAUNCHES, SCATTER


def equal_nodes(nodes: int, answers: int, apart: float = EQUAL) -> Values:
    """Return logarithms of nodes that differ by chance alone."""
    chance = np.random.default_rng(0)
    levels = chance.normal(0, apart, (nodes, answers, 1))
    return chance.normal(0, SCATTER, (nodes, answers, LAUNCHES)) + levels


@pytest.mark.parametrize(
    ("nodes", "reach"), [(3, 0.02983), (4, 0.03072), (7, 0.03292), (100, 0.02763)]
)
@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_a_node_a_fifth_off_is_named_alone(nodes: int, reach: float, factor: float) -> None:
    logs = equal_nodes(nodes, 13)
    logs[1, 4] += np.log(factor)
    found = Unlike(logs)
    assert np.argwhere(found.named).tolist() == [[1, 4]]
    assert found.reach[1, 4] == pytest.approx(reach, rel=1e-3)
    assert abs(found.deviation[1, 4] - np.log(factor)) < reach


SPREAD = [-0.02, -0.01, 0.0, 0.01, 0.02]
"""Their median deviation of 0.01 shows ten nodes to have a standard deviation of 0.01765."""


@pytest.mark.parametrize(
    ("fast", "slow", "apart", "split"),
    [
        ([0.0] * 8, [0.0] * 2, 0.0499, None),  # ten times what equal nodes differ by at least
        ([0.0] * 8, [0.0] * 2, 0.0501, 0.0501),
        ([0.0] * 9, [0.0] * 2, 0.2, None),  # fewer than a fifth
        ([0.0] * 2, [0.0] * 2, 0.0949, None),  # 19 times: four nodes tell little
        ([0.0] * 2, [0.0] * 2, 0.0951, 0.0951),
        (SPREAD, SPREAD, 0.1764, None),
        (SPREAD, SPREAD, 0.1766, 0.1766),
        ([0.0, 0.001, 0.002, 0.006], [*SPREAD, 0.03], 0.5, 0.498),  # the middle next to the gap
    ],
)
def test_two_groups_have_a_fifth_of_the_nodes_and_a_gap_that_their_own_spread_does_not_explain(
    fast: list[float], slow: list[float], apart: float, split: float | None
) -> None:
    levels = np.array(fast + [apart + one for one in slow])
    slower = np.array([False] * len(fast) + [split is not None] * len(slow))
    middle = np.median(levels) if split is None else fast[len(fast) // 2] + split * slower
    found = Unlike(np.repeat(levels.reshape(-1, 1, 1), LAUNCHES, axis=2))
    assert found.split[0] == pytest.approx(np.nan if split is None else split, nan_ok=True)
    assert found.slower[:, 0].tolist() == slower.tolist()
    assert found.deviation[:, 0] == pytest.approx(levels - middle)


def test_a_node_with_fewer_than_six_launches_and_a_subject_of_two_nodes_are_left_out() -> None:
    logs = equal_nodes(4, 2)
    logs[0, 0, 5] = np.nan
    logs[:2, 1] = np.nan
    found = Unlike(logs)
    assert np.isnan(found.deviation[0, 0])
    assert not np.isnan(found.deviation[1:, 0]).any()
    assert np.isnan(found.deviation[:, 1]).all()
    assert np.count_nonzero(~np.isnan(found.deviation)) == 3
    assert np.isnan(found.smallest[1])


def test_a_node_whose_launches_scatter_wildly_is_not_named_for_it() -> None:
    logs = equal_nodes(100, 1)
    logs[3, 0] = [0.0, 0.3, -0.1, 0.2, 0.1, 0.0]
    found = Unlike(logs)
    assert found.reach[3, 0] == pytest.approx(0.4702, rel=1e-3)
    assert 0.05 < found.deviation[3, 0] < found.reach[3, 0]


def test_how_far_nodes_of_a_kind_lie_apart_is_learned_and_none_is_named_for_it() -> None:
    found = Unlike(equal_nodes(100, 13, apart=0.05))
    assert found.between == pytest.approx(0.05, rel=0.3)
    assert found.between.mean() == pytest.approx(0.04974, rel=1e-3)
    assert not found.named.any()
