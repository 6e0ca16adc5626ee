# SPDX-License-Identifier: MIT
"""Reported losses: what is read when, and which thread drives which device."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import torch
from torch import Tensor

from frobench.suite.kit.cases import expand, sizes
from frobench.suite.kit.device import Device
from tests.benchmarks.calls import CPU, brief, module_of
from tests.instruments.processes.alone import BENCHMARKS, Recorder, load, planted

STEPS = 20
MODULE = module_of("loss_reporting")
SMALL: dict[str, Any] = {"network": "small", "batch": 64}
TOGETHER = SMALL | {"devices": [CPU] * 3}


def test_how_rarely_losses_are_read_divides_the_steps_and_is_no_size() -> None:
    module: Any = load(BENCHMARKS / "bench_loss_reporting.py")
    rows = expand(module.bench_reading.pytestmark, "rigorous")
    assert all(set(sizes(row)) == {"batch"} for row in rows)
    assert {module.STEPS % int(str(row["every"])) for row in rows} == {0}


@pytest.mark.parametrize("reading", ["nobody", "first"])
def test_each_device_has_a_thread_of_its_own(monkeypatch: pytest.MonkeyPatch, reading: str) -> None:
    together, step, seen = Barrier(3, timeout=30), MODULE.Training.step, Recorder()

    def meet(*given: object) -> object:
        together.wait()  # for a step of each device
        return step(*given)

    monkeypatch.setattr(MODULE.Training, "step", meet)
    MODULE.bench_threads(seen, reading=reading, **TOGETHER)
    assert seen.check.passed


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many numbers are read together, each time that some are."""
    seen: list[int] = []

    def counting(read: Callable[[Tensor], object]) -> Callable[[Tensor], object]:
        def counted(log: Tensor) -> object:
            seen.append(log.numel())
            return read(log)

        return counted

    for name in ("item", "tolist"):
        monkeypatch.setattr(Tensor, name, counting(getattr(Tensor, name)))
    return seen


@pytest.mark.parametrize(("every", "times"), [(1, 20), (5, 4), (10, 2), (100, 1)])
def test_losses_are_read_as_rarely_as_is_said(reads: list[int], every: int, times: int) -> None:
    training = MODULE.Training(CPU, "small", 64)
    MODULE.train(training, MODULE.on_device(training), every)
    assert reads == [STEPS // times] * times


@pytest.mark.parametrize("function", ["one_thread", "threads"])
@pytest.mark.parametrize(
    ("reading", "times"), [("nobody", [STEPS] * 3), ("first", [1] * STEPS + [STEPS] * 2)]
)
def test_the_first_device_s_losses_are_read_in_each_step_only_where_a_case_is_named_so(
    reads: list[int], function: str, reading: str, times: list[int]
) -> None:
    def measure(body: Callable[[], object], *, before: Callable[[], object], **_: object) -> None:
        before()
        reads.clear()
        body()

    getattr(MODULE, f"bench_{function}")(measure, reading=reading, **TOGETHER)
    assert sorted(reads) == times


class Queue(nullcontext[None]):
    """Stands where a stream does, on a device that does everything at once."""

    def wait_stream(self, other: "Queue") -> None:
        """Do nothing: all is done."""


@pytest.mark.parametrize(("place", "passes"), [("1 - number % 2", True), ("number % 2", False)])
def test_a_batch_that_is_prefetched_is_used_from_where_it_was_put(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, *, passes: bool
) -> None:
    seen = Recorder()
    module = brief(planted(tmp_path, "bench_loss_reporting", "1 - number % 2", place))
    monkeypatch.setattr(module, "pinned", lambda tensor: tensor)
    monkeypatch.setattr(torch.cpu, "current_stream", lambda _: Queue())
    monkeypatch.setattr(Device, "stream", lambda _: Queue())
    module.bench_loading(seen, accelerator=CPU, memory="prefetched", **SMALL)
    assert seen.check.passed == passes
