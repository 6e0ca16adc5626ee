# SPDX-License-Identifier: MIT
"""Samples of one body.

There are two kinds. A *host* sample holds no events: wait for every device, read
the clock, call the body, read the clock, wait for every device, read the clock. It is what
a user waits. A *span* sample brackets the body by events on every lane; it says when the
devices worked, and is never mixed with the host samples.

Nothing is subtracted from a sample (see `suite.measure.ready`).
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import repeat
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from suite.concurrency import Interval
from suite.kit import waiting
from suite.kit.device import Device
from suite.kit.lanes import Lane
from suite.kit.track import Track
from suite.measure.caches import ColdCaches
from suite.measure.clocks import Clock, warm_up
from suite.measure.observing import Blocker, Observer
from suite.stored.run import Settings

Body = Callable[[], Any]


@runtime_checkable
class TimedBody(Protocol):
    """A body that reads the clock itself, such as one that the ranks of a group call."""

    def timed(self, calls: int) -> Interval:
        """Do the work so many times; return when that began and ended."""

    def parts(self) -> dict[str, float]:
        """Return what else was seen, in seconds by name."""


@dataclass
class Sampler:
    """Takes samples of one body.

    devices : every device to wait for
    tracks : the lanes or workers that the body uses and enters itself
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
        body: object = self.body
        self._timed = body if isinstance(body, TimedBody) else None
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
        """Time `iterations` calls until all was done."""
        return self.host(iterations)[1]

    def reading(self, result: object) -> float | None:
        """Return the seconds that reading one element of a result back takes after the wait.

        It is what reading a ready value takes, unless the wait ended before the work did. The
        longest of all devices counts; `None` where none holds a result.
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

    def parts(self) -> dict[str, float]:
        """Return what a body has noted that reads the clock itself, in seconds by name."""
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
