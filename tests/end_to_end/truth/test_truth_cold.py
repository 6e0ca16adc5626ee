# SPDX-License-Identifier: MIT
"""What cold caches are found to cost is what the simulated memory takes longer than its cache.

The run is made in the simulation's own time (see `test_truth.py`).
"""

from pathlib import Path

import pytest

from tests.instruments.devices.measured import EXACT, STRANGE, Measured, measured, of_module
from tests.instruments.processes.command import KNOWN

pytestmark = pytest.mark.long

SPEC = STRANGE | {
    "devices": 1,
    "memory": 256 << 20,  # the gauge keeps 64 MiB, the two buffers of cold caches 16 MiB
    "flops": {"float32": 500e9},
    "cache": 4 << 20,
    "cache_bandwidth": 63e9,
}
LARGE = 1024
"""Three such matrices fit into no cache, and the product is bound by its arithmetic."""
chilled = of_module(
    SPEC,
    "(bench_square and float32 and (64- or 256- or 1024-) and not narrow and not graph)"
    " or square_cold or ((within or within_cold) and (1048576 or 16777216))",
)


def seconds(seen: Measured, size: float, flops: float = 0.0, *, cold: bool) -> float:
    """Return what a user waits for an operation that reads and writes so many bytes."""
    from_memory, from_cache = seen.spec.seconds(int(size), flops / seen.spec.flops["float32"])
    there = from_memory if cold else from_cache
    return seen.spec.launch + there + seen.spec.synchronise


def test_a_product_with_cold_caches_takes_its_factors_from_memory(chilled: Measured) -> None:
    (ratios,) = chilled.plot("cold-product").values()
    for n in (64, 256, LARGE):
        work = (3 * 4 * n**2, 2 * n**3)
        truth = seconds(chilled, *work, cold=True)
        chilled.holds({f"bench_square_cold[acme:0-{n}]": truth})
        warm = seconds(chilled, *work, cold=n == LARGE)
        assert ratios[n] == pytest.approx(truth / warm, rel=EXACT)


def test_a_copy_with_cold_caches_reads_and_writes_memory(chilled: Measured) -> None:
    for size in (4**10, 4**12):
        cold, warm = (seconds(chilled, 2 * size, cold=cold) for cold in (True, size == 4**12))
        truths = {"within_cold": cold, "within": warm}
        chilled.holds({f"bench_{name}[acme:0-{size}]": one for name, one in truths.items()})


def test_caches_are_emptied_after_what_is_done_before_and_pairs_fill_time(tmp_path: Path) -> None:
    known = measured(tmp_path, SPEC, "renewed or beside", "--benchmarks", KNOWN)
    known.holds({f"bench_renewed[acme:0-{4**10}]": seconds(known, 2 * 4**10, cold=True)})
    rounds = known.case(f"bench_beside[acme:0-{4**6}]").stats.rounds
    assert rounds > 0.8 * known.run.frobench.settings.most_samples
