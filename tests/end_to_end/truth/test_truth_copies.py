# SPDX-License-Identifier: MIT
"""Latency and bandwidth that a run finds are those of the simulated links.

The run is made in the simulation's own time (see `test_truth.py`).
"""

import pytest

from frobench.reports.findings.exercises.copies import KINDS
from frobench.reports.findings.fit import fit
from frobench.reports.findings.select import cases_of
from frobench.suite.checks.ceilings import PATHS
from tests.instruments.devices.measured import DEVICES, GROUPS, STRANGE, Measured, of_module

pytestmark = pytest.mark.long

FITTED = 0.02
"""How near the truth must come what is read off a line."""
SIZE = 4**9
ONE, BOTH = DEVICES[0], GROUPS[2]
moved = of_module(
    STRANGE | {"devices": 4},
    "bench_copies and (0-4- or 1-4- or 0-4] or 1024 or 262144 or within or print)"
    " and not 268435456",
)


def test_a_copy_names_the_path_that_its_bytes_take(moved: Measured) -> None:
    paths = {
        case.name.partition("[")[0]: case.extra_info.work.path for case in moved.run.benchmarks
    }
    declared = {name: path for name, path in PATHS.items() if name in paths}
    assert declared
    assert {name: paths[name] for name in declared} == declared
    between = [one for one in moved.run.frobench.outcomes if "bench_between" in one.fullname]
    assert {one.params["device"] for one in between} == {BOTH}  # a link joins but two


def test_every_way_has_its_latency_and_its_bandwidth(moved: Measured) -> None:
    spec, links = moved.spec, moved.spec.links
    ways = {
        ("to-device", ONE): links.h2d_pageable,
        ("to-host", ONE): links.d2h_pageable,
        ("to-device-pinned", ONE): links.h2d_pinned,
        ("to-host-pinned", ONE): links.d2h_pinned,
        ("between", BOTH): links.peer,
    }
    fixed = spec.launch + 2 * spec.synchronise  # of the copy and after it, or of both devices
    both = links.d2h_pinned, links.h2d_pinned  # one after the other
    truths = {name: (fixed + way.latency, way.rate) for name, way in ways.items()} | {
        ("between-through-host", BOTH): (
            2 * spec.launch + 4 * spec.synchronise + sum(way.latency for way in both),
            1 / sum(1 / way.rate for way in both),
        ),
        ("within", ONE): (spec.launch + spec.kernel + spec.synchronise, spec.bandwidth),
    }
    cases = cases_of(moved.run, "copies")
    moved.holds({f"bandwidth-{'-'.join(name)}": rate for name, (_, rate) in truths.items()}, FITTED)
    for (kind, device), (latency, _) in truths.items():
        found = float(fit(KINDS[kind].curve(cases, device)).latency.median())
        assert found == pytest.approx(latency, rel=FITTED), kind


def test_a_copy_that_nobody_waits_for_holds_the_thread_for_its_launch(moved: Measured) -> None:
    spec, name = moved.spec, f"bench_to_device[acme:0-{SIZE}-"
    whole = spec.launch + spec.links.h2d_pinned.seconds(SIZE) + spec.synchronise
    moved.holds({"non-blocking": spec.launch, f"{name}non_blocking]": whole})
    moved.holds({f"{name}pinned] enqueue": whole})


def test_copies_at_once_share_their_time(moved: Measured) -> None:
    spec, links = moved.spec, moved.spec.links
    there, back = (way.seconds(SIZE) for way in (links.h2d_pinned, links.d2h_pinned))
    both = max(spec.launch + there, 2 * spec.launch + back) + spec.synchronise
    in_turn = spec.launch + there + back + spec.synchronise  # both are launched meanwhile
    name = f"bench_both_ways[acme:0-{SIZE}]"
    moved.holds({name: both, "both-ways": in_turn / both})
    moved.holds({f"{name} concurrency": (in_turn - both) / min(there, back)}, within=FITTED)
    for direction, way in (("device", there), ("host", back)):
        for count, group in GROUPS.items():
            # Each is launched after the one before, and waited for when that one has ended.
            together = count * spec.launch + way + spec.synchronise
            alone = spec.launch + way + spec.synchronise
            moved.holds({f"bench_all_at_once[{group}-{SIZE}-to_{direction}]": together})
            moved.holds({f"all-to-{direction}-{group}": alone / together})
