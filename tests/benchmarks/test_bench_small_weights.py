# SPDX-License-Identifier: MIT
"""Decoding with small weights: what they count, and that weights that are not small are noticed."""

from pathlib import Path
from typing import Any

import pytest
import torch

from frobench.suite.kit.device import Device
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load, planted

CPU = Device("cpu", seed=5)
WIDTH = 512
MODULE: Any = load(BENCHMARKS / "bench_small_weights.py")
BYTES = {"bfloat16": 2.0, "int8": 1 + 2 / WIDTH, "int4": 0.5 + 4 / 128, "float8_e4m3fn": 1.0}
"""Bytes of a weight, its part of the scales included."""
ROUNDED = {"int8": 0.003, "int4": 0.03, "float8_e4m3fn": 0.01}
"""Errors that small weights make at least."""


def seen(weights: str, module: Any = MODULE) -> Recorder:  # noqa: ANN401 - a module
    """Call the benchmark on the CPU."""
    recorder = Recorder()
    module.bench_decode(recorder, device=CPU, width=WIDTH, weights=weights, dtype="bfloat16")
    return recorder


@pytest.mark.parametrize("weights", BYTES)
def test_a_token_moves_small_weights_and_the_cache_once(weights: str) -> None:
    result = seen(weights)
    rest = 2 * (2 * WIDTH + 2 * MODULE.CACHED * WIDTH + 2 * WIDTH)
    assert result.work.bytes == pytest.approx(12 * WIDTH**2 * BYTES[weights] + rest, rel=0.01)
    assert result.work.flops == 24 * WIDTH**2 + 4 * WIDTH * MODULE.CACHED


@pytest.mark.parametrize("weights", ROUNDED)
def test_the_error_is_the_loss_of_small_weights(weights: str) -> None:
    check = seen(weights).check
    assert check.passed
    assert check.error > ROUNDED[weights]
    assert seen("bfloat16").check.error < check.error


FAULTS = {
    "weights not rounded": (
        "SmallLinear(small)",
        "SmallLinear(as_they_are(original[place], dtype))",
    ),
    "cache not read": ("through(model, inputs, caches)", "through(model, inputs, [None])"),
    "codes of four bits that are off by one": ("whole.flatten(1) + 8", "whole.flatten(1) + 7"),
}


@pytest.mark.parametrize("weights", ROUNDED)
@pytest.mark.parametrize(("old", "new"), FAULTS.values(), ids=list(FAULTS))
def test_wrong_arithmetic_does_not_pass_the_check(
    weights: str, old: str, new: str, tmp_path: Path
) -> None:
    if "flatten" in old and weights != "int4":
        pytest.skip("of int4 weights alone")
    assert not seen(weights, load(planted(tmp_path, "bench_small_weights", old, new))).check.passed


def test_a_device_without_the_kernel_leaves_the_case_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, "_weight_int8pack_mm")
    with pytest.raises(pytest.skip.Exception, match="no product of int8 weights here"):
        seen("int8")
