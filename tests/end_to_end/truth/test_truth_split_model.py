# SPDX-License-Identifier: MIT
"""What a run finds of split models and pipelines is what simulated devices make of them.

The run is made in the simulation's own time (see `test_truth.py`), on four devices,
so that it has pipelines of two stages and of four. What the CPU does takes no time there. The
machine has two devices more, which are far slower and which a mask hides.
"""

import pytest

from frobench.suite.concurrency import Interval, shareable, shared, union
from tests.instruments.devices.measured import DEVICES, GROUPS, STRANGE, Measured, of_module

pytestmark = pytest.mark.long

SPEC = STRANGE | {
    "devices": 6,
    "faults": {"speeds": [1.0, 0.1, 1.0, 1.0, 0.1, 1.0]},
    "launch": 20e-6,
    "metadata": 3e-6,
    "flops": {"float32": 4e9},
}
PART = 0.02
"""How near the truth a difference of times must come."""
WORDS, WIDTH, CLASSES = 64, 512, 16
N, ROWS, DEEP = 64, 1024, 24
"""Width, batch and layers of a pipeline."""
OF_GROUPS = pytest.mark.parametrize("group", GROUPS.values())


split = of_module(
    SPEC,
    "split_model and 64 and not (1024 or 16384 or 256 or bench_step or 64-2] or 64-4])"
    " and not (tasks and 1-64])",
    *("--devices", ",".join(DEVICES)),
    ACME_VISIBLE_DEVICES="0,2,3,5",
)


def layer(seen: Measured, rows: int, inputs: int, outputs: int) -> float:
    """Return what the device takes for a layer: a product and its tanh."""
    product = seen.spec.seconds(0, 2 * rows * inputs * outputs / seen.spec.flops["float32"])
    tanh = seen.spec.seconds(2 * 4 * rows * outputs)
    return product[0] + tanh[0]


def layers(seen: Measured) -> float:
    """Return what the device takes for the layers of the model, until the scores are back."""
    hidden = 3 * layer(seen, WORDS, WIDTH, WIDTH)
    scores = seen.spec.links.d2h_pageable.seconds(4 * WORDS * CLASSES)
    return hidden + layer(seen, WORDS, WIDTH, CLASSES) + scores + 2 * seen.spec.synchronise


def across(seen: Measured, size: int) -> float:
    """Return what moving bytes to the device takes, until the host goes on."""
    spec = seen.spec
    return spec.metadata + spec.launch + spec.links.h2d_pageable.seconds(size) + spec.synchronise


def alone(seen: Measured, micro: int) -> float:
    """Return what micro-batches take on a single device."""
    spec = seen.spec
    work = micro * DEEP * layer(seen, ROWS // micro, N, N)
    return spec.metadata + spec.launch + work + spec.synchronise


def timeline(seen: Measured, micro: int, group: str) -> list[list[Interval]]:
    """Return when each stage works; a copy keeps both of its devices busy."""
    spec, stages = seen.spec, group.count("+") + 1
    work = DEEP // stages * layer(seen, ROWS // micro, N, N)
    copy = spec.links.peer.seconds(4 * ROWS // micro * N)
    done = [0.0] * stages
    runs: list[list[Interval]] = [[] for _ in done]
    for _ in range(micro):
        for stage in range(stages):
            if stage:
                done[stage - 1] = done[stage] = max(done[stage - 1 : stage + 1]) + copy
            runs[stage].append((done[stage], done[stage] + work))
            done[stage] += work
    return runs


def pipelined(seen: Measured, micro: int, group: str) -> float:
    """Return what they take on several devices."""
    spec, ends = seen.spec, [runs[-1][1] for runs in timeline(seen, micro, group)]
    return spec.metadata + spec.launch + max(ends) + spec.synchronise


def test_every_placement_and_every_pipeline_gives_the_right_result(split: Measured) -> None:
    assert {one.status for one in split.run.frobench.outcomes} == {"passed"}


def test_the_boundary_costs_what_more_is_moved_and_looked_up_elsewhere(split: Measured) -> None:
    spec = split.spec
    table = 4 * 4096 * WIDTH + 8 * WORDS + 4 * WORDS * WIDTH  # as this device counts: all of it
    whole = across(split, 8 * WORDS) + spec.launch + spec.seconds(table)[0] + layers(split)
    parted = across(split, 4 * WORDS * WIDTH) + spec.launch + layers(split)
    looked_up = across(split, 8 * WORDS) + spec.launch + spec.seconds(table)[0] + spec.synchronise
    split.holds(
        {
            "bench_forward[acme:0-64]": whole,
            "bench_split_forward[acme:0-64]": parted,
            "placement": min(parted, whole),
            "embedding-acme:0": looked_up / whole,
        }
    )
    split.holds({"boundary": parted - whole}, PART)


@OF_GROUPS
def test_a_pipelines_time_its_gain_and_its_bubble_are_found(split: Measured, group: str) -> None:
    for micro in (1, 8):
        split.holds({f"bench_one_device[acme:0-64-{micro}]": alone(split, micro)})
        split.holds({f"bench_pipeline[{group}-64-{micro}]": pipelined(split, micro, group)})
    stages, many = group.count("+") + 1, pipelined(split, 8, group)
    split.holds({f"pipeline-{group}": alone(split, 1) / many})
    busy = 8 * DEEP * layer(split, ROWS // 8, N, N)
    bubble = 1 - busy / stages / many
    split.holds({f"bubble-{group}": bubble}, PART)
    assert bubble > (stages - 1) / (8 + stages - 1)  # what theory leaves out costs something


@OF_GROUPS
def test_stages_overlap_but_not_those_of_a_batch_in_one_piece(split: Measured, group: str) -> None:
    runs = timeline(split, 8, group)
    truth = shared(runs) / shareable([union(one) for one in runs])
    assert truth == pytest.approx(1 - 1 / 8, rel=0.05)  # copies hold stages up
    split.holds({f"overlap-{group}": truth}, PART)
    split.holds({f"bench_pipeline[{group}-64-1] concurrency": 0}, within=PART)


def test_independent_models_wait_only_for_each_others_launches(split: Measured) -> None:
    spec = split.spec
    one = DEEP * layer(split, ROWS, N, N)
    in_sequence = spec.launch + 2 * one + spec.synchronise
    launched = 3 * 2 * DEEP * spec.launch
    at_once = launched + spec.launch + one + spec.synchronise
    split.holds({f"tasks-{GROUPS[4]}": in_sequence / 2 / (at_once / 4)})
