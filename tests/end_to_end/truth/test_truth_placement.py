# SPDX-License-Identifier: MIT
"""What creating, moving and launching cost in a run is what the simulated device makes them cost.

The run is made in the simulation's own time (see `test_truth.py`), in which the CPU's
part takes none. It measures two exercises, to save a second one.
"""

import pytest

from tests.instruments.devices.measured import EXACT, Measured, errors, measured

pytestmark = pytest.mark.long

SPEC = {
    "virtual": True,
    "name": "acme",
    "memory": 128 << 20,
    "launch": 70e-6,
    "metadata": 11e-6,
    "kernel": 7e-6,
    "synchronise": 13e-6,
    "bandwidth": 30e9,
    "links": {"h2d_pageable": {"latency": 31e-6, "rate": 0.7e9}},
}
FITTED = 0.01
"""How near the truth must come what is read off a line."""
N = 4**10
PIECES, NUMBERS = 100, 30_000
TRAFFIC = 12
"""Bytes that a number costs in an operation, which reads two and writes one."""


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(
        tmp_path_factory.mktemp("placed"),
        SPEC,
        "(bench_placement and not full and (0-64 or 0-4096 or 0-1048576)) or (bench_many_or_one"
        " and not compiled and (0-1] or 0-10] or 0-100] or 0-64] or 262144 or 524288))",
        *("--profile", "rigorous", "--devices", "acme:0", "--budget", 12),
    )


def arrived(placed: Measured, n: int) -> float:
    """Return what it takes to make room for numbers, to copy them, and to wait for that twice."""
    spec = placed.spec
    copied = spec.launch + spec.links.h2d_pageable.seconds(4 * n)
    return spec.metadata + copied + 2 * spec.synchronise


def test_every_case_is_right_or_says_what_is_missing(placed: Measured) -> None:
    assert placed.code == 0
    conclusions = placed.run.frobench.conclusions
    assert errors(conclusions) == set()
    assert placed.finding("graph").answer.startswith("Not measured: no graphs here: ")


@pytest.mark.parametrize("n", [64, 4096, N])
def test_the_detour_takes_the_copy_in_place_of_the_device_s_own_work(
    placed: Measured, n: int
) -> None:
    (moved, there) = placed.plot("create-randn").values()
    spec = placed.spec
    work = spec.metadata + spec.launch + spec.kernel + 4 * n / spec.bandwidth
    assert there[n] == pytest.approx(work + spec.synchronise, rel=EXACT)
    assert moved[n] == pytest.approx(arrived(placed, n), rel=EXACT)
    if n == N:
        ratio = arrived(placed, n) / (work + spec.synchronise)
        assert placed.value("detour-randn") == pytest.approx(ratio, rel=EXACT)


@pytest.mark.parametrize("n", [64, 4096, N])
def test_both_ways_to_move_what_is_ready_make_room_and_copy(placed: Measured, n: int) -> None:
    for function in ("bench_move", "bench_empty_then_copy"):
        seconds = placed.seconds(f"{function}[acme:0-{n}]")
        assert seconds == pytest.approx(arrived(placed, n), rel=EXACT)
    assert placed.value("move") == pytest.approx(1, rel=EXACT)


def test_what_stays_where_it_lies_is_waited_for_and_nothing_else(placed: Measured) -> None:
    for n in (64, N):
        seconds = placed.seconds(f"bench_stay[acme:0-{n}]")
        assert seconds == pytest.approx(placed.spec.synchronise, rel=0.02)  # with the clock's steps
    assert placed.value("stay-acme:0") < EXACT * placed.spec.launch


def test_an_operation_costs_its_launch(placed: Measured) -> None:
    assert placed.value("launch-acme:0") == pytest.approx(placed.spec.launch, rel=FITTED)


def test_one_call_for_all_pieces_launches_once(placed: Measured) -> None:
    spec = placed.spec
    work = spec.kernel + TRAFFIC * NUMBERS / spec.bandwidth
    once = spec.launch + work + spec.synchronise
    last = spec.kernel + TRAFFIC * NUMBERS / PIECES / spec.bandwidth
    each = PIECES * spec.launch + last + spec.synchronise
    assert placed.value("foreach-acme:0") == pytest.approx(each / once, rel=EXACT)


def test_a_launch_is_hidden_by_what_computes_twice_as_long(placed: Measured) -> None:
    spec = placed.spec
    numbers = (2 * spec.launch - spec.kernel) * spec.bandwidth / TRAFFIC
    assert placed.value("hidden-acme:0") == pytest.approx(numbers, rel=FITTED)
