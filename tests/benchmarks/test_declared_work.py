# SPDX-License-Identifier: MIT
"""Every benchmark declares the operations that torch counts, and its result passes its check."""

import pytest
from msgspec.structs import asdict

from frobench.suite.kit.device import Device
from tests.benchmarks.calls import CALLS, CHECKS, CPU, LAYER, brief, called
from tests.instruments.processes.alone import BENCHMARKS

PLAIN = 0.05
"""No input of a benchmark has so large a part of one and the same value."""
USUAL = {"bytes": None, "items": None, "path": None, "lanes": 0}
ALLOWED = {
    "": {"every element, bit by bit": 0.0},
    "convolutions": {"outputs": 1e-4, "gradients": 3e-4, "weights after the step": 2e-5},
    "convolutions.step bfloat16": {"outputs": 0.05, "gradients": 0.15},
    "data_parallel": {
        "what a step": 1e-3,
        "the outputs": 1e-4,
        "the loss after training": 0.25 + 3 * 0.94 ** (1 + 25),
    },
    "long_context": {"attention": 1e-4, "products": 1e-4},
    "loss_reporting": {"the first losses": 1e-3, "the loss after training": 0.25 + 3 * 0.94**20},
    "many_or_one.chain": {"the sum of the chain": 1e-5},
    "norm_logging": {"norms": 1e-5},
    "parameters.read_scalar": {"the parameter": 0.0},
    "placement": {"the address of the memory": 0.0, "the distribution": 3.0},
    **{
        f"placement.{way} {n}": {"the distribution": 3 / part**0.5}
        for way in ("create", "create_then_move")
        for n, part in ((64, 64), (4096, 4096), (70_000, 35_000))
    },
    "small_weights": {"outputs, with rounded weights": 0.05, "what outputs show": 0.5},
    "small_weights.decode": {"outputs, with weights that are not rounded": 0.05},
    "small_weights.decode int4": {"outputs, with weights that are not rounded": 0.3},
    "small_weights.decode float8": {
        "outputs, with rounded weights": 0.15,
        "outputs, with weights that are not rounded": 0.2,
    },
    "split_model": {"words": 0.0, "32 rows": 1e-5, "gradients": 1e-4},
    "transformer": {"outputs, keys and values": 0.05, "the loss": 0.05, "gradients": 0.15},
    "transformer.train": {"weights after the step": 2e-5},
    "transformer.train_narrow": {"the loss": 1e-4, "gradients": 3e-4},
    "transformer.prefill_narrow": {"outputs, keys and values": 1e-4},
    "transformer.decode_narrow": {"outputs, keys and values": 1e-4},
}
"""How far off results may be: of calls that are named so, in checks that are worded so.

Of several rows the last one counts. The errors of other checks depend on the numbers.
"""


@pytest.mark.parametrize("name", CALLS)
def test_work_is_what_torch_counts_and_must_be_moved_and_results_are_right(name: str) -> None:
    seen, call = called(name), CALLS[name]
    counted = {"flops": seen.products - call.masked or None}
    assert asdict(seen.work) | seen.more == USUAL | counted | {**call.declared}
    for words, bound in {check.compared: check.bound for check in CHECKS}.items():
        rows = [row.items() for start, row in ALLOWED.items() if name.startswith(start)]
        most = [most for row in rows for start, most in row if words.startswith(start)]
        if not words.startswith(("every entry", "the printed numbers")):
            assert {words: bound} == pytest.approx({words: most[-1]})
    assert seen.check.passed
    assert seen.beside is None or seen.beside.passed
    assert seen.commonest is None or seen.commonest < PLAIN


LAYERS, CACHES = 2 * LAYER, 2 * 2 * 24 * 256
"""Weights of two layers, and numbers of their caches of 24 tokens."""
NEEDED = {
    "convolutions.step": (20 * 4 * 3 * 8 * 28**2, 0),  # twenty times the images
    "copies.to_device": (4**6, 3 * 4**6),
    "copies.both_ways": (4**6, 5 * 4**6),
    "copies.all_at_once": (4**6, (2 + 3) * 4**6),
    # as they are drawn, in float32 and bfloat16, and queries and outputs as keys and values
    "long_context.prefill": ((2 * 4 + 2 * 2) * (48 + 48) * 256, 0),
    "long_context.decode": ((2 * 4 + 2 * 2) * (1 + 64) * 256, 0),
    "long_context.products": (4 * (2 * 12 * 256**2 + 10 * 48 * 256), 0),
    "matmul.square_with_copies": (3 * 4 * 64**2, 4 * 64**2),
    "parameters.read_flat": (0, 12_000_000),
    "parameters.write_rebuild": (8_000_000, 8_000_000),
    "parameters.write_rebuild_on_meta": (4_000_000, 8_000_000),
    "parameters.move": (4_000_000, 12_000_000),
    "placement.create 64": (4 * 64, 0),
    "placement.create_then_move 64": (4 * 64, 4 * 64),
    "small_weights.decode int8": (4 * 4 * (12 * 512**2 + 2 * 512 + 2 * 2048 * 512), 0),
    # all eightfold, and of backward 30 numbers for each of a token's, and two matrices a head
    "transformer.train": (8 * 4 * LAYERS + 30 * 4 * 2 * 16 * 256 + 2 * 4 * (2 * 2) * 16**2, 0),
    # as they are, and a layer with its cache, and what becomes of tokens, in float32
    "transformer.prefill": (
        2 * (LAYERS + CACHES) + 4 * (LAYERS + CACHES) // 2 + 4 * 24 * (20 * 256 + 3 * 24),
        0,
    ),
    "transformer.decode": (
        2 * (LAYERS + 3 * CACHES) + 4 * (LAYERS + 3 * CACHES) // 2 + 4 * 3 * (20 * 256 + 3 * 24),
        0,
    ),
}
"""Bytes that must be free for a call: on its device, and on another device or the host."""


@pytest.mark.parametrize("name", NEEDED)
def test_a_case_wants_as_much_memory_as_it_takes(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    wanted: dict[bool, list[float]] = {True: [], False: []}
    monkeypatch.setattr(Device, "require", lambda self, nbytes: wanted[self is CPU].append(nbytes))
    called(name, brief(BENCHMARKS / f"bench_{name.partition('.')[0]}.py"))  # with caches empty
    for first, *later in ([*wanted[True], 0], [*wanted[False], 0]):
        assert first >= max(later, default=0)  # before anything is drawn
    assert ([*wanted[True], 0][0], [*wanted[False], 0][0]) == NEEDED[name]
