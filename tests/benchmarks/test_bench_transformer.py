# SPDX-License-Identifier: MIT
"""Layers of a transformer: what they count, what they move, and from where a step begins."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from frobench.suite.errors import DoesNotFitError
from frobench.suite.kit.device import Device
from tests.benchmarks.calls import CPU, module_of
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

SHAPE: dict[str, Any] = {"width": 256, "layers": 2, "dtype": "float32"}
TRAINED, CACHED = 16, 24
KINDS = {"train": {}, "prefill": {}, "decode": {"batch": 3}}


MODULE = module_of("transformer")


def seen(function: str, **arguments: Any) -> Recorder:  # noqa: ANN401 - whatever it takes
    """Call a benchmark on the CPU, with attention whose products torch counts."""
    recorder = Recorder()
    with sdpa_kernel(SDPBackend.MATH):
        getattr(MODULE, f"bench_{function}")(recorder, accelerator=CPU, **SHAPE | arguments)
    return recorder


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """Let graphs be what they record; return what was recorded."""
    recorded: list[Callable[[], object]] = []

    def capture(_device: Device, body: Callable[[], object]) -> Callable[[], object]:
        recorded.append(body)
        return body

    monkeypatch.setattr(MODULE, "capture", capture)
    adam = import_module("torch.optim.adam")  # which refuses a CPU, since it has no graphs
    monkeypatch.setattr(adam, "_get_capturable_supported_devices", lambda: ["cpu"])
    return recorded


@pytest.mark.usefixtures("replays")
@pytest.mark.parametrize("way", ["", "_graph"])
@pytest.mark.parametrize("kind", KINDS)
def test_declared_operations_are_what_torch_counts_but_for_masked_ones(kind: str, way: str) -> None:
    result = seen(kind + way, **KINDS[kind])
    tokens = {"train": TRAINED, "prefill": CACHED, "decode": 1}[kind]
    masked = tokens * (tokens - 1) // 2  # pairs of a token and a later one
    passes = 3 if kind == "train" else 1
    assert result.work.flops == result.products - passes * 2 * 4 * 256 * masked
    assert result.work.items == {"decode": 3}.get(kind, tokens)
    assert result.check.passed


def test_a_training_step_moves_weights_gradients_and_both_moments_twice() -> None:
    training = MODULE.prepared(CPU, MODULE.Shape(**SHAPE), TRAINED)
    training.step()
    moments = [moment for state in training.optimizer.state.values() for moment in state.values()]
    kept = [*training.weights, *(weights.grad for weights in training.weights), *moments]
    moved = 2 * sum(tensor.nbytes for tensor in kept if tensor.dim())
    assert seen("train").work.bytes == moved


@pytest.mark.parametrize(("kind", "tokens"), [("prefill", CACHED), ("decode", 1)])
def test_a_pass_moves_weights_caches_inputs_and_outputs_once(kind: str, tokens: int) -> None:
    batch = KINDS[kind].get("batch", 1)
    shape = MODULE.Shape(**SHAPE | {"dtype": "bfloat16"})
    layers = MODULE.draw_layers(CPU, shape, "bfloat16").parameters()
    caches = MODULE.draw_caches(CPU, shape, CACHED, batch)
    size = sum(tensor.nbytes for tensor in [*layers, *(part for one in caches for part in one)])
    size += 2 * batch * tokens * 256 * torch.bfloat16.itemsize
    assert seen(kind, **KINDS[kind], dtype="bfloat16").work.bytes == size


def test_every_step_begins_from_the_same_weights() -> None:
    training = MODULE.prepared(CPU, MODULE.Shape(**SHAPE), TRAINED)
    losses = []
    for _ in range(3):
        training.begin()
        losses.append(training.step().item())
        assert training.check(torch.tensor(losses[-1])).passed
    assert losses == pytest.approx(losses[:1] * 3, rel=1e-4)
    later = training.step()
    assert not training.check(later).passed


def test_a_recorded_optimizer_is_one_for_graphs(replays: list[Callable[[], object]]) -> None:
    seen("train_graph")
    (step,) = replays
    (group,) = step.__self__.optimizer.param_groups  # type: ignore[attr-defined]
    assert group["capturable"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_fit_is_left_out_undrawn(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(Device, "free_bytes", lambda _: 1 << 30)
    with pytest.raises(DoesNotFitError, match="GiB free"):
        seen(kind, **KINDS[kind], width=16_384)


def test_a_single_wrong_row_is_seen() -> None:
    close: Callable[..., Any] = load(BENCHMARKS / "decoders.py").close
    true = torch.rand(500, 64, generator=torch.Generator().manual_seed(1))
    wrong: Tensor = true.clone()
    wrong[321] = 0.0
    assert close(true, true, 0.05, "rows").error == 0
    assert close(true, wrong, 0.05, "rows").error > 0.9
    assert not close(true, true[:-1], 0.05, "rows").passed
    assert not close(true, wrong * float("nan"), 0.05, "rows").passed
