# SPDX-License-Identifier: MIT
"""Decoding with small weights: what is lost by them, and where a device has no kernel for them."""

import pytest
import torch

from tests.benchmarks.calls import called

ROUNDED = {"int8": 0.003, "int4": 0.03, "float8": 0.01}
"""Errors that small weights make at least."""


@pytest.mark.parametrize("weights", ROUNDED)
def test_the_error_is_the_loss_of_small_weights(weights: str) -> None:
    names = (f"small_weights.decode {one}" for one in (weights, "bfloat16"))
    error, least = (called(name).check.error for name in names)
    assert error > ROUNDED[weights]
    assert error > least


def test_a_device_without_the_kernel_leaves_the_case_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, "_weight_int8pack_mm")
    with pytest.raises(pytest.skip.Exception, match="no product of int8 weights here"):
        called("small_weights.decode int8")
