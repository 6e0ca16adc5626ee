# SPDX-License-Identifier: MIT
"""Samples of one body.

A *host* sample holds no events: wait for every device, read the clock, call the body, read the
clock, wait for every device, read the clock. It is what a user waits, and nothing is subtracted. A
*span* sample brackets the body by events on every lane; it says when the devices worked, and is
never mixed with the host samples.
"""

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import repeat
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from frobench.suite.concurrency import Interval
from frobench.suite.kit import waiting
from frobench.suite.kit.device import Device
from frobench.suite.kit.lanes import Lane, Track
from frobench.suite.measure.caches import ColdCaches
from frobench.suite.measure.observing import Blocker, Called, Observer
from frobench.suite.stored.run import Settings

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
        """Return the seconds until so many calls were done."""
        return self.host(iterations)[1]

    def reading(self, result: object) -> float | None:
        """Return the seconds of reading one element of a result back, on the slowest device.

        That is what reading a ready value takes, unless the wait ended before the work did. `None`
        where no device holds a result.
        """
        seconds = []
        for device in self._queueing:
            held = list(waiting.tensors(result, device.handle))
            with suppress(*waiting.REFUSALS):  # not every type can be read by element
                seconds += [waiting.reading(tensor, self.clock) for tensor in held[-1:]]
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
