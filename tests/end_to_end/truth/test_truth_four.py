# SPDX-License-Identifier: MIT
"""Of four devices every group has an answer of its own, and it is the truth.

The run is made in the simulation's own time (see `test_truth.py`).
"""

import pytest

from tests.instruments.devices.measured import EXACT, Measured, measured

pytestmark = pytest.mark.long

SPEC = {
    "virtual": True,
    "name": "acme",
    "devices": 4,
    "memory": 64 << 20,
    "launch": 70e-6,
    "kernel": 7e-6,
    "synchronise": 13e-6,
    "flops": {"float32": 0.3e9},
    "links": {"h2d_pinned": {"latency": 17e-6, "rate": 2.9e9}},
}
DEVICES = [f"acme:{index}" for index in range(4)]
GROUPS = {count: "+".join(DEVICES[:count]) for count in (2, 4)}
N, SIZE = 64, 4**9


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(
        tmp_path_factory.mktemp("four"),
        SPEC,
        "(parallel_matmul and (sequence or one_thread or in_turn) and -64] and not process)"
        " or (copies and (all_at_once or to_device) and 262144 and not pinned and not to_host)"
        " or (copies and between and direct and 262144)",
        *("--devices", ",".join(DEVICES), "--budget", 12),
    )


def test_pairs_and_all_four_are_measured_and_a_link_joins_but_two(four: Measured) -> None:
    assert four.code == 0
    between = [one for one in four.run.frobench.outcomes if "bench_between" in one.fullname]
    assert [one.params["device"] for one in between] == [GROUPS[2]]
    assert four.finding(f"rate-between-{GROUPS[2]}").value is not None


@pytest.mark.parametrize("count", [2, 4])
def test_products_on_each_group_are_as_efficient_as_their_launches_allow(
    four: Measured, count: int
) -> None:
    spec, product = four.spec, four.product(N)
    one = (spec.launch + 2 * product + spec.synchronise) / 2
    # Each is launched after the one before, and waited for when that one has ended.
    together = count * spec.launch + product + spec.synchronise
    found = four.value(f"efficiency-one_thread-{GROUPS[count]}")
    assert found == pytest.approx(one / together, rel=EXACT)


@pytest.mark.parametrize("count", [2, 4])
def test_products_on_each_group_overlap_unless_begun_in_turn(four: Measured, count: int) -> None:
    spec, product, group = four.spec, four.product(N), GROUPS[count]
    found = four.part(f"bench_one_thread[{group}-{N}]", "concurrency")
    assert found == pytest.approx(
        1 - spec.launch / product, rel=EXACT
    )  # each begins a launch later
    in_turn = four.part(f"bench_in_turn[{group}-{N}]", "concurrency")
    assert in_turn == pytest.approx(0, abs=EXACT)
    each = spec.launch + product + 2 * spec.synchronise
    assert four.seconds(f"bench_in_turn[{group}-{N}]") == pytest.approx(count * each, rel=EXACT)


@pytest.mark.parametrize("count", [2, 4])
def test_copies_of_each_group_are_held_against_one_alone(four: Measured, count: int) -> None:
    spec = four.spec
    way = spec.links.h2d_pinned.seconds(SIZE)
    alone = spec.launch + way + spec.synchronise
    together = count * spec.launch + way + spec.synchronise
    found = four.value(f"all-to-device-{GROUPS[count]}")
    assert found == pytest.approx(alone / together, rel=EXACT)
