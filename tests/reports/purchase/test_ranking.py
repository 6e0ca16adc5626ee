# SPDX-License-Identifier: MIT
"""Which machines are surely faster: each two say so themselves, and no third one does."""

import math
from random import Random

import pytest
from msgspec.structs import replace

from reports.purchase.economics import Speed
from reports.purchase.machines import compare_measured
from reports.purchase.measured import Measured
from reports.purchase.purchase_view import view
from reports.purchase.ranking import Place, beaters, places, surely
from suite.stored.run import Run
from tests.instruments import factory

FEW = Speed(math.log(2), None, None)


def sure(ratio: float, error: float = 0.01) -> Speed:
    return Speed(math.log(ratio), error, 2.0)


def faster(one: Speed, other: Speed) -> bool:
    """Tell of machines whose errors are independent whether the first is surely faster."""
    if one.error is None or other.error is None:
        return False
    return surely(Speed(one.log - other.log, math.hypot(one.error, other.error), 2.0))


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
    assert places(speeds, faster) == [Place(2, 3), Place(2, 3), Place(1, 1), Place(4, 4)]
    assert places([sure(1.0), FEW], faster) == [Place(1, 2), Place(1, 2)]


def test_a_chain_of_ties_is_no_tie_of_its_ends() -> None:
    speeds = [sure(1.0), sure(1.025), sure(1.05)]
    assert places(speeds, faster) == [Place(2, 3), Place(1, 3), Place(1, 2)]


def test_two_that_do_not_separate_share_a_place_whoever_stands_between_them() -> None:
    known = {("a", "c"), ("a", "d"), ("c", "b"), ("d", "b")}
    found = places("acdb", lambda one, other: (one, other) in known)
    assert found == [(1, 3), (2, 3), (2, 3), (3, 4)]


def test_who_is_filtered_out_never_turns_two_machines_round() -> None:
    speeds = [sure(ratio, error) for ratio, error in ((1, 0.01), (1.2, 0.3), (1.3, 0.01), (2, 0.1))]
    whole = places(speeds, faster)
    for gone in range(len(speeds)):
        left = [place for place in range(len(speeds)) if place != gone]
        some = dict(zip(left, places([speeds[place] for place in left], faster), strict=True))
        for one in left:
            for other in left:
                if faster(speeds[one], speeds[other]):
                    assert whole[one].first < whole[other].first
                    assert some[one].first < some[other].first


def test_only_a_machine_that_is_surely_beaten_leaves_the_front() -> None:
    cheap, dear, beaten = (500.0, sure(1)), (900.0, sure(2)), (950.0, sure(1.5))
    assert beaters([cheap, dear, beaten], faster) == [[], [], [dear[1]]]
    assert beaters([dear, (950.0, sure(1.99))], faster) == [[], []]  # dearer, perhaps as fast
    assert beaters([dear, (950.0, FEW)], faster) == [[], []]
    assert beaters([(700.0, sure(1)), (700.0, sure(2))], faster) == [[sure(2)], []]
    memory = [(-80.0, sure(1)), (-24.0, sure(2)), (-24.0, sure(0.5))]
    assert beaters(memory, faster) == [[], [], [sure(1), sure(2)]]


def without(run: Run, part: float, seed: int) -> Run:
    """Return a run that lacks a part of its cases, as chance has it."""
    chance = Random(seed)  # noqa: S311 - no secret
    kept = [case for case in run.benchmarks if chance.random() >= part]
    return replace(run, benchmarks=kept)


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    """Return two runs of one machine that lack cases, and two machines that are not all alike."""
    same = factory.run(seed=1, accelerators=1)
    other = factory.run(seed=2, accelerators=1)
    for number, case in enumerate(other.benchmarks):
        times = 1 + number % 5
        data = [one and one * times for one in case.stats.data]
        case.stats = replace(case.stats, data=data)
    runs = {
        "a.html": without(same, 0.3, 1),
        "b.html": without(same, 0.3, 2),
        "c.html": other,
        "d.html": factory.run(seed=3, accelerators=1, slower=3.0),
    }
    return {href: Measured.of(run) for href, run in runs.items()}


@pytest.mark.parametrize("reference", ["a.html", "b.html", "c.html", "d.html"])
def test_two_runs_of_one_machine_share_a_place_whatever_cases_they_lack(
    measured: dict[str, Measured], reference: str
) -> None:
    others = [href for href in measured if href != reference]
    shown = view([compare_measured(measured, href) for href in (reference, *others)])
    one, other, *rest = sorted(shown.rows, key=lambda row: row.number)
    if reference == "c.html":
        assert one.speed
        assert other.speed
        assert not math.isclose(one.speed.log, other.speed.log, abs_tol=0.02)
    assert one.place
    assert other.place
    assert max(one.place.first, other.place.first) <= min(one.place.last, other.place.last)
    assert not shown.faster(one, other)
    assert not shown.faster(other, one)
    assert all(shown.faster(one, row) for row in rest)
