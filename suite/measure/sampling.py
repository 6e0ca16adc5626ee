# SPDX-License-Identifier: MIT
"""One measurement in one process: warm up, choose the iterations, sample, stop.

Where a body has another version, samples of both are taken side by side: what a launch, a clock or
a neighbour does to one sample it does to the one beside it, so that a far smaller difference shows
than between two runs.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random

from suite.garbage import no_garbage_collection
from suite.measure import clocks
from suite.measure.measurement import Measurement
from suite.measure.sampler import Sampler
from suite.profiles import LEAST_SAMPLES, STEPS_IN_A_LAUNCH, STEPS_IN_A_SAMPLE
from suite.stored.run import Settings


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
            measurement.iterations = clocks.calls_that_take(wanted, least, sampler.took)


def _lengths(sampler: Sampler, settings: Settings) -> tuple[float, float]:
    """Return the seconds that a sample of a short body shall take, and those it must."""
    steps = STEPS_IN_A_LAUNCH if sampler.queues else STEPS_IN_A_SAMPLE
    least = steps * clocks.timer_step(sampler.clock)
    if sampler.may_repeat and not sampler.against:  # rather a longer sample than more of them
        return max(least, settings.case_seconds / settings.most_samples), least
    return least, least


def _iterations(sampler: Sampler, call: float, wanted: float, least: float) -> int:
    if sampler.before or sampler.cold or call >= wanted:
        return 1
    iterations = clocks.calls_that_take(wanted, least, sampler.took)
    sampler.took(iterations)  # several calls may need more memory than one, which takes its time
    return iterations


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
