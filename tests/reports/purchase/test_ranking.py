# SPDX-License-Identifier: MIT
"""Which machines are faster with 95% confidence: each pair decides for itself."""

import math
from itertools import permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from frobench.reports.purchase import script

RANKS = """(machines, options, pairs) => {
    const faster = (a, b) => pairs.some(([x, y]) => x === a && y === b);
    return [model.places(machines, faster), model.beaters(options, faster)];
}"""


SPEEDS = st.lists(
    st.tuples(
        st.integers(1, 4),  # a price
        st.floats(-1, 1),  # the logarithm of a speed
        st.none() | st.floats(0.01, 0.3),  # its standard error, where launches leave one
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SPEEDS)
def test_ranks_and_the_front_follow_from_who_is_conclusively_faster(
    speeds: list[tuple[int, float, float | None]],
) -> None:
    def is_faster(one: int, other: int) -> bool:
        (_, log, error), (_, its, its_error) = speeds[one], speeds[other]
        return bool(error and its_error) and log - its > 2 * math.hypot(error or 0, its_error or 0)

    every = range(len(speeds))
    pairs = [(a, b) for a, b in permutations(every, 2) if is_faster(a, b)]
    options = [(price, at) for at, (price, *_) in enumerate(speeds)]
    found: Any = script.call(RANKS, [*every], options, pairs)
    ranks, beaten = found
    for one in every:
        assert ranks[one][0] == 1 + sum(is_faster(other, one) for other in every)
        cheaper = [at for price, at in options if price <= speeds[one][0]]
        assert beaten[one] == [at for at in cheaper if is_faster(at, one)]
    for one, other in permutations(every, 2):
        if is_faster(one, other):
            assert ranks[one][0] < ranks[other][0]
        elif not is_faster(other, one):  # they share a rank, whoever stands between them
            assert ranks[one][0] <= ranks[other][1]
