# SPDX-License-Identifier: MIT
"""Which calls of a body a span sample makes, and its time on a device behind queued work."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch

from frobench.suite.concurrency import Interval
from frobench.suite.kit.lanes import Track, Turns
from frobench.suite.measure import timed_loop as timing
from frobench.suite.measure.timed_loop import Blocker, Sampler, blocker, device_spans
from tests.instruments.devices.virtual import VirtualClock, VirtualDevice

LAUNCH = 10e-6
RATE = 1e12
"""Multiplications of a device in a second."""


@dataclass
class Multiplying(VirtualDevice):
    """A device that has tensors; it keeps the sizes of its products."""

    products: list[int] = field(default_factory=list)

    def uniform(self, rows: int, columns: int) -> torch.Tensor:
        """Return a matrix that takes no memory."""
        return torch.empty(rows, columns, device="meta")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Multiplying:
    gpu = Multiplying(VirtualClock(cost=1e-9))

    def multiply(a: torch.Tensor, _: torch.Tensor, *, out: torch.Tensor) -> None:  # noqa: ARG001
        gpu.products.append(len(a))
        gpu.queue(LAUNCH, len(a) ** 3 / RATE)

    monkeypatch.setattr(torch, "mm", multiply)
    return gpu


def blocker_of(gpu: VirtualDevice) -> Blocker | None:
    return blocker(gpu, gpu.clock)  # type: ignore[arg-type] # stands in for a device


def test_the_smallest_product_that_keeps_the_device_behind_its_host_blocks(
    gpu: Multiplying,
) -> None:
    found = blocker_of(gpu)
    assert found is not None
    assert max(gpu.products) == 512  # 134 us of work, 10 us of launching; 256 rows are 17 us
    assert found.unit == pytest.approx(512**3 / RATE + LAUNCH / 8, rel=1e-3)
    gpu.products.clear()
    found.queue(10.5 * found.unit)
    assert gpu.products == [512] * 11
    found.queue(0.0)
    assert len(gpu.products) == 12


def test_nothing_blocks_a_cpu_or_a_device_without_events_or_memory(gpu: Multiplying) -> None:
    clock = gpu.clock
    assert blocker_of(Multiplying(clock, is_accelerator=False)) is None
    assert blocker_of(Multiplying(clock, has_events=False)) is None
    assert blocker_of(VirtualDevice(clock)) is None  # it has no tensors
    assert gpu.products == []


def behind(
    gpu: VirtualDevice,
    body: Callable[[], object],
    enqueue: float,
    seconds: float,
    cold: Any = None,  # noqa: ANN401 - stands in for what empties the caches
) -> tuple[list[float], list[float]]:
    """Return the spans of a body, and how long the device was kept busy before each attempt."""
    asked: list[float] = []

    def keep_busy(seconds: float) -> None:
        asked.append(seconds)
        gpu.queue(0.0, seconds)

    devices: Any = [gpu]
    keeper: Any = SimpleNamespace(device=gpu, queue=keep_busy)
    sampler = Sampler(body, devices, cold=cold, clock=gpu.clock)
    return device_spans(sampler, keeper, enqueue, seconds), asked


def test_behind_queued_work_a_span_holds_no_launch(gpu: VirtualDevice) -> None:
    def body() -> None:
        for _ in range(3):
            gpu.queue(1e-3, 2e-4)

    spans, asked = behind(gpu, body, 3e-3, 1.0)
    assert spans == pytest.approx([6e-4] * 5)
    assert asked == pytest.approx([4 * 3e-3 + 1e-4] * 5)


def test_a_span_that_the_host_came_too_late_for_is_tried_behind_twice_the_work(
    gpu: VirtualDevice,
) -> None:
    spans, asked = behind(gpu, lambda: gpu.queue(1.5e-4, 1e-6), 0.0, 1.0)
    assert spans == pytest.approx([1e-6] * 5)
    assert asked == pytest.approx([1e-4, 2e-4, *[4e-4] * 5])


def test_after_three_attempts_in_vain_there_are_no_more(gpu: VirtualDevice) -> None:
    spans, asked = behind(gpu, lambda: gpu.queue(1e-3, 1e-6), 0.0, 1.0)
    assert spans == []
    assert len(asked) == 3


def test_before_each_span_the_body_warms_the_caches_unless_they_shall_be_cold(
    gpu: VirtualDevice,
) -> None:
    events: list[str] = []

    def body() -> None:
        events.append("body")
        gpu.queue(1e-5, 1e-4)

    behind(gpu, body, 1e-5, 0.0)
    assert events == ["body", "body"]
    events.clear()
    behind(gpu, body, 1e-5, 0.0, cold=lambda: events.append("cold"))
    assert events == ["cold", "body"]


def test_results_are_read_back_after_the_first_three_samples_alone(
    monkeypatch: pytest.MonkeyPatch, gpu: VirtualDevice
) -> None:
    monkeypatch.setattr(timing, "tensors", lambda *_: [torch.ones(1)])
    monkeypatch.setattr(timing, "reading", lambda *_: 5e-6)
    sampler = Sampler(lambda: gpu.queue(1e-6, 2e-6), [gpu], clock=gpu.clock)  # type: ignore[list-item]
    took = [sampler.sample(7) for _ in range(5)]
    assert took == pytest.approx([(7 * 2e-6 + 1e-6) / 7] * 5, rel=1e-2)
    assert sampler.parts["enqueue"] == pytest.approx([1e-6] * 5, rel=1e-2)
    assert sampler.parts["reading"] == [5e-6] * 3
    assert sampler.sampled == pytest.approx(7 * sum(took))


APART = [(0.0, 1.0), (1.0, 3.0)]
"""When two tracks of a body work in turn; at the same time both begin with the first."""


class Fake(Track):
    """A track whose work is known; it keeps whether its entries took turns."""

    def __init__(self, interval: Interval, *, waits: bool = True) -> None:
        super().__init__()
        self._interval, self._waits = interval, waits
        self.armed: list[bool] = []

    def takes_turns(self, others: Sequence[Track]) -> bool:
        """Tell whether there is a control."""
        return self._waits and self in others

    def arm(self, turns: Turns | None = None) -> None:
        """Keep whether entries take turns."""
        self.armed.append(turns is not None)

    def intervals(self) -> list[Interval]:
        """Return when it worked, from the first moment on unless it had to wait."""
        begin, end = self._interval
        return [(begin, end) if self.armed[-1] else (0.0, end - begin)]


def observe(tracks: list[Fake]) -> tuple[dict[str, float], int]:
    """Return what a span sample shows of a body, and how often it was called.

    Each reading moves the clock on by a second.
    """
    body = MagicMock()
    return Sampler(body, [], tracks, clock=VirtualClock(cost=1.0)).span(), body.call_count


def test_tracks_have_a_control_in_which_their_entries_take_turns() -> None:
    tracks = [Fake(interval) for interval in APART]
    seen, calls = observe(tracks)
    assert [track.armed for track in tracks] == [[False, True]] * 2
    assert calls == 2
    assert seen == {
        "span": 2.0,
        "at_once": 2.0,
        "shared": 1.0,
        "entries": 2.0,
        "in_turn": 2.0,
        "shared_in_turn": 0.0,
        "shareable": 1.0,
        "balance": 0.5,
    }


def test_without_a_control_nothing_is_said_of_what_tracks_share() -> None:
    stubborn = [Fake(APART[0]), Fake(APART[1], waits=False)]
    assert observe(stubborn) == ({"span": 2.0}, 1)
    assert observe([Fake(APART[1])]) == ({"span": 2.0}, 1)
