# SPDX-License-Identifier: MIT
"""Layers of a transformer on a real GPU: results, graphs, memory, and rates that can be."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from frobench.suite.kit.device import Device
    from tests.instruments.processes.alone import Recorder

SHAPE: dict[str, Any] = {"width": 2048, "layers": 2, "dtype": "bfloat16"}
KINDS: dict[str, dict[str, Any]] = {"train": {}, "prefill": {}, "decode": {"batch": 4}}


def recorded(gpu: "Device", function: str, **more: Any) -> "Recorder":  # noqa: ANN401 - whatever it takes
    """Call a benchmark on the GPU once."""
    from tests.instruments.processes.alone import BENCHMARKS, Recorder, load

    seen = Recorder()
    getattr(load(BENCHMARKS / "bench_transformer.py"), f"bench_{function}")(
        seen, accelerator=gpu, **SHAPE | more
    )
    return seen


@pytest.mark.parametrize("way", ["", "_graph"])
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_those_of_bfloat16_and_no_more_memory_is_needed_than_is_asked_for(
    gpu: "Device", monkeypatch: pytest.MonkeyPatch, kind: str, way: str
) -> None:
    from frobench.suite.kit.device import Device, release_memory

    asked: list[float] = []
    monkeypatch.setattr(Device, "require", lambda _, nbytes: asked.append(nbytes))
    release_memory()
    gpu.reset_peak_bytes()
    check = recorded(gpu, kind + way, **KINDS[kind]).check
    assert check.passed, check
    assert check.error > 1e-4, "float32 passed for bfloat16"
    assert (gpu.peak_bytes() or 0) <= max(asked)
