# SPDX-License-Identifier: MIT
"""What a sample holds and when sampling ends, on a clock that only the body advances."""

import gc
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any
from weakref import WeakSet

import pytest
from msgspec.structs import replace

from frobench.suite.errors import ClockError
from frobench.suite.launch.case import called_once
from frobench.suite.measure.timed_loop import (
    Sampler,
    no_garbage_collection,
    other_leads,
    timer_step,
)
from frobench.suite.profiles import LEAST_SAMPLES, brief, settings_for
from frobench.suite.stored.types import Settings
from tests.instruments.devices.virtual import VirtualClock, VirtualDevice

LAUNCH, WORK = 50e-6, 3e-3


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(cost=30e-9)


@pytest.fixture
def settings() -> Settings:
    return replace(settings_for("standard", ["cpu"]), case_seconds=0.1)


def sampler(clock: VirtualClock, body: Callable[[], Any], *devices: Any, **more: Any) -> Sampler:  # noqa: ANN401 - stands in for a device
    return Sampler(body, devices, clock=clock, **more)


def taking(clock: VirtualClock, seconds: Callable[[int], float]) -> Callable[[], int]:
    """Return a body that takes as long as is said of its n-th call, from 1, and returns n."""
    numbers = count(1)

    def body() -> int:
        number = next(numbers)
        clock.now += seconds(number)
        return number

    return body


def test_a_sample_is_what_a_user_waits_beside_its_enqueue_and_its_span(
    clock: VirtualClock, settings: Settings
) -> None:
    gpu = VirtualDevice(clock)
    seen = sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu).run(settings)
    assert seen.samples == pytest.approx([LAUNCH + WORK] * len(seen.samples), rel=1e-4)
    assert seen.parts["enqueue"] == pytest.approx(LAUNCH, rel=1e-2)
    assert seen.parts["span"] == pytest.approx(LAUNCH + WORK, rel=1e-2)


def test_spans_alternate_with_host_samples_while_there_is_time_and_a_long_call_has_one(
    clock: VirtualClock, settings: Settings
) -> None:
    gpu = VirtualDevice(clock)
    short = sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu)
    long = sampler(clock, lambda: gpu.queue(LAUNCH, 2 * settings.case_seconds), gpu)
    taken = len(short.run(settings).samples)
    assert taken - 1 <= len(short.parts["span"]) <= taken
    assert len(long.run(settings).samples) == LEAST_SAMPLES
    assert len(long.parts["span"]) == 1


def test_a_headline_case_with_long_calls_is_called_once_to_warm_up_and_sampled_twice(
    clock: VirtualClock, settings: Settings
) -> None:
    body = taking(clock, lambda _: 2.0)
    sampled = sampler(clock, body)
    seen = sampled.run(brief(settings))
    assert seen.samples == pytest.approx([2.0] * 2)
    assert (sampled.result, seen.iterations) == (3, 1)


def test_what_happens_before_a_sample_is_not_in_it(clock: VirtualClock, settings: Settings) -> None:
    gpu = VirtualDevice(clock)
    seen = sampler(
        clock, lambda: gpu.queue(LAUNCH, WORK), gpu, before=lambda: gpu.queue(1e-3, 5e-3)
    ).run(settings)
    assert max(seen.samples) == pytest.approx(LAUNCH + WORK, rel=1e-2)


@pytest.mark.parametrize(
    "factor",
    [
        lambda call: max(1, 20 - call),
        lambda call: min(1, 0.5 + call / 40),  # a device that slows down until the 20th call
    ],
)
def test_warm_up_lasts_until_the_body_is_steady(
    clock: VirtualClock, settings: Settings, factor: Callable[[int], float]
) -> None:
    body = taking(clock, lambda call: 1e-3 * factor(call))
    seen = sampler(clock, body, before=lambda: None).run(replace(settings, case_seconds=1))
    assert (min(seen.samples), max(seen.samples)) == pytest.approx((1e-3, 1e-3), rel=1e-3)
    assert seen.warmup == pytest.approx(sum(map(factor, range(1, 21))) * 1e-3, rel=0.5)


def test_a_steady_body_is_warm_after_the_first_call_and_ten_more(
    clock: VirtualClock, settings: Settings
) -> None:
    body = taking(clock, lambda call: 9.0 if call == 1 else 1e-3)
    call = sampler(clock, body).warm_up(replace(settings, case_seconds=2))
    assert call == pytest.approx(1e-3, rel=1e-3)
    assert body() == 12


def test_a_body_too_short_for_the_clock_is_repeated(settings: Settings) -> None:
    coarse = VirtualClock(step=1e-6, cost=30e-9)
    gpu = VirtualDevice(coarse)
    seen = sampler(coarse, taking(coarse, lambda _: 123e-9), gpu).run(settings)
    assert seen.iterations * 123e-9 >= 0.95 * 20e-6  # as well as such a clock can tell
    assert seen.samples == pytest.approx([123e-9] * len(seen.samples), rel=0.06)  # the step's share


def test_a_body_on_the_cpu_is_repeated_to_fill_its_time(
    clock: VirtualClock, settings: Settings
) -> None:
    seen = sampler(clock, taking(clock, lambda _: 10e-6)).run(settings)
    assert len(seen.samples) == settings.most_samples
    assert seen.sampled == pytest.approx(settings.case_seconds, rel=0.1)


def test_the_result_is_the_last_calls(clock: VirtualClock, settings: Settings) -> None:
    body = taking(clock, lambda _: 0.01)
    sampled = sampler(clock, body)
    sampled.run(settings)
    assert body() == sampled.result + 1


def test_the_garbage_collector_rests_while_sampling(
    clock: VirtualClock, settings: Settings
) -> None:
    states: set[bool] = set()

    def body() -> None:
        clock.now += 0.01
        states.add(gc.isenabled())

    sampler(clock, body).run(settings)
    assert states == {False}
    assert gc.isenabled()


def test_what_a_body_holds_is_let_go_with_its_sampler_before_the_garbage_collector_runs(
    clock: VirtualClock, settings: Settings
) -> None:
    held: WeakSet[Block] = WeakSet()

    def measure_a_body() -> None:
        block, gpu = Block(), VirtualDevice(clock)
        held.add(block)

        def body() -> Block:
            gpu.queue(LAUNCH, WORK)
            return block

        sampler(clock, body, gpu).run(settings)

    with no_garbage_collection():
        measure_a_body()
        assert not held


def test_cold_samples_are_single_calls_and_caches_are_emptied_outside_the_clocks(
    clock: VirtualClock, settings: Settings
) -> None:
    emptied = 0

    def cold() -> None:
        nonlocal emptied
        emptied += 1
        clock.now += 1.0

    seen = sampler(clock, taking(clock, lambda _: 1e-6), cold=cold).run(settings)
    assert seen.iterations == 1
    assert emptied == len(seen.samples)
    assert max(seen.samples) < 1e-5


def waiting(clock: VirtualClock, seconds: float) -> Callable[[], None]:
    """Return what lets the time pass."""

    def wait() -> None:
        clock.now += seconds

    return wait


@pytest.mark.parametrize("name", ["before", "cold"])
def test_what_comes_before_samples_counts_against_the_time_of_the_case(
    clock: VirtualClock, settings: Settings, name: str
) -> None:
    wait = waiting(clock, 0.02)
    seen = sampler(clock, taking(clock, lambda _: 1e-6), **{name: wait}).run(settings)
    assert len(seen.samples) == 5
    assert seen.sampled == pytest.approx(5e-6, rel=0.1)
    assert seen.prepared == pytest.approx(5 * 0.02, rel=1e-3)
    assert seen.warmup <= 0.02 + settings.case_seconds / 2 + 0.02


def test_caches_are_emptied_after_what_comes_before_each_sample(
    clock: VirtualClock, settings: Settings
) -> None:
    events: list[str] = []

    def body() -> None:
        events.append("body")
        clock.now += 0.01

    given = {name: partial(events.append, name) for name in ("before", "cold")}
    sampler(clock, body, **given).run(settings)
    assert events[-3:] == ["before", "cold", "body"]


def test_a_device_without_events_has_no_span(clock: VirtualClock, settings: Settings) -> None:
    gpu = VirtualDevice(clock, has_events=False)
    seen = sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu).run(settings)
    assert seen.samples == pytest.approx([LAUNCH + WORK] * len(seen.samples), rel=1e-4)
    assert seen.parts.keys() == {"enqueue"}


def test_a_clock_that_goes_backwards_fails_the_case(
    clock: VirtualClock, settings: Settings
) -> None:
    body = taking(clock, lambda call: 0.02 if call < 6 else -1.0)
    with pytest.raises(ClockError, match="backwards"):
        sampler(clock, body).run(settings)


class Block:
    """Stands for memory."""


def test_calls_that_were_held_up_while_warming_up_are_counted_anew(
    clock: VirtualClock, settings: Settings
) -> None:
    body = taking(clock, lambda number: 4e-3 if number < 20 else 1e-6)
    seen = sampler(clock, body).run(settings)
    assert seen.samples == pytest.approx([1e-6] * len(seen.samples), rel=1e-2)
    assert seen.iterations * 1e-6 == pytest.approx(settings.case_seconds / 30, rel=0.1)


def test_memory_that_only_calls_in_a_row_need_is_had_before_the_first_sample(
    clock: VirtualClock, settings: Settings
) -> None:
    alive: WeakSet[Block] = WeakSet()
    most = 0

    def body() -> Any:  # noqa: ANN401 - anything that can be let go
        nonlocal most
        result = Block()
        alive.add(result)
        clock.now += 1e-3 if len(alive) <= most else 3e-3
        most = max(most, len(alive))
        return result

    seen = sampler(clock, body).run(settings)
    assert seen.iterations > 1
    assert seen.samples == pytest.approx([1e-3] * len(seen.samples), rel=1e-2)


def test_samples_of_two_versions_stand_beside_each_other(
    clock: VirtualClock, settings: Settings
) -> None:
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
    sampler = Sampler(new, [gpu], against=old, clock=clock)
    seen = sampler.run(settings)
    assert seen.against is not None
    assert len(seen.against) == len(seen.samples) >= 3
    assert sampler.results == ["new", "old"]
    apart = [two - one for one, two in zip(seen.samples, seen.against, strict=True)]
    assert apart == pytest.approx([WORK] * len(apart), abs=5e-4)
    # A span sample of one of the two in between would favour it: they come after all pairs.
    assert order[-LEAST_SAMPLES:] == ["new"] * LEAST_SAMPLES
    assert len(gpu.events) == 2 * LEAST_SAMPLES
    assert seen.parts.keys() == {"enqueue", "span"}
    # Of every two pairs each version leads one.
    leads = order[-2 * len(seen.samples) - LEAST_SAMPLES : -LEAST_SAMPLES : 2]
    assert all(one != two for one, two in zip(leads[::2], leads[1::2], strict=False))


def test_of_a_handful_of_short_pairs_the_one_in_the_middle_is_kept(
    clock: VirtualClock, settings: Settings
) -> None:
    calls = 0

    def version(seconds: float) -> Callable[[], None]:
        def body() -> None:
            nonlocal calls
            calls += 1
            clock.now += 21 * seconds if calls % 7 == 0 else seconds  # the core is taken away

        return body

    seen = sampler(clock, version(1.02e-4), against=version(1e-4)).run(settings)
    assert seen.iterations == 1
    assert len(seen.samples) >= 3
    assert seen.against is not None
    ratios = [new / old for new, old in zip(seen.samples, seen.against, strict=True)]
    assert ratios == pytest.approx([1.02] * len(ratios), rel=1e-3)


def test_which_version_leads_is_drawn_anew_for_every_two_pairs() -> None:
    leads = other_leads()
    drawn = {(next(leads), next(leads)) for _ in range(50)}
    assert drawn == {(True, False), (False, True)}


def test_pairs_are_as_many_as_the_time_of_both_versions_allows(
    clock: VirtualClock, settings: Settings
) -> None:
    body = taking(clock, lambda _: 1e-3)
    seen = sampler(clock, body, against=body).run(settings)
    assert len(seen.samples) == settings.most_samples  # a pair takes more than half of its part


def test_the_timers_step_is_the_smallest_that_readings_show() -> None:
    assert timer_step(VirtualClock(step=1e-6, cost=0.3e-6)) == pytest.approx(1e-6)


def test_of_two_versions_the_one_that_is_called_has_a_result(clock: VirtualClock) -> None:
    settings = replace(settings_for("quick", ["cpu"]), case_seconds=0.1)
    pairs = sampler(clock, taking(clock, lambda _: 0.01), against=lambda: "old")
    called_once(pairs, "case", settings, None)
    assert len(pairs.results) == 1
    pairs.repeat()
    assert len(pairs.results) == 1
    pairs.run(settings)
    assert pairs.results[1] == "old"


def test_the_caches_are_emptied_once_before_the_call_and_never_while_it_warms_up() -> None:
    clock = VirtualClock(cost=30e-9)
    events: list[str] = []

    def body() -> None:
        events.append("call")
        clock.now += 0.01

    def cold() -> None:
        events.append("empty")
        clock.now += 1.0

    settings = replace(settings_for("quick", ["cpu"]), case_seconds=0.1)
    sampler = Sampler(body, [], cold=cold, clock=clock)  # type: ignore[arg-type] # empties nothing
    called = called_once(sampler, "case", settings, None)
    assert events.count("call") > 2
    assert events[-2:] == ["empty", "call"]
    assert events.count("empty") == 1
    assert 0.01 <= called.samples[0] < 0.02
