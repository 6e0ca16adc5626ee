# SPDX-License-Identifier: MIT
"""How samples of two versions stand beside each other, on a clock that only they advance."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.measure.timed_loop import Sampler, other_leads
from frobench.suite.profiles import LEAST_SAMPLES, settings_for
from frobench.suite.stored.types import Settings
from tests.instruments.devices.virtual import VirtualClock, VirtualDevice

LAUNCH, WORK = 50e-6, 3e-3


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(cost=30e-9)


@pytest.fixture
def settings() -> Settings:
    return replace(settings_for("standard", ["cpu"]), case_seconds=0.1)


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

    seen = Sampler(version(1.02e-4), [], against=version(1e-4), clock=clock).run(settings)
    assert seen.iterations == 1
    assert len(seen.samples) >= 3
    assert seen.against is not None
    ratios = [new / old for new, old in zip(seen.samples, seen.against, strict=True)]
    assert ratios == pytest.approx([1.02] * len(ratios), rel=1e-3)


def test_pairs_that_need_long_before_they_begin_are_single(
    clock: VirtualClock, settings: Settings
) -> None:
    def body() -> None:
        clock.now += 1e-4

    def before() -> None:
        clock.now += 0.01

    sampler = Sampler(body, [], before=before, against=body, clock=clock)
    started = clock.now
    seen = sampler.run(settings)
    assert len(seen.samples) == 5  # a pair takes a fifth of the time
    assert clock.now - started < 3 * settings.case_seconds


def test_which_version_leads_is_drawn_anew_for_every_two_pairs() -> None:
    leads = other_leads()
    drawn = {(next(leads), next(leads)) for _ in range(50)}
    assert drawn == {(True, False), (False, True)}


def test_pairs_are_as_many_as_the_time_of_both_versions_allows(
    clock: VirtualClock, settings: Settings
) -> None:
    def body() -> None:
        clock.now += 1e-3

    seen = Sampler(body, [], against=body, clock=clock).run(settings)
    assert len(seen.samples) == settings.most_samples  # a pair takes more than half of its part
