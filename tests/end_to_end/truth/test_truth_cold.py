# SPDX-License-Identifier: MIT
"""What cold caches are found to cost is what the simulated memory takes longer than its cache.

The run is made in the simulation's own time (see `test_truth.py`).
"""

from pathlib import Path

import pytest

from tests.end_to_end.truth.test_truth import KNOWN
from tests.end_to_end.truth.test_truth_bare import marker
from tests.instruments.devices.measured import EXACT, STRANGE, Measured, errors, measured

pytestmark = pytest.mark.long

SPEC = STRANGE | {
    "memory": 256 << 20,  # the gauge keeps 64 MiB, the two buffers of cold caches 16 MiB
    "flops": {"float32": 500e9},
    "cache": 4 << 20,
    "cache_bandwidth": 63e9,
}
LARGE = 1024
"""Three such matrices fit into no cache, and the product is bound by its arithmetic."""


@pytest.fixture(scope="module")
def chilled(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(
        tmp_path_factory.mktemp("chilled"),
        SPEC,
        "(bench_square and float32 and (64- or 256- or 1024-) and not narrow and not graph)"
        " or square_cold or ((within or within_cold) and (1048576 or 16777216))",
        *("--devices", "acme:0", "--budget", 12),
    )


def seconds(seen: Measured, size: float, flops: float = 0.0, *, cold: bool) -> float:
    """Return what a user waits for an operation that reads and writes so many bytes."""
    from_memory, from_cache = seen.spec.seconds(int(size), flops / seen.spec.flops["float32"])
    there = from_memory if cold else from_cache
    return seen.spec.launch + there + seen.spec.synchronise


def test_every_claim_of_cold_caches_holds(chilled: Measured) -> None:
    assert chilled.code == 0
    assert errors(chilled.run.frobench.conclusions) == set()


@pytest.mark.parametrize("n", [64, 256, LARGE])
def test_a_product_with_cold_caches_takes_its_factors_from_memory(
    chilled: Measured, n: int
) -> None:
    work = (3 * 4 * n**2, 2 * n**3)
    truth = seconds(chilled, *work, cold=True)
    assert chilled.seconds(f"bench_square_cold[acme:0-{n}]") == pytest.approx(truth, rel=EXACT)
    warm = seconds(chilled, *work, cold=n == LARGE)
    (ratios,) = chilled.plot("cold-product").values()
    assert ratios[n] == pytest.approx(truth / warm, rel=EXACT)


@pytest.mark.parametrize("size", [4**10, 4**12])
def test_a_copy_with_cold_caches_reads_and_writes_memory(chilled: Measured, size: int) -> None:
    cold, warm = (seconds(chilled, 2 * size, cold=cold) for cold in (True, size == 4**12))
    for name, truth in (("within_cold", cold), ("within", warm)):
        took = chilled.seconds(f"bench_{name}[acme:0-{size}]")
        assert took == pytest.approx(truth, rel=EXACT)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    options = ("--benchmarks", KNOWN, "--devices", "acme:0", "--budget", 12)
    return measured(tmp_path_factory.mktemp("known"), SPEC, "renewed or beside", *options)


def test_caches_are_emptied_after_what_is_done_before_each_sample(known: Measured) -> None:
    truth = seconds(known, 2 * 4**10, cold=True)
    assert known.seconds(f"bench_renewed[acme:0-{4**10}]") == pytest.approx(truth, rel=EXACT)


def test_pairs_of_two_versions_are_as_many_as_the_time_of_the_case_allows(known: Measured) -> None:
    rounds = known.case(f"bench_beside[acme:0-{4**6}]").stats.rounds
    assert rounds > 0.8 * known.run.frobench.settings.most_samples


def test_caches_of_an_unknown_size_are_emptied_too(tmp_path: Path) -> None:
    options = ("--devices", "acme:0", "--budget", 12)
    unknown = SPEC | {"bare": True, "memory": 2 << 30}
    seen = measured(tmp_path, unknown, "(within or within_cold) and 1048576", *options)
    launch, reading = seen.spec.launch, marker(seen)
    from_memory, from_cache = seen.spec.seconds(2 * 4**10)
    for name, there in (("within_cold", from_memory), ("within", max(launch, from_cache))):
        took = seen.seconds(f"bench_{name}[acme:0-{4**10}]")
        assert took == pytest.approx(launch + there + reading, rel=EXACT)
