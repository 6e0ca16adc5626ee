# SPDX-License-Identifier: MIT
"""What a run says that lanes shared of their time is what the simulated devices shared.

The run is made in the simulation's own time (see `test_truth.py`).
"""

import pytest

from frobench.suite.concurrency import Interval
from tests.instruments.devices.measured import GROUPS, STRANGE, Measured, of_module
from tests.instruments.processes.command import KNOWN

pytestmark = pytest.mark.long

NEAR = 0.02
"""How near the truth a part of the time must come."""
ROWS, LAYERS, STAGES = 1024, 4, 2
LARGE, LAUNCH_BOUND = 64, 8
"""Widths of layers, the second of which a device computes faster than they are launched."""
MICRO = pytest.mark.parametrize("micro", [2, 4, 8, 16])
seen = of_module(
    STRANGE | {"launch": 20e-6, "flops": {"float32": 6e9}},
    "side_by_side",
    *("--benchmarks", KNOWN, "--profile", "quick"),
)


def case(micro: int, n: int, way: str) -> str:
    return f"bench_stages[{GROUPS[2]}-{n}-{micro}-{way}]"


def layer(seen: Measured, micro: int, n: int) -> float:
    """Return what the device takes for a layer."""
    return seen.spec.kernel + 2 * ROWS // micro * n**2 / seen.spec.flops["float32"]


def timeline(seen: Measured, micro: int, n: int) -> list[list[Interval]]:
    """Return when each stage's products run, if nothing but devices and launches is waited for."""
    spec, host = seen.spec, seen.spec.metadata
    free = [0.0] * STAGES
    runs: list[list[Interval]] = [[] for _ in range(STAGES)]
    for _ in range(micro):
        for stage in range(STAGES):
            if stage:
                host += spec.launch
                free = [max(host, *free) + spec.links.peer.seconds(4 * ROWS // micro * n)] * STAGES
            for _ in range(LAYERS):
                host += spec.launch
                begin = max(host, free[stage])
                free[stage] = begin + layer(seen, micro, n)
                runs[stage].append((begin, free[stage]))
    return runs


def both(one: list[Interval], other: list[Interval]) -> float:
    """Return the seconds in which both of two stages run."""
    return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in one for b in other)


def truth(seen: Measured, micro: int, n: int) -> float:
    """Return what two stages share of their time."""
    return both(*timeline(seen, micro, n)) / (micro * LAYERS * layer(seen, micro, n))


@MICRO
def test_stages_share_what_devices_do_and_in_turn_nothing(seen: Measured, micro: int) -> None:
    for n in (LARGE, LAUNCH_BOUND):
        assert seen.part(case(micro, n, "in_turn"), "concurrency") <= NEAR
    shared = f"{case(micro, LARGE, 'together')} concurrency"
    seen.holds({shared: truth(seen, micro, LARGE)}, 0.0, within=NEAR)
    assert truth(seen, micro, LARGE) > 0.4
    # where launches take longest no more is claimed than is true
    found = seen.part(case(micro, LAUNCH_BOUND, "together"), "concurrency")
    assert -3 * NEAR < found - truth(seen, micro, LAUNCH_BOUND) < NEAR


@pytest.mark.parametrize("n", [LARGE, LAUNCH_BOUND])
@MICRO
def test_a_stage_is_busy_only_while_it_computes(seen: Measured, micro: int, n: int) -> None:
    name, busy = case(micro, n, "together"), STAGES * micro * LAYERS * layer(seen, micro, n)
    seen.holds({f"{name} busy": busy, f"{name} balance": 1}, NEAR)
    if n == LAUNCH_BOUND and micro > 2:
        assert busy < 0.3 * STAGES * seen.part(name, "span")  # as long as the launches take


@pytest.mark.parametrize("n", [64, 256])
def test_two_streams_of_one_engine_share_nothing_whatever_events_say(
    seen: Measured, n: int
) -> None:
    name = f"bench_streams[acme:0-{n}]"
    assert seen.part(name, "concurrency") <= NEAR
    assert seen.part(name, "shared") / seen.part(name, "shareable") > 0.7
    busy = 2 * seen.product(n)
    seen.holds({f"{name} shareable": busy / 2, f"{name} busy": busy}, NEAR)
