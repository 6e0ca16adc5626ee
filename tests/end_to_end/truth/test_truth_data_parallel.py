# SPDX-License-Identifier: MIT
"""What several simulated devices gain by hand is what their products and links take.

The run is made in the simulation's own time (see `test_truth.py`), on devices whose
launches and memory take none: a step is its products, and copies between devices, one after the
other.
"""

import pytest

from tests.instruments.devices.measured import EXACT, Measured, measured

pytestmark = pytest.mark.long

RATE, LATENCY, LINK = 1e9, 200e-6, 1e9
SPEC = {
    "virtual": True,
    "name": "acme",
    "devices": 4,
    "memory": 128 << 20,
    "launch": 1e-9,
    "metadata": 1e-9,
    "kernel": 0.0,
    "synchronise": 1e-9,
    "bandwidth": 1e18,
    "flops": {"float32": RATE},
    "links": {"peer": {"latency": LATENCY, "rate": LINK}},
}
LAYERS = [(64, 128), (128, 128), (128, 1)]  # of the medium network
SIZES = [size for inner, outer in LAYERS for size in (inner * outer, outer)]
DEVICES = [f"acme:{index}" for index in range(4)]
GROUPS = [2, 4]


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


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(
        tmp_path_factory.mktemp("trained"),
        SPEC,
        "bench_data_parallel and (medium-1] or medium-64]) and (one_device or by_hand)"
        " or bench_data_parallel[acme:0+acme:1-medium-64]",
        *("--devices", ",".join(DEVICES), "--budget", 12),
    )


def test_every_step_changes_what_it_must(trained: Measured) -> None:
    assert trained.code == 0


@pytest.mark.parametrize("batch", [1, 64])
def test_one_device_takes_what_its_products_take(trained: Measured, batch: int) -> None:
    seen = trained.seconds(f"bench_one_device[acme:0-medium-{batch}]")
    assert seen == pytest.approx(products(batch), rel=EXACT)


@pytest.mark.parametrize("count", GROUPS)
@pytest.mark.parametrize("batch", [1, 64])
def test_several_devices_take_their_share_and_the_copies(
    trained: Measured, batch: int, count: int
) -> None:
    name = f"bench_by_hand[{'+'.join(DEVICES[:count])}-medium-{batch}]"
    assert trained.seconds(name) == pytest.approx(by_hand(batch, count), rel=EXACT)
    check = trained.case(name).extra_info.check
    assert check is not None
    assert f"on {min(batch, count)} of {count} devices" in check.compared


@pytest.mark.parametrize("count", GROUPS)
def test_the_gain_is_that_of_the_shares_less_the_copies(trained: Measured, count: int) -> None:
    group = "+".join(DEVICES[:count])
    gain = products(64) / by_hand(64, count)
    assert trained.value(f"speed-up-by_hand-{group}-medium") == pytest.approx(gain, rel=EXACT)
    (lines,) = trained.plot(f"speed-up-{group}-medium").values()
    small = products(1) / by_hand(1, count)
    assert lines == pytest.approx({1: small, 64: gain}, rel=EXACT)


def test_the_batch_from_which_two_devices_are_worth_it_is_where_the_times_cross(
    trained: Measured,
) -> None:
    small, large = (products(batch) - by_hand(batch, 2) for batch in (1, 64))
    crossing = 1 + 63 * small / (small - large)
    found = trained.value(f"threshold-by_hand-{DEVICES[0]}+{DEVICES[1]}-medium")
    assert found == pytest.approx(crossing, rel=EXACT)


@pytest.mark.parametrize("count", GROUPS)
def test_the_shares_are_worked_on_at_the_same_time(trained: Measured, count: int) -> None:
    share = 64 // count
    # The second device begins when it has its share, the first one when all the others have.
    late = (count - 2) * copies([64 * share, share]) / (count - 1)
    name = f"bench_by_hand[{'+'.join(DEVICES[:count])}-medium-64]"
    assert trained.part(name, "concurrency") == pytest.approx(1 - late / products(share), rel=0.02)


def test_a_build_that_lacks_what_nn_data_parallel_needs_is_the_reason(trained: Measured) -> None:
    outcome = trained.outcome("bench_data_parallel[acme:0+acme:1-medium-64]")
    assert outcome.status == "skipped"
    assert outcome.reason is not None
    known = "AttributeError: module 'torch._C' has no attribute"
    assert outcome.reason == f"no primitives for nn.DataParallel here: {known}"
    found = trained.finding("speed-up-data_parallel-acme:0+acme:1-medium")
    assert found.answer == f"Not measured: {outcome.reason}."
