# SPDX-License-Identifier: MIT
"""One measurement in one process: warm up, choose the iterations, sample, stop.

A window repeats the body for seconds instead: for its energy, and for the rate it sustains.

Where a body has another version, samples of both are taken side by side: what a launch, a clock or
a neighbour does to one sample it does to the one beside it, so that a far smaller difference shows
than between two runs.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from time import monotonic, perf_counter
from typing import Any, NamedTuple

from frobench.suite.errors import ClockError
from frobench.suite.kit.garbage import no_garbage_collection
from frobench.suite.measure.measurement import Measurement
from frobench.suite.measure.sampler import Clock, Sampler
from frobench.suite.profiles import LEAD, LEAST_SAMPLES, STEPS_ON_ACCELERATOR, STEPS_ON_CPU, WINDOW
from frobench.suite.stored.run import Settings

STEPS_SEEN = 100
MOST_READINGS = 10**7
"""Readings without a step after which a clock stands still: half a second's worth."""
AT_ONCE = 0.1
"""Seconds of calls that a window queues together, so that the device does not wait between two."""


def timer_step(clock: Clock = perf_counter) -> float:
    """Return the smallest step, in seconds, between successive readings that differ.

    Raises `ClockError` if the clock stands still.
    """
    return min(_step(clock) for _ in range(STEPS_SEEN))


def _step(clock: Clock) -> float:
    before = clock()
    for _ in range(MOST_READINGS):
        if (now := clock()) > before:
            return now - before
    raise ClockError("the clock stands still")


def measure(sampler: Sampler, settings: Settings) -> Measurement:
    """Warm the body up, then sample it until there is enough or the time is over."""
    other = sampler.other()
    with no_garbage_collection():
        measurement = Measurement()
        begun = sampler.clock()
        call = sampler.warm_up(settings)
        if other is not None:
            other.warm_up(settings)
        wanted, least = _lengths(sampler, settings)
        measurement.iterations = _iterations(sampler, call, wanted, least)
        measurement.warmup = sampler.clock() - begun
        if other is None:
            _sample_alone(sampler, measurement, settings, wanted, least)
            measurement.observe_device(sampler, settings)
        else:
            _sample_beside(sampler, other, measurement, settings)
        measurement.prepared = sampler.clock() - begun - measurement.warmup - measurement.sampled
        return measurement


def _sample_alone(
    sampler: Sampler, measurement: Measurement, settings: Settings, wanted: float, least: float
) -> None:
    """Let host samples and span samples alternate; of a long call one span sample is enough.

    A sample that is too short for the clock shows that the calls by which its length was chosen
    were held up: then all begins anew, with more calls in a sample.
    """
    begun = sampler.clock()
    while not measurement.enough(settings, sampler.clock() - begun):
        measurement.result = None  # the memory of one result is enough
        measurement.host.append(measurement.sample(sampler))
        if len(measurement.host) == 1 or sampler.clock() - begun < settings.case_seconds:
            measurement.observe(sampler)
        if sampler.may_repeat and measurement.host[-1] * measurement.iterations < least:
            measurement.host.clear()
            measurement.iterations = _calls_that_take(sampler, wanted, least)


def _lengths(sampler: Sampler, settings: Settings) -> tuple[float, float]:
    """Return the seconds that a sample of a short body shall take, and those it must."""
    steps = STEPS_ON_ACCELERATOR if sampler.queues else STEPS_ON_CPU
    least = steps * timer_step(sampler.clock)
    if sampler.may_repeat and not sampler.against:  # rather a longer sample than more of them
        return max(least, settings.case_seconds / settings.most_samples), least
    return least, least


def _iterations(sampler: Sampler, call: float, wanted: float, least: float) -> int:
    if sampler.before or sampler.cold or call >= wanted:
        return 1
    iterations = _calls_that_take(sampler, wanted, least)
    sampler.took(iterations)  # several calls may need more memory than one, which takes its time
    return iterations


def _calls_that_take(sampler: Sampler, wanted: float, least: float) -> int:
    """Return how many calls take `wanted` seconds, by calls that take `least` seconds or longer."""
    iterations = 1
    while True:
        seconds = sampler.took(iterations)
        if seconds >= least:
            return max(1, math.ceil(iterations * wanted / seconds))
        iterations *= 2 if seconds <= 0 else min(10, math.ceil(1.2 * least / seconds))


def _sample_beside(
    sampler: Sampler, other: Sampler, measurement: Measurement, settings: Settings
) -> None:
    """Take samples in pairs, then the span samples, which would favour one of the two versions."""
    leads, begun = other_leads(), sampler.clock()
    sampler.took(measurement.iterations)
    pair = 2 * (sampler.clock() - begun)
    pairs = int(settings.case_seconds / settings.most_samples / pair) | 1  # an odd number
    while not measurement.enough(settings, sampler.clock() - begun):
        new, old = _middle(sampler, other, measurement, islice(leads, pairs))
        measurement.host.append(new)
        measurement.against.append(old)
    for _ in range(LEAST_SAMPLES):
        measurement.observe(sampler)


def other_leads() -> Iterator[bool]:
    """Yield whether the other version comes first: in one of every two pairs, at random which.

    A fixed order can fall into step with the time slices of a shared core, for example: in
    simulation identical code was called different in up to 40%.
    """
    random = Random()  # noqa: S311 - no secret, but out of reach of a body that seeds
    while True:
        first = random.random() < 0.5  # noqa: PLR2004 - a coin
        yield first
        yield not first


def _middle(
    sampler: Sampler, other: Sampler, measurement: Measurement, leads: Iterable[bool]
) -> tuple[float, float]:
    """Take several pairs; return the one with the middle ratio, which disturbed calls do not move.

    leads : whether the other version comes first, for each pair
    """
    pairs = []
    for other_first in leads:
        measurement.result = measurement.other = None  # the memory of one result each is enough
        if other_first:
            old = measurement.sample_other(other)
        new = measurement.sample(sampler)
        if not other_first:
            old = measurement.sample_other(other)
        pairs.append((new, old))
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


class Window(NamedTuple):
    """When a window began and ended by the monotonic clock, its calls, and their seconds."""

    begun: float
    ended: float
    calls: int
    seconds: float


def repeat(sampler: Sampler) -> tuple[Window, Any]:
    """Repeat a body without a pause for a window; return it, and what the last call returned."""
    result = None
    sampler.took()  # the first call pays for what later ones do not
    iterations = max(1, math.ceil(AT_ONCE / sampler.took()))

    def calls_until(end: float) -> int:
        nonlocal result
        calls = 0
        while sampler.clock() < end:
            *_, result = sampler.host(iterations)
            calls += iterations
        return calls

    calls_until(sampler.clock() + LEAD)
    begun, start = monotonic(), sampler.clock()
    calls = calls_until(start + WINDOW)
    return Window(begun, monotonic(), calls, sampler.clock() - start), result
