# SPDX-License-Identifier: MIT
"""The timed loop: how samples of one body are taken.

A *host* sample holds no events: wait for every device, read the clock, call the body, read the
clock, wait for every device, read the clock. It is what a user waits, and nothing is subtracted. A
*span* sample brackets the body by events on every lane; it says when the devices worked, and is
never mixed with the host samples.
"""

import gc
import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from random import Random
from time import monotonic, perf_counter
from typing import Any

from frobench.suite.concurrency import concurrency, shareable, shared, union
from frobench.suite.errors import ClockError, DoesNotFitError
from frobench.suite.journal import Busy, Measured
from frobench.suite.kit.device import REFUSALS, Device, reading, tensors
from frobench.suite.kit.group import Group
from frobench.suite.kit.lanes import MILLISECOND, Lane, Track, Turns
from frobench.suite.lazy_torch import torch
from frobench.suite.measure.caches_and_inputs import ColdCaches
from frobench.suite.profiles import (
    BARRIERS,
    LEAD,
    LEAST_SAMPLES,
    STEPS_ON_ACCELERATOR,
    STEPS_ON_CPU,
    WINDOW,
)
from frobench.suite.stored.types import Settings

Body = Callable[[], Any]
Clock = Callable[[], float]
Called = tuple[float, float, Any]
"""Seconds until calls of a body returned, seconds until all was done, and the last result."""

STEADY = 0.97
"""Warm-up ends when the median of the last calls and that of those before are at least this part of
each other: a device that warms up becomes faster, one that meets its power limit slower."""
LAST = 5
"""Calls whose medians are compared to see whether the body has become steady."""
READINGS = 3
"""Host samples of a launch after which one element of the result is read back."""
HELD = 2.0
"""Times the seconds that queueing a body took, for which the device is held to queue it again."""
AT_ONCE = 0.1
"""Seconds of calls that a window queues together, so that the device does not wait between two."""
UNCALLED: Any = object()
"""Stands for the result of a body that no call has returned from yet."""


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector while the context lasts."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


SIZES = tuple(2**power for power in range(6, 13))
"""Rows of a blocker's product; a small product drives little else out of the caches."""
CALLS = 8
"""Products in a row by which the time of one is measured."""
AHEAD = 4
"""Least time of a product, as a multiple of its launching, so that the host gets ahead."""


class Blocker:
    """Keeps a device busy while the host queues other work; `unit` is the seconds of a product."""

    def __init__(self, device: Device, n: int) -> None:
        a, b = device.uniform(n, n), device.uniform(n, n)
        self.device = device
        self._multiply = partial(torch.mm, a, b, out=torch.empty_like(a))
        self.unit = 0.0

    def queue(self, seconds: float) -> None:
        """Queue products that take so long, at least."""
        for _ in range(max(1, math.ceil(seconds / self.unit))):
            self._multiply()

    def is_ahead(self, clock: Callable[[], float]) -> bool:
        """Time the product; tell whether launching it takes the host much less."""
        for _ in range(2):  # the first time pays for what later ones do not
            self.device.synchronize()
            begun = clock()
            for _ in range(CALLS):
                self._multiply()
            queued = clock()
            self.device.synchronize()
            took = clock() - begun
        self.unit = took / CALLS
        return took >= AHEAD * (queued - begun)


def blocker(device: Device, clock: Callable[[], float] = perf_counter) -> Blocker | None:
    """Return the smallest blocker that works; none for a CPU, or without events."""
    if not (device.is_accelerator and device.has_events):
        return None
    with suppress(DoesNotFitError, RuntimeError, AttributeError, TypeError):
        for n in SIZES:  # the device may be full, or cannot multiply: its cases will say so
            candidate = Blocker(device, n)
            if candidate.is_ahead(clock):
                return candidate
    return None


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

    result : what the last call returned
    sampled : seconds inside samples
    parts : values of each span sample or host sample by name (see `CaseInfo.parts`)
    other : the sampler of the other version, if there is one
    queues : whether the body returns before its work is done
    may_repeat : whether long samples of many calls are still samples of one call; on an accelerator
        many calls in a row overlap with their own launching
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
        self._timed = body if isinstance(body, Group) else None  # it reads the clock itself
        self._queueing = [device for device in self.devices if device.is_accelerator]
        # A lane of each device that is entered once, around all of the body, where it has none.
        self._whole = [] if self.tracks else [Lane(device) for device in self._queueing]
        self._observed = self.tracks or self._whole
        self.queues = bool(self._queueing)
        self.may_repeat = not (self.before or self.cold or self.queues)
        self.other = replace(self, body=self.against, against=None) if self.against else None
        self.result: Any = UNCALLED
        self.sampled = 0.0
        self.parts: defaultdict[str, list[float]] = defaultdict(list)

    @property
    def results(self) -> list[Any]:
        """Results of the last calls of the body and, if it was sampled, its other version."""
        results = [self.result, *([self.other.result] if self.other else [])]
        return [result for result in results if result is not UNCALLED]

    def run(self, settings: Settings) -> Measured:
        """Warm the body up, then sample it until there is enough or the time is over.

        Host samples and span samples alternate; of a long call one span sample is enough. A sample
        that is too short for the clock shows that the calls by which its length was chosen were
        held up: then all begins anew, with more calls in a sample.
        """
        record = Measured()
        self.parts, self.sampled = defaultdict(list), 0.0
        with no_garbage_collection():
            began = self.clock()
            call = self.warm_up(settings)
            if self.other is not None:
                self.other.warm_up(settings)
            wanted, least = self._lengths(settings)
            if not (self.before or self.cold or call >= wanted):
                record.iterations = self._calls_that_take(wanted, least)
                self.took(record.iterations)  # may need more memory than one, which takes its time
            begun = self.clock()
            record.warmup = begun - began
            if self.other is not None:
                self._sample_pairs(self.other, record, settings)
            while self.other is None and not _is_enough(record, settings, self.clock() - begun):
                self.result = None  # the memory of one result is enough
                record.samples.append(self.sample(record.iterations))
                if len(record.samples) == 1 or self.clock() - begun < settings.case_seconds:
                    self.observe()
                if self.may_repeat and record.samples[-1] * record.iterations < least:
                    record.samples.clear()
                    record.iterations = self._calls_that_take(wanted, least)
            if self.blocker is not None:
                observed, enqueue = self.clock(), statistics.median(self.parts["enqueue"])
                most = DEVICE_PART * settings.case_seconds
                if spans := device_spans(self, self.blocker, enqueue, most):
                    self.parts["device"] = spans
                self.sampled += self.clock() - observed
            record.sampled = self.sampled + (self.other.sampled if self.other else 0.0)
            record.prepared = self.clock() - began - record.warmup - record.sampled
        record.parts = self.part_medians()
        return record

    def sample(self, iterations: int = 1) -> float:
        """Take a host sample, when all is ready; return the seconds of a call.

        Raises `ClockError` if the clock shows that no time has passed.
        """
        self.get_ready()
        queued, took, self.result = self.timed(iterations)
        if took <= 0:
            raise ClockError("the clock went backwards, or stood still in a sample")
        self.sampled += took
        if self.queues:
            self.parts["enqueue"].append(queued / iterations)
            if len(self.parts["enqueue"]) <= READINGS:
                self.read_back()
        return took / iterations

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
        """Return the seconds until so many calls were done, begun when all was ready."""
        self.get_ready()
        return self.timed(iterations)[1]

    def get_ready(self) -> None:
        """Do what comes before a sample, and wait until every device is idle."""
        for prepare in (self.before, self.cold):
            if prepare is not None:
                prepare()
        for device in self._queueing:
            device.synchronize()

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

    def part_medians(self) -> dict[str, float]:
        """Return the launch median of each part, and the concurrency that these prove."""
        medians = {name: statistics.median(values) for name, values in self.parts.items()}
        if (proved := concurrency(medians)) is not None:
            medians["concurrency"] = proved
        return medians | (self._timed.parts() if self._timed is not None else {})

    def repeat(self) -> Busy:
        """Repeat the body without a pause for a window."""
        self.took()  # the first call pays for what later ones do not
        iterations = math.ceil(AT_ONCE / self.took())

        def calls_until(end: float) -> int:
            calls = 0
            while self.clock() < end:
                self.get_ready()
                *_, self.result = self.timed(iterations)
                calls += iterations
            return calls

        calls_until(self.clock() + LEAD)
        begun, start = monotonic(), self.clock()
        calls = calls_until(start + WINDOW)
        ended, seconds = monotonic(), self.clock() - start
        return Busy(begun=begun, ended=ended, calls=calls, seconds=seconds)

    def read_back(self) -> None:
        """Note the seconds of reading one element of the result back, on the slowest device.

        That is what reading a ready value takes, unless the wait ended before the work did.
        """
        seconds = []
        for device in self._queueing:
            held = list(tensors(self.result, device.handle))
            with suppress(*REFUSALS):  # not every type can be read by element
                seconds += [reading(tensor, self.clock) for tensor in held[-1:]]
        if seconds:
            self.parts["reading"].append(max(seconds))

    def observe(self) -> None:
        """Take a span sample, if everything that works can be observed."""
        if self._observed and all(track.observes for track in self._observed):
            begun = self.clock()
            for name, value in self.span().items():
                self.parts[name].append(value)
            self.sampled += self.clock() - begun

    def span(self) -> dict[str, float]:
        """Call the body and its controls once each; return what they show, in seconds by name."""
        _, took, _ = self._watch(self._entered)
        if len(self._observed) == 1 and isinstance(self._observed[0], Lane):
            return {"span": self._observed[0].span()}
        intervals = [track.intervals() for track in self._observed]
        entries = [entry for lane in intervals for entry in lane]
        parts = {"span": max(end for _, end in entries) - min(begin for begin, _ in entries)}
        if not self._takes_turns:
            return parts
        queued, in_turn, _ = self._watch(self._entered, Turns())
        apart = [track.intervals() for track in self._observed]
        busy = [union(lane) for lane in apart]
        if ahead := self._queued_ahead(HELD * queued):
            busy, parts["busy"] = ahead, sum(ahead)
        return parts | {
            "at_once": took,
            "shared": shared(intervals),
            "entries": float(len(entries)),
            "in_turn": in_turn,
            "shared_in_turn": shared(apart),
            "shareable": shareable(busy),
            "balance": min(busy) / max(busy) if max(busy) > 0 else 1.0,
        }

    @cached_property
    def _takes_turns(self) -> bool:
        """Whether there is a control: several tracks, which can wait for each other."""
        return len(self.tracks) > 1 and all(track.takes_turns(self.tracks) for track in self.tracks)

    @cached_property
    def _keeper(self) -> Blocker | None:
        """What keeps the device of the first lane busy."""
        first = self._observed[0]
        return blocker(first.device) if isinstance(first, Lane) else None

    def _queued_ahead(self, seconds: float) -> list[float]:
        """Return how long each lane is busy when all is queued while the first device is held.

        Empty if the device was free before all was queued, or cannot be held.
        """
        lanes = [track for track in self._observed if isinstance(track, Lane)]
        keeper = self._keeper
        if not lanes or keeper is None:
            return []
        turns, first = Turns(), lanes[0].device

        def held_body() -> bool:
            keeper.queue(seconds)
            turns.last = held = first.event()
            first.record(held)
            self._entered()
            return not held.query()

        _, _, proved = self._watch(held_body, turns)
        return [lane.busy() for lane in lanes] if proved else []

    def _watch(self, body: Body, turns: Turns | None = None) -> Called:
        """Time one call as `timed` does, observed; a device that needs `finish` has no events."""
        for track in self._observed:
            track.arm(turns)
        try:
            self.get_ready()
            start = self.clock()
            result = body()
            queued = self.clock()
            for device in self._queueing:
                device.synchronize()
            return queued - start, self.clock() - start, result
        finally:
            for track in self._observed:
                track.disarm()

    def _entered(self) -> None:
        with ExitStack() as lanes:
            for lane in self._whole:
                lanes.enter_context(lane)
            self.body()

    def _lengths(self, settings: Settings) -> tuple[float, float]:
        """Return the seconds that a sample of a short body shall take, and those it must."""
        if self._timed is not None:
            least = BARRIERS * self._timed.barrier()
        else:
            steps = STEPS_ON_ACCELERATOR if self.queues else STEPS_ON_CPU
            least = steps * timer_step(self.clock)
        if self.may_repeat and not self.other:  # rather a longer sample than more of them
            return max(least, settings.case_seconds / settings.most_samples), least
        return least, least

    def _calls_that_take(self, wanted: float, least: float) -> int:
        """Return how many calls take `wanted` seconds, by calls that take at least `least`."""
        iterations = 1
        while True:
            seconds = self.took(iterations)
            if seconds >= least:
                return math.ceil(iterations * wanted / seconds)
            iterations *= 2 if seconds <= 0 else min(10, math.ceil(1.2 * least / seconds))

    def _sample_pairs(self, other: "Sampler", record: Measured, settings: Settings) -> None:
        """Take samples in pairs, then the span samples, which would favour one of the two versions.

        Of several pairs in a row that with the middle ratio counts: disturbed calls do not move it.
        """
        first, begun = other_leads(), self.clock()
        self.took(record.iterations)
        pair = 2 * (self.clock() - begun)
        in_a_row = int(settings.case_seconds / settings.most_samples / pair) | 1  # an odd number
        record.against = []
        while not _is_enough(record, settings, self.clock() - begun):
            pairs = []
            for other_first in islice(first, in_a_row):
                self.result = other.result = None  # the memory of one result each is enough
                if other_first:
                    old = other.sample(record.iterations)
                new = self.sample(record.iterations)
                if not other_first:
                    old = other.sample(record.iterations)
                pairs.append((new, old))
            new, old = sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]
            record.samples.append(new)
            record.against.append(old)
        for _ in range(LEAST_SAMPLES):
            self.observe()


def _is_steady(times: Sequence[float]) -> bool:
    if len(times) < 2 * LAST:
        return False
    last, previous = map(statistics.median, (times[-LAST:], times[-2 * LAST : -LAST]))
    return STEADY * previous <= last and STEADY * last <= previous


def _is_enough(record: Measured, settings: Settings, spent: float) -> bool:
    """Return whether sampling ends after `spent` seconds."""
    over = spent >= settings.case_seconds or len(record.samples) >= settings.most_samples
    return over and len(record.samples) >= min(LEAST_SAMPLES, settings.most_samples)


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


DEVICE_PART = 0.25
"""Part of the time for a case after which no further span behind a blocker is begun."""
SLACK = 100e-6
"""Seconds that a blocker lasts beyond twice what the host should need."""
LONGEST = 0.02
"""Seconds that a blocker lasts at most."""
SPANS, FAILURES = 5, 3
"""Spans behind a blocker in a launch, and failed attempts, after which there are no more."""


def device_spans(sampler: Sampler, keeper: Blocker, enqueue: float, seconds: float) -> list[float]:
    """Return the seconds that the device works on a call, for as many calls as there is time.

    enqueue : seconds until the body returns
    seconds : that further spans may take once there is one
    """
    spans: list[float] = []
    device, begun = keeper.device, sampler.clock()
    failures, wanted = 0, 2 * (2 * enqueue) + SLACK
    while len(spans) < SPANS and failures < FAILURES and wanted <= LONGEST:
        if spans and sampler.clock() - begun > seconds:
            break
        begin, end = device.event(), device.event()
        device.synchronize()
        keeper.queue(wanted)
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
        if in_time and span > 0:
            spans.append(span)
        else:
            failures, wanted = failures + 1, 2 * wanted
    return spans


STEPS_SEEN = 100
MOST_READINGS = 10**7
"""Readings without a step after which a clock stands still: half a second's worth."""


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
