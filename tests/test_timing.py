# SPDX-License-Identifier: MIT
"""What a sample holds and when sampling ends, on a clock that only the body advances."""

import gc
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from suite.clocks import timer_step
from suite.errors import ClockError
from suite.interleaving import other_leads
from suite.model import Settings
from suite.profiles import LEAST_SAMPLES, settings_for
from suite.timing import Sampler, explore, measure
from tests.virtual import VirtualClock, VirtualDevice

LAUNCH, WORK = 50e-6, 3e-3


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(cost=30e-9)


@pytest.fixture
def settings() -> Settings:
    return replace(settings_for("standard", ["cpu"]), case_seconds=0.1)


def sampler(clock: VirtualClock, body: Callable[[], Any], *devices: Any, **more: Any) -> Sampler:  # noqa: ANN401 - stands in for a device
    return Sampler(body, devices, clock=clock, **more)


def test_a_host_sample_is_what_a_user_waits(clock: VirtualClock, settings: Settings) -> None:
    gpu = VirtualDevice(clock)
    seen = measure(sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu), settings)
    assert seen.host == pytest.approx([LAUNCH + WORK] * len(seen.host), rel=1e-4)


def test_enqueue_is_the_time_until_the_body_returns(
    clock: VirtualClock, settings: Settings
) -> None:
    gpu = VirtualDevice(clock)
    seen = measure(sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu), settings)
    assert seen.part_medians()["enqueue"] == pytest.approx(LAUNCH, rel=1e-2)


def test_the_span_is_what_the_events_show(clock: VirtualClock, settings: Settings) -> None:
    gpu = VirtualDevice(clock)
    seen = measure(sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu), settings)
    assert seen.part_medians()["span"] == pytest.approx(LAUNCH + WORK, rel=1e-2)


@pytest.mark.parametrize("slow", [0, 1])
def test_every_device_is_waited_for(clock: VirtualClock, settings: Settings, slow: int) -> None:
    gpus = [VirtualDevice(clock), VirtualDevice(clock)]

    def body() -> None:
        for index, gpu in enumerate(gpus):
            gpu.queue(LAUNCH, 10 * WORK if index == slow else WORK)

    seen = measure(sampler(clock, body, *gpus), settings)
    assert min(seen.host) > 10 * WORK


@pytest.mark.parametrize("kind", ["host", "span"])
def test_work_queued_before_a_sample_is_not_in_it(clock: VirtualClock, kind: str) -> None:
    gpu = VirtualDevice(clock)
    one = sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu)
    gpu.queue(0.0, 1.0)
    took = one.host(1)[1] if kind == "host" else one.span()["span"]
    assert took == pytest.approx(LAUNCH + WORK, rel=1e-2)


def test_what_happens_before_a_sample_is_not_in_it(clock: VirtualClock, settings: Settings) -> None:
    gpu = VirtualDevice(clock)
    seen = measure(
        sampler(
            clock,
            lambda: gpu.queue(LAUNCH, WORK),
            gpu,
            before=lambda: gpu.queue(1e-3, 5e-3),
        ),
        settings,
    )
    assert max(seen.host) == pytest.approx(LAUNCH + WORK, rel=1e-2)


def test_a_host_sample_holds_no_events(clock: VirtualClock) -> None:
    gpu = VirtualDevice(clock)
    sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu).host(1)
    assert not gpu.events


def test_warm_up_lasts_until_the_body_is_steady(clock: VirtualClock, settings: Settings) -> None:
    calls = 0

    def body() -> None:
        nonlocal calls
        calls += 1
        clock.now += 1e-3 * max(1.0, 20 - calls)

    seen = measure(sampler(clock, body, before=lambda: None), replace(settings, case_seconds=1))
    assert max(seen.host) == pytest.approx(1e-3, rel=1e-3)
    assert seen.warmup == pytest.approx(sum(max(1, 20 - n) for n in range(1, 21)) * 1e-3, rel=0.5)


def test_the_first_call_is_never_a_sample(clock: VirtualClock, settings: Settings) -> None:
    calls = 0

    def body() -> None:
        nonlocal calls
        calls += 1
        clock.now += 9.0 if calls == 1 else 0.3

    seen = measure(sampler(clock, body), settings)
    assert max(seen.host) == pytest.approx(0.3, rel=1e-3)


def test_a_slow_first_call_is_not_taken_for_the_length_of_a_call(
    clock: VirtualClock, settings: Settings
) -> None:
    calls = 0

    def body() -> None:
        nonlocal calls
        calls += 1
        clock.now += 9.0 if calls == 1 else 1e-6

    seen = measure(sampler(clock, body), settings)
    assert seen.iterations * 1e-6 == pytest.approx(
        settings.case_seconds / settings.most_samples, rel=0.1
    )


def test_a_body_too_short_for_the_clock_is_repeated(settings: Settings) -> None:
    coarse = VirtualClock(step=1e-6, cost=30e-9)

    def body() -> None:
        coarse.now += 123e-9

    gpu = VirtualDevice(coarse)
    seen = measure(sampler(coarse, body, gpu), settings)
    assert seen.iterations * 123e-9 >= 0.99 * 100e-6  # as well as such a clock can tell
    assert seen.host == pytest.approx([123e-9] * len(seen.host), rel=0.02)  # the step's share


def test_a_body_on_the_cpu_is_repeated_to_fill_its_time(
    clock: VirtualClock, settings: Settings
) -> None:
    def body() -> None:
        clock.now += 10e-6

    seen = measure(sampler(clock, body), settings)
    assert len(seen.host) == settings.most_samples
    assert seen.sampled == pytest.approx(settings.case_seconds, rel=0.1)


def test_a_body_on_an_accelerator_is_called_once_a_sample(
    clock: VirtualClock, settings: Settings
) -> None:
    gpu = VirtualDevice(clock)
    seen = measure(sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu), settings)
    assert seen.iterations == 1


def test_sampling_ends_when_its_time_is_over(clock: VirtualClock, settings: Settings) -> None:
    def body() -> None:
        clock.now += 0.02

    seen = measure(sampler(clock, body), settings)
    assert 5 <= len(seen.host) <= 6


def test_a_long_body_gets_three_samples(clock: VirtualClock, settings: Settings) -> None:
    def body() -> None:
        clock.now += 7.0

    assert len(measure(sampler(clock, body), settings).host) == 3


def test_the_result_is_the_last_calls(clock: VirtualClock, settings: Settings) -> None:
    calls: list[float] = []

    def body() -> int:
        clock.now += 0.01
        calls.append(clock.now)
        return len(calls)

    assert measure(sampler(clock, body), settings).result == len(calls)


def test_the_garbage_collector_rests_while_sampling(
    clock: VirtualClock, settings: Settings
) -> None:
    states: set[bool] = set()

    def body() -> None:
        clock.now += 0.01
        states.add(gc.isenabled())

    measure(sampler(clock, body), settings)
    assert states == {False}
    assert gc.isenabled()


def test_the_garbage_collector_is_back_after_a_body_that_raises(
    clock: VirtualClock, settings: Settings
) -> None:
    with pytest.raises(ZeroDivisionError):
        measure(sampler(clock, lambda: 1 // 0), settings)
    assert gc.isenabled()


def test_exploring_calls_a_long_body_twice_and_a_short_one_a_few_times(
    clock: VirtualClock, settings: Settings
) -> None:
    lengths = {9.0: 1, 1e-3: 5}
    for seconds, samples in lengths.items():

        def body(seconds: float = seconds) -> None:
            clock.now += seconds

        assert len(explore(sampler(clock, body), settings).host) == samples


def test_the_timers_step_is_the_smallest_that_readings_show() -> None:
    assert timer_step(VirtualClock(step=1e-6, cost=0.3e-6)) == pytest.approx(1e-6)


def test_an_empty_body_costs_two_readings_of_the_clock(clock: VirtualClock) -> None:
    assert sampler(clock, lambda: None).host(1)[1] == pytest.approx(2 * clock.cost)


def test_samples_of_two_versions_stand_beside_each_other(
    clock: VirtualClock, settings: Settings
) -> None:
    gpu = VirtualDevice(clock)
    order: list[str] = []

    def version(name: str, work: float) -> Callable[[], str]:
        def body() -> str:
            order.append(name)
            gpu.queue(LAUNCH, work)
            clock.now += 1e-6 * len(order)  # the machine becomes slower all the time
            return name

        return body

    seen = measure(
        sampler(clock, version("new", WORK), gpu, against=version("old", 2 * WORK)), settings
    )
    assert len(seen.against) == len(seen.host) >= 3
    assert seen.results == ["new", "old"]
    apart = [old - new for old, new in zip(seen.against, seen.host, strict=True)]
    assert apart == pytest.approx([WORK] * len(apart), abs=5e-4)
    # A span sample of one of the two in between would favour it: they come after all pairs.
    assert order[-LEAST_SAMPLES:] == ["new"] * LEAST_SAMPLES
    assert len(gpu.events) == 2 * LEAST_SAMPLES
    assert seen.parts.keys() == {"enqueue", "span"}
    # Of every two pairs each version leads one.
    leads = order[-2 * len(seen.host) - LEAST_SAMPLES : -LEAST_SAMPLES : 2]
    assert all(one != two for one, two in zip(leads[::2], leads[1::2], strict=False))


def test_of_a_handful_of_short_pairs_the_one_in_the_middle_is_kept(
    clock: VirtualClock, settings: Settings
) -> None:
    calls = 0

    def version(seconds: float) -> Callable[[], None]:
        def body() -> None:
            nonlocal calls
            calls += 1
            clock.now += seconds + (
                20 * seconds if calls % 7 == 0 else 0.0
            )  # the core is taken away

        return body

    seen = measure(sampler(clock, version(1.02e-4), against=version(1e-4)), settings)
    assert seen.iterations == 1
    assert len(seen.host) >= 3
    ratios = [new / old for new, old in zip(seen.host, seen.against, strict=True)]
    assert ratios == pytest.approx([1.02] * len(ratios), rel=1e-3)


def test_which_version_leads_is_drawn_anew_for_every_two_pairs() -> None:
    leads = other_leads()
    drawn = {(next(leads), next(leads)) for _ in range(50)}
    assert drawn == {(True, False), (False, True)}


def test_a_pilot_tries_both_versions(clock: VirtualClock, settings: Settings) -> None:
    seen = explore(sampler(clock, lambda: "new", against=lambda: "old"), settings)
    assert seen.results == ["new", "old"]


def test_cold_samples_are_single_calls_and_caches_are_emptied_outside_the_clocks(
    clock: VirtualClock, settings: Settings
) -> None:
    emptied = 0

    def cold() -> None:
        nonlocal emptied
        emptied += 1
        clock.now += 1.0

    def body() -> None:
        clock.now += 1e-6

    seen = measure(sampler(clock, body, cold=cold), settings)
    assert seen.iterations == 1
    assert emptied > len(seen.host)
    assert max(seen.host) < 1e-5


def test_a_device_without_events_has_no_span(clock: VirtualClock, settings: Settings) -> None:
    gpu = VirtualDevice(clock, has_events=False)
    seen = measure(sampler(clock, lambda: gpu.queue(LAUNCH, WORK), gpu), settings)
    assert seen.host == pytest.approx([LAUNCH + WORK] * len(seen.host), rel=1e-4)
    assert seen.parts.keys() == {"enqueue"}


def test_a_clock_that_goes_backwards_fails_the_case(
    clock: VirtualClock, settings: Settings
) -> None:
    calls = 0

    def body() -> None:
        nonlocal calls
        calls += 1
        clock.now += 0.02 if calls < 6 else -1.0

    with pytest.raises(ClockError, match="backwards"):
        measure(sampler(clock, body), settings)


def test_a_clock_that_stands_still_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.clocks.MOST_READINGS", 1000)
    with pytest.raises(ClockError, match="stands still"):
        timer_step(lambda: 1.0)
