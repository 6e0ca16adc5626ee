# SPDX-License-Identifier: MIT
"""Latency and bandwidth that a run finds are those of the simulated links.

The run is made in the simulation's own time (see `test_truth.py`).
"""

import pytest

from frobench.reports.findings.exercises.copies import KINDS
from frobench.reports.findings.fit import fit
from frobench.reports.findings.select import cases_of
from frobench.suite.checks.ceilings import PATHS
from tests.instruments.devices.measured import EXACT, STRANGE, Measured, measured

pytestmark = pytest.mark.long

FITTED = 0.02
"""How near the truth must come what is read off a line."""
SIZE = 4**9
ONE, BOTH = "acme:0", "acme:0+acme:1"
LINKS = [
    ("to-device", ONE, "h2d_pageable"),
    ("to-host", ONE, "d2h_pageable"),
    ("to-device-pinned", ONE, "h2d_pinned"),
    ("to-host-pinned", ONE, "d2h_pinned"),
    ("between", BOTH, "peer"),
]


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(
        tmp_path_factory.mktemp("moved"),
        STRANGE,
        "bench_copies and (0-4- or 1-4- or 0-4] or 1024 or 262144 or within or print)"
        " and not 268435456",
        *("--devices", "acme:0,acme:1", "--budget", 12),
    )


def test_every_copy_arrives(moved: Measured) -> None:
    assert moved.code == 0
    paths = {
        case.name.partition("[")[0]: case.extra_info.work.path for case in moved.run.benchmarks
    }
    declared = {name: path for name, path in PATHS.items() if name in paths}
    assert declared
    assert {name: paths[name] for name in declared} == declared


def latency(moved: Measured, kind: str, device: str) -> float:
    """Return the latency that an answer names beside the bandwidth of a kind of copies."""
    times = KINDS[kind].curve(cases_of(moved.run, "copies"), device)
    return float(fit(times).latency.median())


@pytest.mark.parametrize(("kind", "device", "link"), LINKS, ids=[link for *_, link in LINKS])
def test_a_link_has_its_latency_and_its_bandwidth(
    moved: Measured, kind: str, device: str, link: str
) -> None:
    spec, way = moved.spec, getattr(moved.spec.links, link)
    fixed = spec.launch + 2 * spec.synchronise  # of the copy and after it, or of both devices
    assert latency(moved, kind, device) == pytest.approx(fixed + way.latency, rel=FITTED)
    assert moved.value(f"bandwidth-{kind}-{device}") == pytest.approx(way.rate, rel=FITTED)


def test_through_the_host_a_copy_takes_both_links_one_after_the_other(moved: Measured) -> None:
    spec, links = moved.spec, moved.spec.links
    fixed = 2 * spec.launch + 4 * spec.synchronise
    fixed += links.d2h_pinned.latency + links.h2d_pinned.latency
    assert latency(moved, "between-through-host", BOTH) == pytest.approx(fixed, rel=FITTED)
    rate = 1 / (1 / links.d2h_pinned.rate + 1 / links.h2d_pinned.rate)
    assert moved.value("bandwidth-between-through-host-acme:0+acme:1") == pytest.approx(
        rate, rel=FITTED
    )


def test_a_copy_within_a_device_reads_and_writes_its_memory(moved: Measured) -> None:
    spec = moved.spec
    fixed = spec.launch + spec.kernel + spec.synchronise
    assert latency(moved, "within", ONE) == pytest.approx(fixed, rel=FITTED)
    assert moved.value("bandwidth-within-acme:0") == pytest.approx(spec.bandwidth, rel=FITTED)


def test_a_copy_that_nobody_waits_for_holds_the_thread_for_its_launch(moved: Measured) -> None:
    spec, way = moved.spec, moved.spec.links.h2d_pinned
    assert moved.value("non-blocking") == pytest.approx(spec.launch, rel=EXACT)
    name, spent = f"bench_to_device[acme:0-{SIZE}-", spec.launch + way.seconds(SIZE)
    alone, waited = moved.seconds(f"{name}non_blocking]"), moved.part(f"{name}pinned]", "enqueue")
    assert alone == pytest.approx(spent + spec.synchronise, rel=EXACT)
    assert waited == pytest.approx(spent + spec.synchronise, rel=EXACT)


def test_copies_in_both_directions_share_their_time(moved: Measured) -> None:
    spec, links = moved.spec, moved.spec.links
    there, back = (way.seconds(SIZE) for way in (links.h2d_pinned, links.d2h_pinned))
    both = max(spec.launch + there, 2 * spec.launch + back) + spec.synchronise
    assert moved.seconds(f"bench_both_ways[acme:0-{SIZE}]") == pytest.approx(both, rel=EXACT)
    in_turn = spec.launch + there + back + spec.synchronise  # both are launched meanwhile
    assert moved.value("both-ways") == pytest.approx(in_turn / both, rel=EXACT)
    shared = (in_turn - both) / min(there, back)
    found = moved.part(f"bench_both_ways[acme:0-{SIZE}]", "concurrency")
    assert found == pytest.approx(shared, abs=FITTED)


@pytest.mark.parametrize(
    ("name", "link"), [("all-to-device", "h2d_pinned"), ("all-to-host", "d2h_pinned")]
)
def test_copies_of_all_devices_at_once_share_their_time(
    moved: Measured, name: str, link: str
) -> None:
    spec, way = moved.spec, getattr(moved.spec.links, link)
    alone = spec.launch + way.seconds(SIZE) + spec.synchronise
    # The first device is waited for while the second one still works.
    both = 2 * spec.launch + way.seconds(SIZE) + spec.synchronise
    case = f"bench_all_at_once[acme:0+acme:1-{SIZE}-{name.removeprefix('all-').replace('-', '_')}]"
    assert moved.seconds(case) == pytest.approx(both, rel=EXACT)
    assert moved.value(f"{name}-acme:0+acme:1") == pytest.approx(alone / both, rel=EXACT)


def test_printing_a_tensor_brings_it_back(moved: Measured) -> None:
    spec, way = moved.spec, moved.spec.links.d2h_pageable
    fixed = spec.launch + 2 * spec.synchronise + spec.metadata
    one, many = (moved.seconds(f"bench_print[acme:0-{size}]") for size in (4, 4000))
    assert one == pytest.approx(fixed + way.seconds(4), rel=EXACT)
    assert many == pytest.approx(fixed + way.seconds(4000), rel=EXACT)
