# SPDX-License-Identifier: MIT
"""Split models: what they count, what they compute, and what wrong arithmetic meets."""

from pathlib import Path
from typing import Any

import pytest
import torch

from frobench.suite.kit.device import Device
from tests.instruments.faults.faulty import Fault, checked
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

CPU = Device("cpu")
WIDTH = 512
WORDS = {"tokens": 64}
MODULE = load(BENCHMARKS / "bench_split_model.py")
COUNTED: list[tuple[str, dict[str, Any], int]] = [
    ("forward", {"device": CPU, **WORDS}, 1),
    ("split_forward", {"accelerator": CPU, **WORDS}, 1),
    ("layers", {"device": CPU, **WORDS}, 1),
    ("step", {"device": CPU, **WORDS}, 1),
    ("split_step", {"accelerator": CPU, **WORDS}, 1),
    ("pipeline", {"devices": [CPU] * 3, "n": 64, "micro": 4}, 1),
    ("one_device", {"accelerator": CPU, "n": 64, "micro": 8}, 1),
    ("tasks_at_once", {"devices": [CPU] * 3, "n": 64}, 3),
    ("tasks_in_sequence", {"accelerator": CPU, "n": 64}, 2),
]


@pytest.mark.parametrize(
    ("name", "arguments", "models"), COUNTED, ids=[name for name, *_ in COUNTED]
)
def test_declared_operations_are_those_that_torch_counts(
    name: str, arguments: dict[str, Any], models: int
) -> None:
    seen = Recorder()
    getattr(MODULE, f"bench_{name}")(seen, **arguments)
    assert seen.work.flops == seen.products
    assert seen.work.items == arguments.get("tokens", arguments.get("micro", models))
    assert seen.check.passed
    assert seen.commonest is None or seen.commonest < 0.01


def test_a_word_is_read_and_written_and_moved_once() -> None:
    looked_up, moved = Recorder(), Recorder()
    MODULE.bench_embedding(looked_up, device=CPU, tokens=64)
    MODULE.bench_boundary(moved, accelerator=CPU, tokens=64)
    assert looked_up.work.bytes == 2 * 64 * WIDTH * 4
    assert moved.work.bytes == 64 * WIDTH * 4
    for seen in (looked_up, moved):
        assert seen.products == 0
        assert seen.check.passed


def test_layers_that_do_not_divide_are_no_pipeline() -> None:
    with pytest.raises(pytest.skip.Exception, match="24 layers do not divide into 5 equal stages"):
        MODULE.bench_pipeline(Recorder(), devices=[CPU] * 5, n=64, micro=1)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_neither_vanish_nor_saturate_on_their_way_through_the_layers(seed: int) -> None:
    batch, layers = MODULE.task(Device("cpu", seed), 64)
    assert 0.05 < MODULE.through(batch, layers).abs().mean() < 0.9


def test_a_checked_row_lies_in_every_micro_batch() -> None:
    batch, layers = MODULE.task(CPU, 64)
    right = MODULE.through(batch, layers)
    check = MODULE.outputs(batch, layers)
    for piece in range(32):
        wrong = right.clone()
        wrong.chunk(32)[piece].neg_()
        assert not check([wrong]).passed
    assert check(right.chunk(8)).passed
    assert not check([right[:-1]]).passed
    assert not check([torch.cat([right, right])]).passed


STEP = {"device": CPU, **WORDS}
PIPELINE = {"devices": [CPU] * 2, "n": 64, "micro": 4}
FAULTS = {
    "other words": Fault(
        "split_model.forward", "embedding(words.to", "embedding(words.flip(0).to", STEP
    ),
    "a layer left out": Fault(
        "split_model.layers",
        "in layers:\n        numbers = (",
        "in layers[1:]:\n        numbers = (",
        STEP,
    ),
    "weights transposed": Fault(
        "split_model.one_device",
        "numbers @ weights)",
        "numbers @ weights.t())",
        {"accelerator": CPU, "n": 64, "micro": 2},
    ),
    "another activation": Fault(
        "split_model.layers", "@ weights).tanh()", "@ weights).sin()", STEP
    ),
    "a loss of the wrong mean": Fault(
        "split_model.step", "seen.square().mean()", "seen.square().sum()", STEP
    ),
    "gradients in the wrong order": Fault(
        "split_model.step",
        "seen.square().mean(), parameters)",
        "seen.square().mean(), parameters)[::-1]",
        STEP,
    ),
    "gradients of other numbers": Fault(
        "split_model.step",
        "through(look_up(words, table).to(second.handle), layers)\n        return torch",
        "through(look_up(words, table).to(second.handle) * 1.01, layers)\n        return torch",
        STEP,
    ),
    "stages in the wrong order": Fault(
        "split_model.pipeline",
        "zip(lanes, stages, strict",
        "zip(lanes, stages[::-1], strict",
        PIPELINE,
    ),
    "micro-batches in the wrong order": Fault(
        "split_model.pipeline", "results.append(numbers)", "results.insert(0, numbers)", PIPELINE
    ),
    "one micro-batch for another": Fault(
        "split_model.pipeline", "numbers = batch\n", "numbers = batches[0]\n", PIPELINE
    ),
    "one model's batch in another": Fault(
        "split_model.tasks_at_once",
        "run(*both) for both in zip(lanes, tasks,",
        "run(*both) for both in zip(lanes, tasks[::-1],",
        {"devices": [CPU] * 2, "n": 64},
    ),
    "the second model forgotten": Fault(
        "split_model.tasks_in_sequence",
        "through(batch, layers) for batch, layers in tasks",
        "through(*tasks[0]) for _ in tasks",
        {"accelerator": CPU, "n": 64},
    ),
    "nothing looked up": Fault(
        "split_model.embedding",
        "embedding(words.to(table.device), table)",
        "table[: len(words)]",
        STEP,
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_wrong_arithmetic_does_not_pass_the_check(fault: Fault, tmp_path: Path) -> None:
    assert not checked(fault, tmp_path).passed
