# SPDX-License-Identifier: MIT
"""One measurement in one process: warm up, choose the iterations, sample, stop.

Two kinds of sample alternate. A *host* sample holds no events: wait for every device, read
the clock, call the body, read the clock, wait for every device, read the clock. It is what
a user waits. A *span* sample brackets the body by events on every lane; it says when the
devices worked, and is never mixed with the host samples.

Nothing is subtracted from a sample (see `suite.measure.ready`).
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import repeat
from time import perf_counter
from typing import Any

from suite.kit import waiting
from suite.kit.device import Device
from suite.kit.lanes import Lane, Track
from suite.measure import clocks
from suite.measure.caches import ColdCaches
from suite.measure.clocks import Clock
from suite.measure.interleaving import sample_beside
from suite.measure.observing import Observer
from suite.measure.queued import Blocker
from suite.measure.sampling import Measurement
from suite.measure.warm_up import calls_that_take, warm_up
from suite.profiles import STEPS_IN_A_LAUNCH, STEPS_IN_A_SAMPLE
from suite.stored.run import Settings

Body = Callable[[], Any]


@dataclass
class Sampler:
    """Takes samples of one body.

    body : what is timed
    devices : every device to wait for
    tracks : the lanes or workers that the body uses; with exactly one lane and a body that
        does not enter it, the sampler does
    before : called before each sample, outside the clocks; a sample is then a single call.
        What it takes counts against the time for the case, and so does `cold`
    against : another version of the body, a sample of which stands beside each of the body's
    cold : empties the caches before each sample, after `before`
    blocker : keeps the one accelerator busy while the body is queued behind it
    clock : returns seconds; the default is the host's monotonic clock
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
        self._queueing = [device for device in self.devices if device.is_accelerator]
        self._whole = [Lane(device) for device in self._queueing] if not self.tracks else []
        if not all(track.observes for track in (*self.tracks, *self._whole)):
            self.tracks, self._whole = (), []
        self._observer = Observer([*self.tracks, *self._whole], whole=not self.tracks)

    def host(self, iterations: int) -> tuple[float, float, Any]:
        """Time `iterations` calls: seconds until they returned, until all was done, the result."""
        self.get_ready()
        return self.timed(iterations)

    def timed(self, iterations: int = 1) -> tuple[float, float, Any]:
        """Do as `host` does, once all is ready."""
        result = None
        calls = repeat(None, iterations)
        start = self.clock()
        for _ in calls:
            result = self.body()
        queued = self.clock()
        for device in self._queueing:
            device.finish(result)
        end = self.clock()
        return queued - start, end - start, result

    def took(self, iterations: int = 1) -> float:
        """Time `iterations` calls until all was done."""
        return self.host(iterations)[1]

    def reading(self, result: object) -> float | None:
        """Return the seconds that reading one element of a result back takes after the wait.

        That of the device on which it takes longest; `None` where no device holds a result. It is
        what reading a ready value takes, unless the wait ended before the work did.
        """
        seconds = []
        for device in self._queueing:
            held = list(waiting.tensors(result, device.handle))
            with suppress(*waiting.REFUSALS):  # not every type can be read by element
                seconds += [waiting.reading(tensor, self.clock) for tensor in held[-1:]]
        return max(seconds, default=None)

    def span(self) -> dict[str, float]:
        """Call the body between events; return what they show, in seconds by name."""
        return self._observer.observe(self._entered, self._watched)

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

    def other(self) -> "Sampler | None":
        """Return what takes samples of the other version of the body, if there is one."""
        return replace(self, body=self.against) if self.against else None

    def warm_up(self, settings: Settings) -> float:
        """Warm the body up for half of a case's time; return the seconds of a call.

        The caches stay as they are: emptying them before each call warms nothing up.
        """
        warm = replace(self, cold=None) if self.cold else self
        return warm_up(warm.took, settings.case_seconds / 2, self.clock)

    def _watched(self, body: Body) -> tuple[float, float, Any]:
        """Call something of a device with events; return as `host` does."""
        self.get_ready()
        start = self.clock()
        result = body()
        queued = self.clock()
        for device in self._queueing:
            device.synchronize()
        return queued - start, self.clock() - start, result

    def _entered(self) -> None:
        """Call the body, in lanes where it enters none itself."""
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


def measure(sampler: Sampler, settings: Settings) -> Measurement:
    """Warm the body up, then sample it until there is enough or the time is over."""
    other = sampler.other()
    with no_garbage_collection():
        seen = Measurement()
        begun = sampler.clock()
        call = sampler.warm_up(settings)
        if other is not None:
            other.warm_up(settings)
        wanted, least = _lengths(sampler, settings)
        seen.iterations = _iterations(sampler, call, wanted, least)
        seen.warmup = sampler.clock() - begun
        if other is None:
            _sample_alone(sampler, seen, settings, wanted, least)
            seen.observe_device(sampler, settings)
        else:
            sample_beside(sampler, other, seen, settings)
        seen.prepared = sampler.clock() - begun - seen.warmup - seen.sampled
        return seen


def _sample_alone(
    sampler: Sampler, seen: Measurement, settings: Settings, wanted: float, least: float
) -> None:
    """Let host samples and span samples alternate, but for the span samples of a long call.

    One shows what there is to see; more are taken while there is time.

    A sample that is too short for the clock shows that the calls before it, by which its length
    was chosen, were held up: then all begins anew, with more calls in a sample.
    """
    begun = sampler.clock()
    while not seen.enough(settings, sampler.clock() - begun):
        seen.result = None  # the memory of one result is enough
        seen.host.append(seen.sample(sampler))
        if len(seen.host) == 1 or sampler.clock() - begun < settings.case_seconds:
            seen.observe(sampler)
        if sampler.may_repeat and seen.host[-1] * seen.iterations < least:
            seen.host.clear()
            seen.iterations = calls_that_take(wanted, least, sampler.took)


def _lengths(sampler: Sampler, settings: Settings) -> tuple[float, float]:
    """Return the seconds that a sample of a short body shall take, and those it must."""
    steps = STEPS_IN_A_LAUNCH if sampler.queues else STEPS_IN_A_SAMPLE
    least = steps * clocks.timer_step(sampler.clock)
    if sampler.may_repeat and not sampler.against:  # rather a longer sample than more of them
        return max(least, settings.case_seconds / settings.most_samples), least
    return least, least


def _iterations(sampler: Sampler, call: float, wanted: float, least: float) -> int:
    """Choose how often the body is called inside one sample.

    The first sample of several calls is not looked at: they may need more memory than one.
    """
    if sampler.before or sampler.cold or call >= wanted:
        return 1
    iterations = calls_that_take(wanted, least, sampler.took)
    sampler.took(iterations)
    return iterations


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Let the garbage collector rest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
