# SPDX-License-Identifier: MIT
"""What a run finds where little is offered: no call that waits, no events, lazy work, no memory."""

from pathlib import Path

import pytest

from frobench.suite.kit.device import READ_BACK, RESULTS
from frobench.suite.stored.types import Case
from tests.end_to_end.truth.test_truth_split_model import pipelined
from tests.instruments.devices.measured import EXACT, GROUPS, STRANGE, Measured, measured, of_module
from tests.instruments.processes.command import KNOWN

pytestmark = pytest.mark.long

PAIR = GROUPS[2]
PRODUCTS = "(bench_square and float32 and (64- or 512-) and not narrow and not graph)"
bare = of_module(
    STRANGE | {"bare": True},
    f"{PRODUCTS} or (bench_norm_logging and 100 and not 1000"
    " and (item or log_on_device or norm_only or log_kept or launch))"
    " or (bench_parallel and (sequence or one_thread or in_turn) and 512 and not process)"
    " or (bench_parameters and write_copy and 1000000 and not 100000000)"
    " or (bench_pipeline and (64-1] or 64-8]))",
)
lazy = of_module(
    STRANGE | {"lazy": True},
    f"{PRODUCTS} or (bench_parallel and one_thread and 512 and not process)",
)


def marker(seen: Measured) -> float:
    """Return what reading one ready element takes once it is launched."""
    return seen.spec.links.d2h_pageable.seconds(4) + seen.spec.synchronise


def readings(seen: Measured) -> list[tuple[Case, float]]:
    """Return what reading an element back took after the wait, relative to a ready one's."""
    [launch] = seen.run.frobench.launches
    ready = max(launch.ready_reading.values())
    return [
        (case, value / ready)
        for case in seen.run.benchmarks
        for value in case.extra_info.parts.get("reading", [])
        if value is not None
    ]


def test_only_a_wait_that_was_proved_is_used_and_stored(bare: Measured, lazy: Measured) -> None:
    for seen, wait in ((bare, READ_BACK), (lazy, RESULTS)):
        [launch] = seen.run.frobench.launches
        assert launch.waits == dict.fromkeys(PAIR.split("+"), wait)
        codes = {one.code for one in seen.run.frobench.conclusions}
        assert codes == {"few-launches"}


def test_nothing_is_left_to_do_after_a_sample(bare: Measured, lazy: Measured) -> None:
    for seen in (bare, lazy):
        found = readings(seen)
        assert len(found) >= 3
        assert [case.name for case, part in found if part != pytest.approx(1, rel=0.01)] == []
        ready = seen.spec.metadata + seen.spec.launch + marker(seen)
        [launch] = seen.run.frobench.launches
        assert [*launch.ready_reading.values()] == pytest.approx([ready] * 2, rel=EXACT)


def test_a_product_is_read_and_a_lazy_one_begins_then(bare: Measured, lazy: Measured) -> None:
    spec = bare.spec
    for n in (64, 512):
        name, product = f"bench_square[acme:0-{n}-float32]", bare.product(n)
        launched = {f"{name} enqueue": spec.launch}
        bare.holds(launched | {name: spec.launch + max(spec.launch, product) + marker(bare)})
        read = 2 * spec.launch + spec.metadata + product + marker(bare)
        lazy.holds(launched | {name: read})


def test_bare_devices_work_together_and_lazy_ones_never(bare: Measured, lazy: Measured) -> None:
    launch, product, read = bare.spec.launch, bare.product(512), marker(bare)
    bare.holds(
        {
            "bench_sequence[acme:0-512]": launch + 2 * product + read,
            f"bench_one_thread[{PAIR}-512]": 2 * launch + product + 2 * read,
            f"bench_in_turn[{PAIR}-512]": 2 * (2 * launch + product + 2 * read),
        }
    )
    each = lazy.spec.metadata + launch + product + read
    lazy.holds({f"bench_one_thread[{PAIR}-512]": 2 * launch + 2 * each})


def test_a_bare_pipeline_takes_its_stages_and_claims_no_overlap(bare: Measured) -> None:
    for micro in (1, 8):
        name = f"bench_pipeline[{PAIR}-64-{micro}]"
        waits = 2 * marker(bare) - bare.spec.synchronise
        bare.holds({name: pipelined(bare, micro, PAIR) + waits})
        assert "concurrency" not in bare.case(name).extra_info.parts


def test_a_full_accelerator_fails_its_own_cases_and_the_others_go_on(tmp_path: Path) -> None:
    memory, free = 64 << 20, 40_000
    spec = {"virtual": True, "memory": memory, "faults": {"taken": [memory - free]}}
    options = ("--benchmarks", KNOWN, "--devices", "cpu,sim:0")
    seen = measured(tmp_path, spec, "bench_square", *options, code=1)
    assert seen.run.frobench.complete
    for n in (16, 24, 28, 256):
        assert seen.outcome(f"bench_square[cpu-{n}-float32]").status == "passed"
        outcome = seen.outcome(f"bench_square[sim:0-{n}-float32]")
        reason = outcome.reason or ""
        if outcome.status == "failed":
            assert reason.startswith("OutOfMemoryError: out of memory. Tried to allocate ")
        else:
            assert (outcome.status, reason.endswith("sim:0 has 0.0 GiB free")) == ("skipped", True)
