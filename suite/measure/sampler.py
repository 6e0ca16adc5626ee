# SPDX-License-Identifier: MIT
"""Samples of one body.

A *host* sample holds no events: wait for every device, read the clock, call the body, read the
clock, wait for every device, read the clock. It is what a user waits, and nothing is subtracted. A
*span* sample brackets the body by events on every lane; it says when the devices worked, and is
never mixed with the host samples.
"""

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from time import monotonic, perf_counter
from typing import Any, NamedTuple, Protocol, runtime_checkable

from frobench.suite.concurrency import Interval, concurrency
from frobench.suite.errors import ClockError
from frobench.suite.kit.device import REFUSALS, Device, reading, tensors
from frobench.suite.kit.garbage import no_garbage_collection
from frobench.suite.kit.lanes import MILLISECOND, Lane, Track
from frobench.suite.measure.around import Blocker, Called, ColdCaches, Observer
from frobench.suite.profiles import LEAD, LEAST_SAMPLES, STEPS_ON_ACCELERATOR, STEPS_ON_CPU, WINDOW
from frobench.suite.stored.types import Settings

Body = Callable[[], Any]
Clock = Callable[[], float]

STEADY = 0.97
"""Warm-up ends when the median of the last calls and that of those before are at least this part of
each other: a device that warms up becomes faster, one that meets its power limit slower."""
LAST = 5
"""Calls whose medians are compared to see whether the body has become steady."""


@runtime_checkable
class TimedBody(Protocol):
    """A body that reads the clock itself, such as that of a group."""

    def timed(self, calls: int) -> Interval:
        """Do the work so many times; return when that began and ended, in seconds."""

    def parts(self) -> dict[str, float]:
        """Return what else it has noted, in seconds by name."""


@dataclass
class Sampler:
    """Takes samples of one body.

    devices : every device to wait for
    tracks : the lanes or workers that the body uses and enters itself
    before : called before each sample, outside the clocks; a sample is then a single call
    against : another version of the body, a sample of which stands beside each of the body's
    cold : empties the caches before each sample, after `before`; both take of the case's time
    clock : returns seconds
    blocker : keeps the one accelerator busy while the body is queued behind it
    """

    body: Body
    devices: Sequence[Device]
    tracks: Sequence[Track] = ()
    before: Callable[[], object] | None = None
    against: Body | None = None
    cold: ColdCaches | None = None
    clock: Clock = perf_counter
    blocker: Blocker | None = None

    def __post_init__(self) -> None:
        body: object = self.body
        self._timed = body if isinstance(body, TimedBody) else None
        self._queueing = [device for device in self.devices if device.is_accelerator]
        self._whole = [] if self.tracks else [Lane(device) for device in self._queueing]
        tracks = self.tracks or self._whole
        self.has_spans = bool(tracks) and all(track.observes for track in tracks)
        self._observer = Observer(tracks, whole=not self.tracks)

    def host(self, iterations: int) -> Called:
        """Wait until all is ready; then do as `timed`."""
        self.get_ready()
        return self.timed(iterations)

    def timed(self, iterations: int = 1) -> Called:
        """Call the body so many times, and wait until all is done."""
        if self._timed is not None:
            begun, ended = self._timed.timed(iterations)
            return ended - begun, ended - begun, None
        result = None
        calls = itertools.repeat(None, iterations)
        start = self.clock()
        for _ in calls:
            result = self.body()
        queued = self.clock()
        for device in self._queueing:
            device.finish(result)
        end = self.clock()
        return queued - start, end - start, result

    def took(self, iterations: int = 1) -> float:
        """Return the seconds until so many calls were done."""
        return self.host(iterations)[1]

    def reading(self, result: object) -> float | None:
        """Return the seconds of reading one element of a result back, on the slowest device.

        That is what reading a ready value takes, unless the wait ended before the work did. `None`
        where no device holds a result.
        """
        seconds = []
        for device in self._queueing:
            held = list(tensors(result, device.handle))
            with suppress(*REFUSALS):  # not every type can be read by element
                seconds += [reading(tensor, self.clock) for tensor in held[-1:]]
        return max(seconds, default=None)

    def span(self) -> dict[str, float]:
        """Take a span sample, in seconds by name; only where `has_spans`."""
        return self._observer.observe(self._entered, self._watched)

    def parts(self) -> dict[str, float]:
        """Return what a `TimedBody` has noted, in seconds by name."""
        return self._timed.parts() if self._timed is not None else {}

    @property
    def queues(self) -> bool:
        """Whether the body returns before its work is done."""
        return bool(self._queueing)

    @property
    def may_repeat(self) -> bool:
        """Whether long samples of many calls are still samples of one call.

        On an accelerator many calls in a row overlap with their own launching.
        """
        return not (self.before or self.cold or self.queues)

    def other(self) -> "Sampler | None":
        """Return the sampler of the other version of the body, if there is one."""
        return replace(self, body=self.against) if self.against else None

    def warm_up(self, settings: Settings) -> float:
        """Call the body until it is steady or half the case's time is over; return its seconds.

        Without any time for the case that is a single call.
        """
        warm = replace(self, cold=None) if self.cold else self  # with cold caches nothing warms up
        first = warm.took()  # pays for handles, workspaces and autotuning
        if not settings.case_seconds:
            return first
        begun, times = self.clock(), [warm.took()]
        while self.clock() - begun < settings.case_seconds / 2 and not _is_steady(times):
            times.append(warm.took())
        return statistics.median(times[-LAST:])

    def _watched(self, body: Body) -> Called:
        """Time one call as `timed` does; a device that needs `finish` has no events."""
        self.get_ready()
        start = self.clock()
        result = body()
        queued = self.clock()
        for device in self._queueing:
            device.synchronize()
        return queued - start, self.clock() - start, result

    def _entered(self) -> None:
        with ExitStack() as lanes:
            for lane in self._whole:
                lanes.enter_context(lane)
            self.body()

    def get_ready(self) -> None:
        """Do what comes before a sample, and wait until every device is idle."""
        for prepare in (self.before, self.cold):
            if prepare is not None:
                prepare()
        for device in self._queueing:
            device.synchronize()


def _is_steady(times: Sequence[float]) -> bool:
    if len(times) < 2 * LAST:
        return False
    last, previous = map(statistics.median, (times[-LAST:], times[-2 * LAST : -LAST]))
    return STEADY * previous <= last and STEADY * last <= previous


DEVICE_PART = 0.25
"""Part of the time for a case after which no further span behind a blocker is begun."""
READINGS = 3
"""Host samples of a launch after which one element of the result is read back."""
SLACK = 100e-6
"""Seconds that a blocker lasts beyond twice what the host should need."""
LONGEST = 0.02
"""Seconds that a blocker lasts at most."""
SPANS, FAILURES = 5, 3
"""Spans behind a blocker in a launch, and failed attempts, after which there are no more."""


@dataclass
class Measurement:
    """What one launch learns of one case.

    host : seconds of each host sample, divided by `iterations`; in a pilot also of calls with
        one thread
    undisturbed : of a pilot's calls, least seconds of each had it not waited for the processor
    against : as `host`, of the other version of the body, each beside its sample of `host`
    parts : values of each span sample or host sample by name (see `CaseInfo.parts`)
    iterations : calls of the body inside a sample
    warmup : seconds of warming up and choosing the iterations
    sampled : seconds inside samples
    prepared : seconds between samples: of what comes before each, and of emptying the caches
    result, other : what the last calls of the body and of its other version returned
    """

    host: list[float] = field(default_factory=list)
    undisturbed: list[float] = field(default_factory=list)
    against: list[float] = field(default_factory=list)
    parts: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    iterations: int = 1
    warmup: float = 0.0
    sampled: float = 0.0
    prepared: float = 0.0
    result: Any = None
    other: Any = None

    @property
    def results(self) -> list[Any]:
        """Results of the last calls of the body and, if there is one, its other version."""
        return [self.result, *([self.other] if self.against else [])]

    def part_medians(self) -> dict[str, float]:
        """Return the launch median of each part, and the concurrency that these prove."""
        medians = {name: statistics.median(values) for name, values in self.parts.items()}
        proved = concurrency(medians)
        return medians if proved is None else medians | {"concurrency": proved}

    def enough(self, settings: Settings, spent: float) -> bool:
        """Tell whether sampling ends, which has taken `spent` seconds."""
        over = spent >= settings.case_seconds or len(self.host) >= settings.most_samples
        return over and len(self.host) >= min(LEAST_SAMPLES, settings.most_samples)

    def sample(self, sampler: Sampler) -> float:
        """Take a host sample of the body; return the seconds of a call, for `host`.

        Raises `ClockError` if the clock shows that no time has passed.
        """
        queued, took, self.result = self._host(sampler)
        if sampler.queues:
            self.parts["enqueue"].append(queued)
            if len(self.parts["enqueue"]) <= READINGS:
                seconds = sampler.reading(self.result)
                if seconds is not None:
                    self.parts["reading"].append(seconds)
        return took

    def sample_other(self, sampler: Sampler) -> float:
        """Do as `sample` with the other version, for `against`."""
        _, took, self.other = self._host(sampler)
        return took

    def observe(self, sampler: Sampler) -> None:
        """Take a span sample, where there is anything that it can see."""
        if sampler.has_spans:
            begun = sampler.clock()
            observed = sampler.span()
            self.sampled += sampler.clock() - begun
            for name, value in observed.items():
                self.parts[name].append(value)

    def observe_device(self, sampler: Sampler, settings: Settings) -> None:
        """Take spans behind queued work, where the body is queued on one accelerator alone."""
        if sampler.blocker is not None:
            begun, enqueue = sampler.clock(), statistics.median(self.parts["enqueue"])
            most = DEVICE_PART * settings.case_seconds
            if spans := device_spans(sampler, sampler.blocker, enqueue, most):
                self.parts["device"] = spans
            self.sampled += sampler.clock() - begun

    def _host(self, sampler: Sampler) -> Called:
        queued, took, result = sampler.host(self.iterations)
        if took <= 0:
            raise ClockError("the clock went backwards, or stood still in a sample")
        self.sampled += took
        return queued / self.iterations, took / self.iterations, result


def device_spans(sampler: Sampler, blocker: Blocker, enqueue: float, seconds: float) -> list[float]:
    """Return the seconds that the device works on a call, for as many calls as there is time.

    enqueue : seconds until the body returns
    seconds : that further spans may take once there is one
    """
    spans: list[float] = []
    failures, wanted, begun = 0, 2 * (2 * enqueue) + SLACK, sampler.clock()
    while len(spans) < SPANS and failures < FAILURES and wanted <= LONGEST:
        if spans and sampler.clock() - begun > seconds:
            break
        span = _device_span(sampler, blocker, wanted)
        if span is None:
            failures, wanted = failures + 1, 2 * wanted
        else:
            spans.append(span)
    return spans


def _device_span(sampler: Sampler, blocker: Blocker, wanted: float) -> float | None:
    device = blocker.device
    begin, end = device.event(), device.event()
    device.synchronize()
    blocker.queue(wanted)
    if sampler.cold is None:
        sampler.body()  # brings back what the blocker drove out of the caches
    else:
        sampler.cold()
    device.record(begin)
    sampler.body()
    device.record(end)
    in_time = not begin.query()
    device.synchronize()
    span = begin.elapsed_time(end) * MILLISECOND
    return span if in_time and span > 0 else None


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
