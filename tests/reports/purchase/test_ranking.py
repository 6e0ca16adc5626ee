# SPDX-License-Identifier: MIT
"""Which machines are faster with 95% confidence: each pair decides for itself."""

from itertools import combinations, permutations
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from frobench.reports.purchase import script

RANKS = """(machines, options, pairs) => {
    const faster = (a, b) => pairs.some(([x, y]) => x === a && y === b);
    return [model.places(machines, faster), model.beaters(options, faster)];
}"""


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_ranks_and_front_follow_from_who_is_surely_faster(
    prices: list[int], chance: Random
) -> None:
    every = range(len(prices))
    faster = {pair for pair in combinations(every, 2) if chance.random() < 0.5}
    options = [(price, at) for at, price in enumerate(prices)]
    found: Any = script.call(RANKS, [*every], options, [*faster])
    ranks, beaten = found
    for one in every:
        above = [other for other in every if (other, one) in faster]
        below = [other for other in every if (one, other) in faster]
        assert ranks[one][0] == 1 + len(above)
        assert ranks[one][1] >= len(prices) - len(below)
        assert beaten[one] == [other for other in above if prices[other] <= prices[one]]
    for one, other in permutations(every, 2):
        if not {(one, other), (other, one)} & faster:  # whoever stands between them
            assert ranks[one][0] <= ranks[other][1]
