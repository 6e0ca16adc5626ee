# SPDX-License-Identifier: MIT
"""Layers of a transformer on a real GPU: results, graphs, memory, and rates that can be."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from frobench.suite.kit.device import Device
    from tests.instruments.processes.alone import Recorder

SHAPE: dict[str, Any] = {"width": 2048, "layers": 2, "dtype": "bfloat16"}
KINDS: dict[str, dict[str, Any]] = {"train": {}, "prefill": {}, "decode": {"batch": 4}}
MOST_CACHED = 1.25
"""How many times as fast as from the memory some of the bytes may come, from the caches."""


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
def test_results_are_right_in_the_precision_of_bfloat16(gpu: "Device", kind: str, way: str) -> None:
    check = recorded(gpu, kind + way, **KINDS[kind]).check
    assert check.passed, check
    assert check.error > 1e-4, "float32 passed for bfloat16"


@pytest.mark.parametrize("way", ["", "_graph"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_more_memory_is_needed_than_is_asked_for(
    gpu: "Device", monkeypatch: pytest.MonkeyPatch, kind: str, way: str
) -> None:
    from frobench.suite.kit.device import Device, release_memory

    asked: list[float] = []
    monkeypatch.setattr(Device, "require", lambda _, nbytes: asked.append(nbytes))
    release_memory()
    gpu.reset_peak_bytes()
    recorded(gpu, kind + way, **KINDS[kind])
    assert (gpu.peak_bytes() or 0) <= max(asked)


def test_decoding_reads_no_faster_than_the_memory_and_a_replay_is_no_slower(
    gpu: "Device",
) -> None:
    from frobench.suite.measure.timed_loop import Sampler
    from tests.gpu.anchors_measure import body_of

    def fastest(module: str, function: str, **given: Any) -> float:  # noqa: ANN401 - as above
        sampler = Sampler(body_of(module, function, gpu, **given), [gpu])
        return min(sampler.took() for _ in range(50))

    work = recorded(gpu, "decode", **KINDS["decode"]).work
    copy = fastest("bench_copies", "bench_within", size=2**28)
    eager, replayed = (
        fastest("bench_transformer", f"bench_decode{way}", **SHAPE, **KINDS["decode"])
        for way in ("", "_graph")
    )
    assert work.bytes is not None
    assert work.bytes / replayed < MOST_CACHED * 2 * 2**28 / copy
    assert replayed < 1.25 * eager
