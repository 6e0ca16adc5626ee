# SPDX-License-Identifier: MIT
"""What samples and spans hold and when sampling ends, on a clock that only the body advances."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock
from weakref import WeakSet

import pytest
import torch
from msgspec.structs import replace

from frobench.suite.concurrency import Interval
from frobench.suite.errors import ClockError
from frobench.suite.kit import lanes
from frobench.suite.kit.lanes import Track, Turns
from frobench.suite.launch.case import called_once
from frobench.suite.measure import timed_loop
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.profiles import LEAST_SAMPLES, brief, settings_for
from tests.instruments.devices.virtual import VirtualClock, VirtualDevice, taking

LAUNCH, WORK = 50e-6, 3e-3
SETTINGS = replace(settings_for("standard", ["cpu"]), case_seconds=0.1)
QUICK = replace(settings_for("quick", ["cpu"]), case_seconds=0.1)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(cost=30e-9)


def sampler(clock: VirtualClock, body: Callable[[], Any], *devices: Any, **more: Any) -> Sampler:  # noqa: ANN401 - stands in for a device
    return Sampler(body, devices, clock=clock, **more)


def noting(clock: VirtualClock, calls: list[str], name: str, seconds: float) -> Callable[[], None]:
    """Return what notes its name at each call, which takes so long."""

    def body() -> None:
        calls.append(name)
        clock.now += seconds

    return body


@pytest.mark.parametrize("spans", [{"span": LAUNCH + WORK}, {}], ids=["events", "no events"])
def test_a_sample_is_what_a_user_waits_for(clock: VirtualClock, spans: dict[str, float]) -> None:
    gpu = VirtualDevice(clock, has_events=bool(spans))
    seen = sampler(clock, partial(gpu.queue, LAUNCH, WORK), gpu).run(SETTINGS)
    assert seen.samples == pytest.approx([LAUNCH + WORK] * len(seen.samples), rel=1e-4)
    assert seen.parts == pytest.approx({"enqueue": LAUNCH} | spans, rel=1e-2)
    assert seen.prepared == pytest.approx(0.0, abs=1e-4)  # spans are samples, too


def test_spans_alternate_with_samples_and_a_long_call_has_one(clock: VirtualClock) -> None:
    gpu = VirtualDevice(clock)
    short = sampler(clock, partial(gpu.queue, LAUNCH, WORK), gpu)
    long = sampler(clock, partial(gpu.queue, LAUNCH, 2 * SETTINGS.case_seconds), gpu)
    assert (len(short.run(SETTINGS).samples), len(short.parts["span"])) == (17, 16)
    assert (len(long.run(SETTINGS).samples), len(long.parts["span"])) == (LEAST_SAMPLES, 1)


def test_a_long_headline_case_is_warmed_up_once_and_sampled_twice(clock: VirtualClock) -> None:
    sampled = sampler(clock, taking(clock, 2.0))
    seen = sampled.run(brief(SETTINGS))
    assert seen.samples == pytest.approx([2.0] * 2)
    assert (sampled.result, seen.iterations) == (3, 1)


def test_what_happens_before_a_sample_is_not_in_it(clock: VirtualClock) -> None:
    gpu = VirtualDevice(clock)
    body, before = partial(gpu.queue, LAUNCH, WORK), partial(gpu.queue, 1e-3, 5e-3)
    seen = sampler(clock, body, gpu, before=before).run(SETTINGS)
    assert max(seen.samples) == pytest.approx(LAUNCH + WORK, rel=1e-2)


FASTER, SLOWER = [*range(19, 0, -1)], [0.5 + call / 40 for call in range(1, 21)]


@pytest.mark.parametrize(("factors", "warm"), [(FASTER, 7e-3), (SLOWER, 6e-3)])
def test_warm_up_ends_when_steady(clock: VirtualClock, factors: list[float], warm: float) -> None:
    body = taking(clock, *(1e-3 * factor for factor in factors))
    seen = sampler(clock, body, before=lambda: None).run(replace(SETTINGS, case_seconds=1))
    assert (min(seen.samples), max(seen.samples)) == pytest.approx((1e-3, 1e-3), rel=1e-3)
    assert seen.warmup == pytest.approx(sum(factors) * 1e-3 + warm, rel=1e-3)


def test_a_steady_body_is_warm_after_the_first_call_and_ten_more(clock: VirtualClock) -> None:
    body = taking(clock, 9.0, 1e-3)
    call = sampler(clock, body).warm_up(replace(SETTINGS, case_seconds=2))
    assert call == pytest.approx(1e-3, rel=1e-3)
    assert body() == 12


def test_a_body_too_short_for_the_clock_is_repeated() -> None:
    coarse = VirtualClock(step=1e-6, cost=30e-9)
    seen = sampler(coarse, taking(coarse, 123e-9), VirtualDevice(coarse)).run(SETTINGS)
    assert seen.iterations == 167  # 20 us, as well as such a clock can tell
    assert seen.samples == pytest.approx([123e-9] * len(seen.samples), rel=0.06)  # the step's share


def test_a_body_on_the_cpu_is_repeated_to_fill_its_time(clock: VirtualClock) -> None:
    seen = sampler(clock, taking(clock, 10e-6)).run(SETTINGS)
    assert (len(seen.samples), seen.iterations) == (30, 332)  # with the readings of the clock
    # The last calls of the warm-up are as many in a row as in a sample, which may need more memory.
    assert (seen.sampled, seen.warmup) == pytest.approx((0.1, (12 + 332) * 10e-6), rel=0.1)


def test_the_garbage_collector_rests_while_sampling(clock: VirtualClock) -> None:
    states = set[bool]()
    sampler(clock, taking(clock, 0.01), before=lambda: states.add(gc.isenabled())).run(SETTINGS)
    assert (states, gc.isenabled()) == ({False}, True)


class Block:
    """Stands for memory."""


def test_what_a_body_holds_is_let_go_without_garbage_collection(clock: VirtualClock) -> None:
    held: WeakSet[Block] = WeakSet()

    def measure_a_body() -> None:
        block, gpu = Block(), VirtualDevice(clock)
        held.add(block)

        def body() -> Block:
            gpu.queue(LAUNCH, WORK)
            return block

        sampler(clock, body, gpu).run(SETTINGS)

    with timed_loop.no_garbage_collection():
        measure_a_body()
        assert not held


@pytest.mark.parametrize("name", ["before", "cold"])
def test_what_comes_before_samples_takes_of_the_cases_time(clock: VirtualClock, name: str) -> None:
    seen = sampler(clock, taking(clock, 1e-6), **{name: taking(clock, 0.02)}).run(SETTINGS)
    assert len(seen.samples) == 5
    assert seen.sampled == pytest.approx(5e-6, rel=0.1)
    assert seen.prepared == pytest.approx(5 * 0.02, rel=1e-3)
    assert seen.warmup == pytest.approx(0.08 if name == "before" else 0.0, abs=1e-4)


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_a_clock_that_stands_still_or_goes_backwards_fails_the_case(seconds: float) -> None:
    clock = VirtualClock()
    with pytest.raises(ClockError, match="backwards"):
        sampler(clock, taking(clock, seconds)).sample()


def test_calls_that_were_held_up_while_warming_up_are_counted_anew(clock: VirtualClock) -> None:
    seen = sampler(clock, taking(clock, *[4e-3] * 19, 1e-6)).run(SETTINGS)
    assert seen.samples == pytest.approx([1e-6] * len(seen.samples), rel=1e-2)
    assert (seen.iterations, len(seen.samples)) == (3285, 21)


def test_samples_of_two_versions_stand_beside_each_other(clock: VirtualClock) -> None:
    gpu: Any = VirtualDevice(clock)  # stands in for a device
    order: list[str] = []

    def version(name: str, work: float) -> Callable[[], str]:
        def body() -> str:
            order.append(name)
            gpu.queue(LAUNCH, work)
            clock.now += 1e-6 * len(order)  # the machine becomes slower all the time
            return name

        return body

    new, old = version("new", WORK), version("old", 2 * WORK)
    pairs = sampler(clock, new, gpu, against=old)
    seen = pairs.run(SETTINGS)
    assert seen.against is not None
    assert len(seen.against) == len(seen.samples) >= 3
    assert pairs.results == ["new", "old"]
    apart = [two - one for one, two in zip(seen.samples, seen.against, strict=True)]
    assert apart == pytest.approx([WORK] * len(apart), abs=5e-4)
    # A span sample of one of the two in between would favour it: they come after all pairs.
    assert order[-LEAST_SAMPLES:] == ["new"] * LEAST_SAMPLES
    assert len(gpu.events) == 2 * LEAST_SAMPLES
    assert seen.parts.keys() == {"enqueue", "span"}
    # Of every two pairs each version leads one.
    leads = order[-2 * len(seen.samples) - LEAST_SAMPLES : -LEAST_SAMPLES : 2]
    assert all(one != two for one, two in zip(leads[::2], leads[1::2], strict=False))


def test_of_a_handful_of_short_pairs_the_one_in_the_middle_is_kept(clock: VirtualClock) -> None:
    factors = cycle([1] * 6 + [21])  # in every seventh call the core is taken away

    def version(seconds: float) -> Callable[[], None]:
        def body() -> None:
            clock.now += next(factors) * seconds

        return body

    seen = sampler(clock, version(1.02e-4), against=version(1e-4)).run(SETTINGS)
    assert (seen.iterations, len(seen.samples)) == (1, 8)  # of 17 pairs, 13.2 ms, each
    assert seen.against is not None
    ratios = [new / old for new, old in zip(seen.samples, seen.against, strict=True)]
    assert ratios == pytest.approx([1.02] * len(ratios), rel=1e-3)


def test_which_version_leads_is_drawn_anew_for_every_two_pairs() -> None:
    leads = timed_loop.other_leads()
    drawn = {(next(leads), next(leads)) for _ in range(50)}
    assert drawn == {(True, False), (False, True)}


def test_pairs_are_as_many_as_the_time_of_both_versions_allows(clock: VirtualClock) -> None:
    body = taking(clock, 1e-3)
    seen = sampler(clock, body, against=body).run(SETTINGS)
    assert len(seen.samples) == SETTINGS.most_samples  # a pair takes more than half of its part


def test_the_timers_step_is_the_smallest_that_readings_show() -> None:
    assert timed_loop.timer_step(VirtualClock(step=1e-6, cost=0.3e-6)) == pytest.approx(1e-6)


def test_of_two_versions_the_one_that_is_called_has_a_result(clock: VirtualClock) -> None:
    pairs = sampler(clock, taking(clock, 0.01), against=lambda: "old")
    called_once(pairs, "case", QUICK, None)
    assert len(pairs.results) == 1
    busy = pairs.repeat()
    assert (len(pairs.results), busy.calls) == (1, 200)  # of a hundredth of a second
    pairs.run(QUICK)
    assert pairs.results[1] == "old"


def test_the_caches_are_emptied_once_and_never_to_warm_up(clock: VirtualClock) -> None:
    calls: list[str] = []
    body, cold = noting(clock, calls, "call", 0.01), noting(clock, calls, "empty", 1.0)
    before = noting(clock, calls, "before", 0.1)
    called = called_once(sampler(clock, body, before=before, cold=cold), "case", QUICK, None)
    assert calls.count("call") > 2
    assert calls[-3:] == ["before", "empty", "call"]
    assert calls.count("empty") == 1
    assert 0.01 <= called.samples[0] < 0.02


# which calls a span sample makes, and its time on a device behind queued work

QUEUEING = 32e-6
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
        gpu.queue(QUEUEING, len(a) ** 3 / RATE)

    monkeypatch.setattr(torch, "mm", multiply)
    return gpu


def blocker_of(gpu: VirtualDevice) -> timed_loop.Blocker | None:
    return timed_loop.blocker(gpu, gpu.clock)  # type: ignore[arg-type] # stands in for a device


def test_the_smallest_product_that_keeps_a_device_behind_its_host_blocks(gpu: Multiplying) -> None:
    found = blocker_of(gpu)
    assert found is not None
    # 512 rows are 134 us of work and 32 us of launching; 256 are 17 us.
    assert gpu.products == [rows for rows in (64, 128, 256, 512) for _ in range(2 * 8)]
    assert found.unit == pytest.approx(512**3 / RATE + QUEUEING / 8, rel=1e-3)
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
    taken = Sampler(body, devices, cold=cold, clock=gpu.clock)
    return timed_loop.device_spans(taken, keeper, enqueue, seconds), asked


def test_behind_queued_work_a_span_holds_no_launch(gpu: VirtualDevice) -> None:
    def body() -> None:
        for _ in range(3):
            gpu.queue(1e-3, 2e-4)

    spans, asked = behind(gpu, body, 3e-3, 1.0)
    assert spans == pytest.approx([6e-4] * 5)
    assert asked == pytest.approx([4 * 3e-3 + 1e-4] * 5)
    longest = [len(behind(gpu, body, enqueue, 1.0)[1]) for enqueue in (4.97e-3, 4.98e-3)]
    assert longest == [5, 0]  # 20 ms


def test_a_late_span_is_tried_behind_twice_the_work_until_three_fail(gpu: VirtualDevice) -> None:
    spans, asked = behind(gpu, lambda: gpu.queue(1.5e-4, 1e-6), 0.0, 1.0)
    assert spans == pytest.approx([1e-6] * 5)
    assert asked == pytest.approx([1e-4, 2e-4, *[4e-4] * 5])
    _, asked = behind(gpu, lambda: gpu.queue(1e-3, 1e-6), 0.0, 1.0)
    assert asked == pytest.approx([1e-4, 2e-4, 4e-4])  # all in vain


def test_before_each_span_the_body_warms_the_caches_or_they_are_emptied(gpu: VirtualDevice) -> None:
    events: list[str] = []

    def body() -> None:
        events.append("body")
        gpu.queue(1e-5, 1e-4)

    behind(gpu, body, 1e-5, 0.0)
    assert events == ["body", "body"]
    events.clear()
    behind(gpu, body, 1e-5, 0.0, cold=lambda: events.append("cold"))
    assert events == ["cold", "body"]


def test_three_results_are_read_back(monkeypatch: pytest.MonkeyPatch, gpu: VirtualDevice) -> None:
    monkeypatch.setattr(timed_loop, "tensors", lambda *_: [torch.ones(9), torch.ones(5)])
    monkeypatch.setattr(timed_loop, "reading", lambda tensor, _: tensor.numel() / 1)
    sampler = Sampler(lambda: gpu.queue(1e-6, 2e-6), [gpu], clock=gpu.clock)  # type: ignore[list-item]
    took = [sampler.sample(7) for _ in range(5)]
    assert took == pytest.approx([(7 * 2e-6 + 1e-6) / 7] * 5, rel=1e-2)
    assert sampler.parts["enqueue"] == pytest.approx([1e-6] * 5, rel=1e-2)
    assert sampler.parts["reading"] == [5.0] * 3
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


def test_entries_of_a_lane_are_on_the_clock_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = VirtualClock(cost=0.25)
    monkeypatch.setattr(lanes, "perf_counter", clock)
    gpu: Any = VirtualDevice(clock)
    lane = lanes.Lane(gpu)
    lane.arm()
    clock.now = 5.0
    for work in (2.0, 3.0):
        with lane:
            gpu.queue(0.5, work)
    assert (lane.busy(), lane.span()) == (5.5, 5.5)
    assert lane.intervals() == [(5.125, 7.625), (7.625, 10.625)]  # half a reading later


def test_without_a_control_nothing_is_said_of_what_tracks_share() -> None:
    stubborn = [Fake(APART[0]), Fake(APART[1], waits=False)]
    assert observe(stubborn) == ({"span": 2.0}, 1)
    assert observe([Fake(APART[1])]) == ({"span": 2.0}, 1)
    idle, _ = observe([Fake((0.0, 0.0)), Fake((0.0, 0.0))])
    assert (idle["balance"], idle["shareable"]) == (1.0, 0.0)
