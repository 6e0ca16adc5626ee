# SPDX-License-Identifier: MIT
"""What a device lacks skips the case; what a case sets is put back."""

from contextlib import nullcontext, suppress
from unittest.mock import MagicMock, call

import pytest
import torch

from suite.abilities import REDUCTIONS, capture, needed, pinned, precision
from suite.devices import Device


def settings() -> list[object]:
    matmul = torch.backends.cuda.matmul
    return [torch.get_float32_matmul_precision(), *(getattr(matmul, name) for name in REDUCTIONS)]


@pytest.mark.parametrize(("name", "expected"), [("float32", "highest"), ("tfloat32", "high")])
def test_precision_is_set_and_put_back_whatever_happens(name: str, expected: str) -> None:
    matmul = torch.backends.cuda.matmul
    torch.set_float32_matmul_precision("medium")
    matmul.allow_bf16_reduced_precision_reduction = False
    try:
        before = settings()
        with suppress(ZeroDivisionError), precision(name):
            assert settings() == [expected, True, True]
            raise ZeroDivisionError
        assert settings() == before
    finally:
        torch.set_float32_matmul_precision("highest")
        matmul.allow_bf16_reduced_precision_reduction = True


def test_what_is_missing_skips_with_its_name_and_the_first_line_of_the_reason() -> None:
    reason = "no tensor cores here: too old"
    with pytest.raises(pytest.skip.Exception, match=reason), needed("tensor cores"):
        raise NotImplementedError("too old\nand a long story")


def test_other_errors_are_not_taken_for_something_missing() -> None:
    with pytest.raises(AssertionError, match="a mistake"), needed("tensor cores"):
        raise AssertionError("a mistake")


@pytest.mark.skipif(torch.accelerator.is_available(), reason="pins memory here")
def test_without_an_accelerator_no_memory_is_pinned_and_no_graph_recorded() -> None:
    with pytest.raises(pytest.skip.Exception, match="no pinned memory here"):
        pinned(torch.zeros(3))
    with pytest.raises(pytest.skip.Exception, match="no graphs here"):
        capture(Device("cpu"), torch.empty)


def test_a_body_is_warmed_up_recorded_once_and_then_only_replayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = MagicMock()
    monkeypatch.setattr(torch.accelerator, "Graph", lambda: graph, raising=False)
    monkeypatch.setattr(torch.accelerator, "device_index", nullcontext)
    monkeypatch.setattr(Device, "stream", lambda _: nullcontext())
    replay = capture(Device("cpu"), graph.body)
    recording = [call.body()] * 3 + [call.capture_begin(), call.body(), call.capture_end()]
    assert graph.mock_calls == recording
    assert replay() is replay() is graph.body.return_value
    assert graph.mock_calls[len(recording) :] == [call.replay(), call.replay()]
