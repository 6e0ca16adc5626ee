# SPDX-License-Identifier: MIT
"""Which machines are faster with 95% confidence: each pair decides for itself."""

import math
from itertools import permutations
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.purchase import script
from frobench.reports.purchase.machines import data
from frobench.reports.summary.model import Summary
from frobench.suite.stored.types import Run
from tests.instruments.runs import made_up_cards
from tests.instruments.runs.made_up_cards import CARD, faster, on_the_cpu
from tests.reports.purchase.test_model import speed_of
from tests.reports.purchase.test_purchase import summary

Speed = tuple[float, float | None]
"""How many times as fast as a reference, and the standard error of the logarithm."""
FEW: Speed = 2.0, None
ORDER = """(machines, pairs) =>
    model.{}(machines, (a, b) => pairs.some(([x, y]) => x === a && y === b))"""
FRONT = """(options, pairs) =>
    model.beaters(options, (a, b) => pairs.some(([x, y]) => x === a && y === b))"""
VIEW = """(data) => {
    const machines = data.runs.map((_, i) => model.machine(data, i));
    const view = compare.view(data, machines, machines[data.base], new Map());
    const rows = [...view.rows].sort((a, b) => a.place - b.place);
    const faster = rows.map((one) => rows.map((other) => view.faster(one, other)));
    return { rows: rows.map(({ speed, ranks }) => ({ speed, ranks })), faster };
}"""


def surely(speed: Speed | None, than: float = 1.0) -> object:
    if speed is None:
        return script.call("model.isAbove", None, than)
    ratio, error = speed
    given = speed_of(math.log(ratio), error)
    return script.call("model.isAbove", given, than)


def sure(ratio: float, error: float = 0.01) -> Speed:
    return ratio, error


def apart(speeds: list[Speed]) -> list[tuple[int, int]]:
    """Return the pairs of machines, with independent errors, of which the first is faster."""
    known = [
        (a, b, speeds[a][0] / speeds[b][0], speeds[a][1], speeds[b][1])
        for a, b in permutations(range(len(speeds)), 2)
    ]
    return [
        (a, b)
        for a, b, ratio, one, other in known
        if one is not None and other is not None and math.log(ratio) > 2 * math.hypot(one, other)
    ]


def places(speeds: list[Speed], shown: list[int] | None = None) -> Any:  # noqa: ANN401
    order = shown or [*range(len(speeds))]
    return script.call(ORDER.format("places"), order, apart(speeds))


def beaters(options: list[tuple[float, Speed]]) -> Any:  # noqa: ANN401
    numbered = [(cost, number) for number, (cost, _) in enumerate(options)]
    return script.call(FRONT, numbered, apart([speed for _, speed in options]))


def test_a_machine_is_surely_faster_where_its_interval_is_above() -> None:
    assert surely(sure(1.03))
    assert not surely(sure(1.01))
    assert not surely(sure(0.5))
    assert not surely(FEW)
    assert not surely(None)
    assert surely(sure(2.05), than=2)
    assert not surely(sure(2.01), than=2)


def test_machines_that_do_not_separate_share_places() -> None:
    speeds = [sure(1.0), sure(1.02), sure(2.0), sure(0.5)]
    assert places(speeds) == [[2, 3], [2, 3], [1, 1], [4, 4]]
    assert places([sure(1.0), FEW]) == [[1, 2], [1, 2]]


def test_a_chain_of_ties_is_no_tie_of_its_ends() -> None:
    assert places([sure(1.0), sure(1.025), sure(1.05)]) == [[2, 3], [1, 3], [1, 2]]


def test_two_that_do_not_separate_share_a_place_whoever_stands_between_them() -> None:
    known = [("a", "c"), ("a", "d"), ("c", "b"), ("d", "b")]
    found = script.call(ORDER.format("places"), ["a", "c", "d", "b"], known)
    assert found == [[1, 3], [2, 3], [2, 3], [3, 4]]


def test_who_is_filtered_out_never_turns_two_machines_round() -> None:
    speeds = [sure(ratio, error) for ratio, error in ((1, 0.01), (1.2, 0.3), (1.3, 0.01), (2, 0.1))]
    whole = places(speeds)
    for gone in range(len(speeds)):
        left = [number for number in range(len(speeds)) if number != gone]
        some = dict(zip(left, places(speeds, left), strict=True))
        for one, other in apart(speeds):
            assert whole[one][0] < whole[other][0]
            assert gone in {one, other} or some[one][0] < some[other][0]


def test_only_a_machine_that_is_surely_beaten_leaves_the_front() -> None:
    cheap, dear, beaten = (500.0, sure(1)), (900.0, sure(2)), (950.0, sure(1.5))
    assert beaters([cheap, dear, beaten]) == [[], [], [1]]
    assert beaters([dear, (950.0, sure(1.99))]) == [[], []]  # dearer, perhaps as fast
    assert beaters([dear, (950.0, FEW)]) == [[], []]
    assert beaters([(700.0, sure(1)), (700.0, sure(2))]) == [[1], []]
    memory = [(-80.0, sure(1)), (-24.0, sure(2)), (-24.0, sure(0.5))]
    assert beaters(memory) == [[], [], [0, 1]]


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
