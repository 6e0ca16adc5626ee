# SPDX-License-Identifier: MIT
"""Which machines are faster with 95% confidence: each pair decides for itself."""

import math
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from frobench.reports.purchase import script
from frobench.reports.purchase.machines import data
from frobench.reports.summary.model import Summary
from frobench.suite.stored.types import Run
from tests.instruments.runs import made_up_cards
from tests.instruments.runs.made_up_cards import CARD, faster, on_the_cpu
from tests.reports.purchase.test_purchase import summary

RANKS = """(machines, options, pairs) => {
    const faster = (a, b) => pairs.some(([x, y]) => x === a && y === b);
    return [model.places(machines, faster), model.beaters(options, faster)];
}"""
VIEW = """(data) => {
    const machines = data.runs.map((_, i) => model.machine(data, i));
    const view = compare.view(data, machines, machines[data.base], new Map());
    const rows = [...view.rows].sort((a, b) => a.place - b.place);
    const faster = rows.map((one) => rows.map((other) => view.faster(one, other)));
    return { rows: rows.map(({ speed, ranks }) => ({ speed, ranks })), faster };
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


@settings(max_examples=60, deadline=None)
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


def without(run: Run, part: float, seed: int) -> Run:
    """Return a run that lacks a part of its cases, as chance has it, but not the training steps."""
    chance = Random(seed)  # noqa: S311 - no secret
    kept = [
        case for case in run.benchmarks if chance.random() >= part or "bench_train" in case.name
    ]
    return replace(run, benchmarks=kept)


@pytest.fixture(scope="module")
def machines() -> list[Summary]:
    """Return two runs of one machine that lack cases, and two machines that are not all alike."""
    cards = {"a": CARD, "b": CARD, "c": faster(CARD, 2, 5), "d": faster(CARD, 0.3, 0.3)}
    runs = {name: made_up_cards.run(card, name) for name, card in cards.items()}
    for name, seed in (("a", 1), ("b", 5)):
        runs[name] = without(runs[name], 0.1, seed)
    return [summary(run, f"{name}.html") for name, run in runs.items()]


@pytest.mark.parametrize("reference", ["a", "b", "c", "d"])
def test_two_runs_of_one_machine_share_a_place_whatever_cases_they_lack(
    machines: list[Summary], reference: str
) -> None:
    found: Any = script.call(VIEW, data(machines, reference=f"{reference}.html"))
    one, other, third, last = (row["ranks"] for row in found["rows"])
    assert one == other == [2, 3]
    assert (third, last) == ([1, 1], [4, 4])


def test_a_processor_and_a_machine_with_an_accelerator_are_compared_by_their_processors() -> None:
    card, alone = made_up_cards.run(CARD), on_the_cpu(made_up_cards.run(faster(CARD, 0.2, 0.2)))
    both = replace(card, benchmarks=[*card.benchmarks, *on_the_cpu(card).benchmarks])
    runs = [summary(alone, "processor.html"), summary(both, "card.html")]
    found: Any = script.call(VIEW, data(runs, reference="processor.html"))
    assert [row["ranks"] for row in found["rows"]] == [[2, 2], [1, 1]]
