# SPDX-License-Identifier: MIT
"""What several simulated devices gain by hand is what their products and links take.

The run is made in the simulation's own time (see `test_truth.py`), on devices whose
launches and memory take none: a step is its products, and copies between devices, one after the
other.
"""

import pytest

from tests.instruments.devices.measured import EXACT, GROUPS, STRANGE, Measured, of_module

pytestmark = pytest.mark.long

RATE, LATENCY, LINK = 1e9, 200e-6, 1e9
SPEC = STRANGE | dict.fromkeys(("launch", "metadata", "kernel", "synchronise"), 1e-9)
SPEC |= {
    "devices": 4,
    "bandwidth": 1e18,
    "flops": {"float32": RATE},
    "links": {"peer": {"latency": LATENCY, "rate": LINK}},
}
LAYERS = [(64, 128), (128, 128), (128, 1)]  # of the medium network
SIZES = [size for inner, outer in LAYERS for size in (inner * outer, outer)]
trained = of_module(
    SPEC,
    "bench_data_parallel and (medium-1] or medium-64]) and (one_device or by_hand)"
    " or bench_data_parallel[acme:0+acme:1-medium-64]",
    admitted="events-miss-work",  # of copies that one device makes for all
)


def products(batch: int) -> float:
    """Return what the products of a step take: forward, and twice as many backward.

    But for the gradient of the inputs, which nobody asks for.
    """
    layers = [2 * batch * inner * outer for inner, outer in LAYERS]
    return (3 * sum(layers) - layers[0]) / RATE


def copies(sizes: list[int]) -> float:
    """Return what copies of so many numbers each take, one after the other."""
    return sum(LATENCY + 4 * size / LINK for size in sizes)


def by_hand(batch: int, count: int) -> float:
    """Return what a step takes on so many devices, all of whose copies the first one makes."""
    share = -(-batch // count)
    shares = [min(share, batch - begin) for begin in range(0, batch, share)]
    send = sum(copies([64 * each, each]) for each in shares[1:])
    gather, give = (len(shares) - 1) * copies(SIZES), (count - 1) * copies(SIZES)
    return send + products(share) + gather + give


def test_several_devices_take_their_share_of_products_and_the_copies(trained: Measured) -> None:
    for batch in (1, 64):
        trained.holds({f"bench_one_device[acme:0-medium-{batch}]": products(batch)})
        for count, group in GROUPS.items():
            name = f"bench_by_hand[{group}-medium-{batch}]"
            trained.holds({name: by_hand(batch, count)})
            check = trained.case(name).extra_info.check
            assert check is not None
            assert f"on {min(batch, count)} of {count} devices" in check.compared


@pytest.mark.parametrize("count", GROUPS)
def test_the_gain_is_that_of_the_shares_less_the_copies(trained: Measured, count: int) -> None:
    group = GROUPS[count]
    gains = {batch: products(batch) / by_hand(batch, count) for batch in (1, 64)}
    trained.holds({f"speed-up-by_hand-{group}-medium": gains[64]})
    (lines,) = trained.plot(f"speed-up-{group}-medium").values()
    assert lines == pytest.approx(gains, rel=EXACT)
    # The second device begins when it has its share, the first one when all the others have.
    share = 64 // count
    late = (count - 2) * copies([64 * share, share]) / (count - 1)
    concurrency = {f"bench_by_hand[{group}-medium-64] concurrency": 1 - late / products(share)}
    trained.holds(concurrency, 0.02)


def test_two_devices_are_worth_it_from_the_batch_where_times_cross(trained: Measured) -> None:
    small, large = (products(batch) - by_hand(batch, 2) for batch in (1, 64))
    crossing = 1 + 63 * small / (small - large)
    trained.holds({f"threshold-by_hand-{GROUPS[2]}-medium": crossing})


def test_a_build_that_lacks_what_nn_data_parallel_needs_is_the_reason(trained: Measured) -> None:
    outcome = trained.outcome("bench_data_parallel[acme:0+acme:1-medium-64]")
    known = "AttributeError: module 'torch._C' has no attribute"
    assert outcome.status == "skipped"
    assert outcome.reason == f"no primitives for nn.DataParallel here: {known}"
    found = trained.finding("speed-up-data_parallel-acme:0+acme:1-medium")
    assert found.answer == f"Not measured: {outcome.reason}."
