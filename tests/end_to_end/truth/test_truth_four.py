# SPDX-License-Identifier: MIT
"""Of four devices every group has an answer of its own, and it is the truth.

The run is made in the simulation's own time (see `test_truth.py`).
"""

import pytest

from tests.instruments.devices.measured import EXACT, STRANGE, Measured, measured

pytestmark = pytest.mark.long

DEVICES = [f"acme:{index}" for index in range(4)]
GROUPS = {count: "+".join(DEVICES[:count]) for count in (2, 4)}
N, SIZE = 64, 4**9


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(
        tmp_path_factory.mktemp("four"),
        STRANGE | {"devices": 4, "flops": {"float32": 0.3e9}},
        "(parallel_matmul and (sequence or one_thread or in_turn) and -64] and not process)"
        " or (copies and (all_at_once or to_device) and 262144 and not pinned and not to_host)"
        " or (copies and between and direct and 262144)",
        *("--devices", ",".join(DEVICES), "--budget", 12),
    )


def test_pairs_and_all_four_are_measured_and_a_link_joins_but_two(four: Measured) -> None:
    between = [one for one in four.run.frobench.outcomes if "bench_between" in one.fullname]
    assert [one.params["device"] for one in between] == [GROUPS[2]]
    assert four.finding(f"rate-between-{GROUPS[2]}").value is not None


@pytest.mark.parametrize("count", [2, 4])
def test_each_group_is_as_fast_as_its_launches_and_links_allow(four: Measured, count: int) -> None:
    spec, product, group = four.spec, four.product(N), GROUPS[count]
    way = spec.links.h2d_pinned.seconds(SIZE)
    one = (spec.launch + 2 * product + spec.synchronise) / 2
    # Each is launched after the one before, and waited for when that one has ended.
    launches = count * spec.launch + spec.synchronise
    four.holds(
        {
            f"efficiency-one_thread-{group}": one / (launches + product),
            f"bench_one_thread[{group}-{N}] concurrency": 1 - spec.launch / product,
            f"bench_in_turn[{group}-{N}]": count * (spec.launch + product + 2 * spec.synchronise),
            f"all-to-device-{group}": (spec.launch + way + spec.synchronise) / (launches + way),
        }
    )
    four.holds({f"bench_in_turn[{group}-{N}] concurrency": 0.0}, within=EXACT)
