# SPDX-License-Identifier: MIT
"""What creating, moving and launching cost in a run is what the simulated device makes them cost.

The run is made in the simulation's own time (see `test_truth.py`), in which the CPU's
part takes none. It measures two exercises, to save a second one.
"""

import pytest

from tests.instruments.devices.measured import EXACT, STRANGE, Measured, of_module

pytestmark = pytest.mark.long

FITTED = 0.01
"""How near the truth must come what is read off a line."""
N = 4**10
PIECES, NUMBERS = 100, 30_000
TRAFFIC = 12
"""Bytes that a number costs in an operation, which reads two and writes one."""


placed = of_module(
    STRANGE | {"devices": 1, "bandwidth": 30e9},
    "(bench_placement and not full and (0-64 or 0-4096 or 0-1048576)) or (bench_many_or_one"
    " and not compiled and (0-1] or 0-10] or 0-100] or 0-64] or 262144 or 524288))",
    *("--profile", "rigorous"),
)


def arrived(placed: Measured, n: int) -> float:
    """Return what it takes to make room for numbers, to copy them, and to wait for that twice."""
    spec = placed.spec
    copied = spec.launch + spec.links.h2d_pageable.seconds(4 * n)
    return spec.metadata + copied + 2 * spec.synchronise


def test_the_detour_takes_the_copy_in_place_of_the_device_s_own_work(placed: Measured) -> None:
    (moved, there) = placed.plot("create-randn").values()
    spec = placed.spec
    for n in (64, 4096, N):
        work = spec.metadata + spec.launch + spec.kernel + 4 * n / spec.bandwidth
        created = work + spec.synchronise
        assert there[n] == pytest.approx(created, rel=EXACT)
        assert moved[n] == pytest.approx(arrived(placed, n), rel=EXACT)
    placed.holds({"detour-randn": arrived(placed, N) / created})


def test_both_ways_to_move_what_is_ready_make_room_and_copy(placed: Measured) -> None:
    ways = ("bench_move", "bench_empty_then_copy")
    sizes = (64, 4096, N)
    placed.holds({f"{way}[acme:0-{n}]": arrived(placed, n) for n in sizes for way in ways})
    placed.holds({"move": 1})


def test_a_launch_is_hidden_by_an_operation_that_computes_twice_as_long(placed: Measured) -> None:
    spec = placed.spec
    numbers = (2 * spec.launch - spec.kernel) * spec.bandwidth / TRAFFIC
    placed.holds({"launch-acme:0": spec.launch, "hidden-acme:0": numbers}, FITTED)


def test_one_call_for_all_pieces_launches_once(placed: Measured) -> None:
    spec = placed.spec
    work = spec.kernel + TRAFFIC * NUMBERS / spec.bandwidth
    once = spec.launch + work + spec.synchronise
    last = spec.kernel + TRAFFIC * NUMBERS / PIECES / spec.bandwidth
    each = PIECES * spec.launch + last + spec.synchronise
    placed.holds({"foreach-acme:0": each / once})
