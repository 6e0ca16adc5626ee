# SPDX-License-Identifier: MIT
"""One measurement in one process: warm up, choose the iterations, sample, stop.

Two kinds of sample alternate. A *host* sample holds no events: wait for every device, read
the clock, call the body, read the clock, wait for every device, read the clock. It is what
a user waits. A *span* sample brackets the body by events on every lane; it says when the
devices worked, and is never mixed with the host samples.

Nothing is subtracted from a sample. What the harness itself costs is measured on an empty
body in every launch and stored beside the results.
"""

import gc
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from random import Random
from time import perf_counter
from typing import Any

import torch

from suite.caches import ColdCaches
from suite.devices import Device
from suite.errors import ClockError
from suite.lanes import Lane, Track, balance, overlap
from suite.model import Settings
from suite.profiles import LEAST_SAMPLES, SETTLE_SECONDS, STEPS_IN_A_SAMPLE

Body = Callable[[], Any]
Clock = Callable[[], float]

STEADY = 0.97
"""Warm-up ends when the last calls took at least this part of what those before them took."""
HOPELESS = 3
"""Calls of the longest permitted length after which a pilot has seen enough."""
PATIENCE = 0.3
"""Seconds that a pilot spends on any body before it believes that it is as slow as it seems."""
STEPS_SEEN = 100
MOST_READINGS = 10**7
"""Readings of a clock without a step after which it stands still: half a second's worth."""
EMPTY_CALLS = 200
SETTLE_CALL = 1e-3
SMALLEST_SETTLER, LARGEST_SETTLER = 256, 4096
WINDOW = 5
"""Calls whose medians are compared to see whether the body has become steady."""


@dataclass
class Measurement:
    """What one launch learns of one case.

    host : seconds of each host sample, divided by `iterations`
    against : the same of the other version of the body, each beside its sample of `host`
    parts : values of each span sample or host sample by name (see `CaseInfo.parts`)
    iterations : calls of the body inside a sample
    warmup : seconds spent warming up and choosing the iterations
    sampled : seconds spent inside samples
    result, other : what the last calls of the body and of its other version returned
    """

    host: list[float] = field(default_factory=list)
    against: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)
    iterations: int = 1
    warmup: float = 0.0
    sampled: float = 0.0
    result: Any = None
    other: Any = None

    @property
    def results(self) -> list[Any]:
        """What the last calls returned, of the body and of its other version if there is one."""
        return [self.result, *([self.other] if self.against else [])]

    def part_medians(self) -> dict[str, float]:
        """Return the launch median of each part."""
        return {name: statistics.median(values) for name, values in self.parts.items()}


@dataclass
class Sampler:
    """Takes samples of one body.

    body : what is timed
    devices : every device to wait for
    tracks : the lanes or workers that the body uses; with exactly one lane and a body that
        does not enter it, the sampler does
    before : called before each sample, outside the clocks; a sample is then a single call
    against : another version of the body, a sample of which stands beside each of the body's
    cold : empties the caches before each sample, after `before`
    clock : returns seconds; the default is the host's monotonic clock
    """

    body: Body
    devices: Sequence[Device]
    tracks: Sequence[Track] = ()
    before: Callable[[], object] | None = None
    against: Body | None = None
    cold: ColdCaches | None = None
    clock: Clock = perf_counter

    def __post_init__(self) -> None:
        self._queueing = [device for device in self.devices if device.is_accelerator]
        self._whole = [Lane(device) for device in self._queueing] if not self.tracks else []
        if not all(track.observes for track in (*self.tracks, *self._whole)):
            self.tracks, self._whole = (), []

    def host(self, iterations: int) -> tuple[float, float, Any]:
        """Time `iterations` calls: seconds until they returned, until all was done, the result."""
        result = None
        calls = repeat(None, iterations)
        self._get_ready()
        start = self.clock()
        for _ in calls:
            result = self.body()
        queued = self.clock()
        for device in self._queueing:
            device.synchronize()
        end = self.clock()
        return queued - start, end - start, result

    def span(self) -> dict[str, float]:
        """Call the body once between events; return what they show, in seconds by name."""
        tracks = [*self.tracks, *self._whole]
        for track in tracks:
            track.arm()
        self._get_ready()
        for lane in self._whole:
            lane.__enter__()
        self.body()
        for lane in self._whole:
            lane.__exit__()
        for device in self._queueing:
            device.synchronize()
        try:
            return _seen(tracks)
        finally:
            for track in tracks:
                track.disarm()

    @property
    def has_spans(self) -> bool:
        """Whether there is anything that a span sample can see."""
        return bool(self.tracks or self._whole)

    @property
    def queues(self) -> bool:
        """Whether the body returns before its work is done."""
        return bool(self._queueing)

    @property
    def may_repeat(self) -> bool:
        """Whether long samples of many calls are still samples of one call.

        A call on the CPU is over when it returns. On an accelerator many calls in a row
        overlap with their own launching, which is another question.
        """
        return not (self.before or self.cold or self.queues)

    def _get_ready(self) -> None:
        for prepare in (self.before, self.cold):
            if prepare is not None:
                prepare()
        for device in self._queueing:
            device.synchronize()


def measure(sampler: Sampler, settings: Settings) -> Measurement:
    """Warm the body up, then sample it until there is enough or the time is over.

    Samples of another version stand before or after the body's own, at random, and take the
    same number of calls; span samples, which would favour one of the two, come after all pairs.
    """
    other = _other(sampler)
    with _no_garbage_collection():
        seen = Measurement()
        begun = sampler.clock()
        call = _warm_up(sampler, settings.case_seconds / 2)
        if other is not None:
            _warm_up(other, settings.case_seconds / 2)
        seen.iterations = _iterations(sampler, call, settings)
        seen.warmup = sampler.clock() - begun
        leads = _other_leads()
        pairs = _pairs(sampler.host(seen.iterations)[1], settings) if other else 0
        while not _enough(seen, settings):
            if other is None:
                _sample(sampler, seen)
                _observe(sampler, seen)
            else:
                _sample_beside(sampler, other, seen, [next(leads) for _ in range(pairs)])
        for _ in range(LEAST_SAMPLES if other is not None else 0):
            _observe(sampler, seen)
        return seen


def timer_step(clock: Clock = perf_counter) -> float:
    """Return the smallest step, in seconds, between successive readings that differ."""
    return min(_step(clock) for _ in range(STEPS_SEEN))


def explore(sampler: Sampler, settings: Settings) -> Measurement:
    """Call the body a few times, to see how long a call takes; the first is warm-up.

    A long call is repeated too, unless it is hopeless: any single one may be disturbed.
    """
    most = max(HOPELESS * settings.longest_sample, PATIENCE)
    with _no_garbage_collection():
        _, first, _ = sampler.host(1)
        seen = Measurement(warmup=first)
        while len(seen.host) < WINDOW and seen.sampled < most:
            _, seconds, seen.result = sampler.host(1)
            seen.host.append(seconds)
            seen.sampled += seconds
        if (other := _other(sampler)) is not None:
            _, seconds, seen.other = other.host(1)
            seen.against.append(seconds)
        return seen


def empty_body(device: Device) -> float:
    """Return the seconds that a single call of a body that does nothing seems to take."""
    sampler = Sampler(_nothing, [device])
    return statistics.median(sampler.host(1)[1] for _ in range(EMPTY_CALLS))


def steady_clocks(devices: Sequence[Device]) -> None:
    """Keep accelerators busy, all at once, until their clocks have settled.

    The clock of a GPU that was idle swings for seconds before it settles. A CPU is left alone.
    """
    products = [_settler(device) for device in devices if device.is_accelerator]
    begun = perf_counter()
    while products and perf_counter() - begun < SETTLE_SECONDS:
        for product in products:
            product.body()
        for product in products:
            product.host(1)


def _settler(device: Device) -> Sampler:
    """Return a product that keeps the device, rather than its launching, busy."""
    n = SMALLEST_SETTLER
    while True:
        product = Sampler(partial(torch.matmul, *(device.uniform(n, n) for _ in "ab")), [device])
        if min(product.host(1)[1] for _ in range(3)) > SETTLE_CALL or n >= LARGEST_SETTLER:
            return product
        n *= 2


def _nothing() -> None:
    return None


def _step(clock: Clock) -> float:
    before = clock()
    for _ in range(MOST_READINGS):
        if (now := clock()) > before:
            return now - before
    raise ClockError("the clock stands still")


def _warm_up(sampler: Sampler, seconds: float) -> float:
    """Call the body until it is steady or the time is over; return the seconds of a call.

    The first call pays for handles, workspaces and autotuning: it is not looked at, and says
    nothing of how long the next ones take.
    """
    sampler.host(1)
    times = [sampler.host(1)[1]]
    while sum(times) < seconds and not _is_steady(times):
        times.append(sampler.host(1)[1])
    return statistics.median(times[-WINDOW:])


def _is_steady(times: Sequence[float]) -> bool:
    if len(times) < 2 * WINDOW:
        return False
    last, previous = times[-WINDOW:], times[-2 * WINDOW : -WINDOW]
    return statistics.median(last) >= STEADY * statistics.median(previous)


def _iterations(sampler: Sampler, call: float, settings: Settings) -> int:
    """Choose how often the body is called inside one sample."""
    least = STEPS_IN_A_SAMPLE * timer_step(sampler.clock)
    wanted = least
    if sampler.may_repeat and not sampler.against:  # rather a longer sample than more of them
        wanted = max(least, settings.case_seconds / settings.most_samples)
    if sampler.before or sampler.cold or call >= wanted:
        return 1
    iterations = 1
    while True:
        took = sampler.host(iterations)[1]
        if took >= least:
            return max(1, math.ceil(iterations * wanted / took))
        iterations *= 2 if took <= 0 else min(10, math.ceil(1.2 * least / took))


def _enough(seen: Measurement, settings: Settings) -> bool:
    if len(seen.host) < LEAST_SAMPLES:
        return False
    return len(seen.host) >= settings.most_samples or seen.sampled >= settings.case_seconds


def _other_leads() -> Iterator[bool]:
    """Yield whether the other version comes first: in one of every two pairs, at random which.

    A fixed order can fall into step with what comes and goes, such as the time slices of a
    shared core, and always the same version is hit: in simulation identical code was called
    different in up to 40%.
    """
    random = Random()  # noqa: S311 - no secret, but out of reach of a body that seeds
    while True:
        first = random.random() < 0.5  # noqa: PLR2004 - a coin
        yield first
        yield not first


def _sample(sampler: Sampler, seen: Measurement) -> None:
    seen.result = None  # the memory of one result is enough
    queued, took, seen.result = _host(sampler, seen)
    seen.host.append(took)
    if sampler.queues:
        seen.parts.setdefault("enqueue", []).append(queued)


def _sample_beside(
    sampler: Sampler, other: Sampler, seen: Measurement, leads: Sequence[bool]
) -> None:
    """Take several pairs, in which the other version leads or not; keep the one in the middle.

    By its ratio, that is: what hits single calls in a handful of short pairs moves nothing.
    """
    pairs = []
    for other_leads in leads:
        seen.result = seen.other = None
        if other_leads:
            _, old, seen.other = _host(other, seen)
        queued, new, seen.result = _host(sampler, seen)
        if not other_leads:
            _, old, seen.other = _host(other, seen)
        pairs.append((new, old))
        if sampler.queues:
            seen.parts.setdefault("enqueue", []).append(queued)
    new, old = sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]
    seen.host.append(new)
    seen.against.append(old)


def _host(sampler: Sampler, seen: Measurement) -> tuple[float, float, Any]:
    """Take a host sample; return the seconds of a call, queued and done, and the result."""
    queued, took, result = sampler.host(seen.iterations)
    if took <= 0:
        raise ClockError("the clock went backwards, or stood still in a sample")
    seen.sampled += took
    return queued / seen.iterations, took / seen.iterations, result


def _observe(sampler: Sampler, seen: Measurement) -> None:
    """Take a span sample, where there is anything that it can see."""
    if sampler.has_spans:
        begun = sampler.clock()
        observed = sampler.span()
        seen.sampled += sampler.clock() - begun
        for name, value in observed.items():
            seen.parts.setdefault(name, []).append(value)


def _other(sampler: Sampler) -> Sampler | None:
    return replace(sampler, body=sampler.against) if sampler.against else None


def _pairs(sample: float, settings: Settings) -> int:
    """Return how many pairs of samples take as long as a sample may, an odd number."""
    return int(settings.case_seconds / settings.most_samples / (2 * sample)) | 1


def _seen(tracks: Sequence[Track]) -> dict[str, float]:
    if len(tracks) == 1 and isinstance(tracks[0], Lane):
        return {"span": tracks[0].span()}
    intervals = [track.interval() for track in tracks]
    first, last = min(begin for begin, _ in intervals), max(end for _, end in intervals)
    return {"span": last - first, "overlap": overlap(intervals), "balance": balance(intervals)}


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
