# SPDX-License-Identifier: MIT
"""Attention over long contexts: what it counts, and what wrong attention meets."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from frobench.suite.kit.device import Device
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load, planted

CPU = Device("cpu", seed=5)
WIDTH, TOKENS, CACHED = 256, 48, 64
SIZES: dict[str, dict[str, int]] = {
    "prefill": {"tokens": TOKENS},
    "decode": {"cached": CACHED},
    "products": {"tokens": TOKENS},
}
MODULE: Any = load(BENCHMARKS / "bench_long_context.py")


def seen(kind: str, module: Any = MODULE, device: Device = CPU) -> Recorder:  # noqa: ANN401 - a module
    """Call a benchmark on the CPU, with attention whose products torch counts."""
    recorder = Recorder()
    with sdpa_kernel(SDPBackend.MATH):
        function = getattr(module, f"bench_{kind}")
        function(recorder, device=device, width=WIDTH, dtype="float32", **SIZES[kind])
    return recorder


@pytest.mark.parametrize("kind", SIZES)
def test_declared_operations_are_those_that_torch_counts_but_for_the_masked_ones(
    kind: str,
) -> None:
    result = seen(kind)
    masked = 4 * WIDTH * TOKENS * (TOKENS - 1) // 2 if kind == "prefill" else 0
    assert result.work.flops == result.products - masked
    assert result.check.passed
    assert result.check.error < 1e-5


def test_bytes_are_those_that_must_be_moved_once() -> None:
    number = torch.float32.itemsize
    assert seen("prefill").work.bytes == 4 * number * TOKENS * WIDTH
    assert seen("decode").work.bytes == 2 * number * (CACHED + 1) * WIDTH
    assert seen("products").work.bytes == number * (12 * WIDTH**2 + 2 * TOKENS * WIDTH)


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("prefill", "is_causal=True)\n    skip", "is_causal=False)\n    skip"),
        ("decode", "queries, keys, values),\n", "queries, keys[:, :, -9:], values[:, :, -9:]),\n"),
        ("decode", "queries, keys, values),\n", "queries, torch.zeros_like(keys), values),\n"),
        ("products", "linear(mixed, merge)", "mixed"),
    ],
    ids=["wrong mask", "cache not read", "keys not read", "a product left out"],
)
def test_wrong_arithmetic_does_not_pass_the_check(
    kind: str, old: str, new: str, tmp_path: Path
) -> None:
    assert not seen(kind, planted(tmp_path, "bench_long_context", old, new)).check.passed


@pytest.mark.parametrize("kind", SIZES)
def test_layers_that_are_too_wide_for_a_cpu_are_left_out(kind: str) -> None:
    function = getattr(MODULE, f"bench_{kind}")
    with pytest.raises(pytest.skip.Exception, match="wide layers are for accelerators"):
        function(Recorder(), device=CPU, width=4096, dtype="bfloat16", **SIZES[kind])


def test_scores_that_fill_the_memory_leave_the_case_out() -> None:
    def full() -> torch.Tensor:
        raise torch.OutOfMemoryError("out of memory")

    with pytest.raises(pytest.skip.Exception, match="keeps all scores"):
        MODULE.skip_without_memory(Device("meta"), full)
