# SPDX-License-Identifier: MIT
"""What reading losses and loading data cost on simulated devices is what their costs make of it.

The run is made in the simulation's own time (see `test_truth.py`), on devices that
take longer for an operation than the host for its launch. So a silent training keeps its device
busy, and whoever reads a loss lets it wait. Threads have no clock of their own there, and are left
out.
"""

import pytest

from frobench.reports.findings.exercises.training import MEMORIES
from tests.instruments.devices.measured import EXACT, GROUPS, STRANGE, Measured, measured
from tests.instruments.processes.alone import smaller

pytestmark = pytest.mark.long

LAUNCH, KERNEL, WAIT = 0.3e-3, 0.9e-3, 0.6e-3
SPEC = STRANGE | {
    "devices": 4,
    "launch": LAUNCH,
    "metadata": 0.0,
    "kernel": KERNEL,
    "synchronise": WAIT,
    "bandwidth": 1e18,
    "flops": {"float32": 1e12},
    "links": {
        "h2d_pageable": {"latency": 1.5e-3, "rate": 3e6},
        "h2d_pinned": {"latency": 0.9e-3, "rate": 6e6},
        "d2h_pageable": {"latency": 2.1e-3, "rate": 1e6},
    },
}
STEPS, SAMPLES, BATCH = 3, 2048, 64
INPUTS, TARGETS = 16 * 4, 4
"""Bytes of a sample."""
STEP = 16 * KERNEL
"""Four operations forward (two layers, tanh and loss), eleven backward, and the update."""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    changes = {"loss_reporting": {"STEPS = 30": f"STEPS = {STEPS}"}}
    folder, select = tmp_path_factory.mktemp("seen"), "small and (64-1] or loading or one_thread)"
    return measured(folder, SPEC, select, "--benchmarks", smaller(folder, changes))


def reading(seen: Measured, losses: int) -> float:
    """Return what the host takes, beyond waiting for the device, to read so many losses."""
    return seen.spec.links.d2h_pageable.seconds(4 * losses) + WAIT


def silent(seen: Measured, begin: float = 0.0, more: float = 0.0) -> float:
    """Return what a training takes whose losses are read at the end.

    begin : before its first launch
    more : device time that a step takes beyond its own operations
    """
    return begin + LAUNCH + STEPS * (STEP + more) + KERNEL + reading(seen, STEPS) + WAIT


def test_a_loss_that_is_read_lets_the_device_wait_for_the_next_launch(seen: Measured) -> None:
    name = "bench_reading[acme:0-small-64-1]"
    step = LAUNCH + STEP + reading(seen, 1)
    (beside, *_) = seen.case(name).extra_info.against or []
    assert beside == pytest.approx(silent(seen), rel=EXACT)
    each = (STEPS * step + WAIT - silent(seen)) / (STEPS - 1)  # the silent one reads once, too
    ratio = 1 + each / ((silent(seen) - each) / STEPS)
    seen.holds({name: STEPS * step + WAIT, "slow-down-small-64-acme:0": ratio})


def loaded(seen: Measured, memory: str) -> float:
    """Return what a training takes whose data are loaded in some way."""
    links = seen.spec.links
    link = links.h2d_pageable if memory in {"pageable", "at_once"} else links.h2d_pinned
    count = SAMPLES if memory == "at_once" else BATCH
    copies = link.seconds(count * INPUTS) + link.seconds(count * TARGETS)
    waited = copies + 2 * (LAUNCH + WAIT)
    return {
        "pageable": silent(seen, more=waited),
        "pinned": silent(seen, more=copies),
        "prefetched": silent(seen, begin=copies),
        "at_once": silent(seen, begin=waited),
    }[memory]


def test_loading_takes_what_the_device_must_wait_for(seen: Measured) -> None:
    (ways,) = seen.plot("loading").values()
    for memory in ("pageable", "pinned", "prefetched", "at_once"):
        truth = loaded(seen, memory)
        seen.holds({f"bench_loading[acme:0-small-64-{memory}]": truth})
        (shown,) = (value for way, value in ways.items() if MEMORIES[memory] in str(way))
        assert shown == pytest.approx(truth / silent(seen), rel=EXACT)


@pytest.mark.parametrize("count", GROUPS)
def test_a_thread_that_waits_for_a_device_keeps_others_waiting(seen: Measured, count: int) -> None:
    launches, others = 16 * LAUNCH, count - 1
    # The last device has its last step after all launches, unless it is behind with its steps.
    turn = count * launches
    nobody = max(
        (STEPS - 1) * turn + (others - 1) * launches + LAUNCH + STEP, LAUNCH + STEPS * STEP
    )
    first = LAUNCH + STEP + reading(seen, 1)
    turn = first + others * launches
    read = (STEPS - 1) * turn + (others - 1) * launches + LAUNCH + STEP
    assert read / nobody > 1.1
    seen.holds({f"others-one_thread-small-64-{GROUPS[count]}": read / nobody})
