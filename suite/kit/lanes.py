# SPDX-License-Identifier: MIT
"""Tracks, whose entries can be observed and put in turn: lanes here, workers beside.

A lane is a stream of a device on which a body queues its work. In span samples, and only there, two
events bracket the work of each ``with`` block, an *entry*. Events of different devices share no
clock, so they are anchored to the host's. An entry begins when its stream is free, so it includes
gaps in which the device waits for launches or works for another stream.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from frobench.suite.concurrency import Interval

if TYPE_CHECKING:
    import torch

    from frobench.suite.kit.device import Device

MILLISECOND = 1e-3  # the unit of torch's events
ANCHORS = 3


class Turns:
    """Lets each entry begin when the one before has ended, as a control of overlap.

    Lanes wait on their devices, so that the host queues their work as before.

    last : the event at the end of the last entry of a lane; the first entry waits for it, too
    wait : waits for the worker that worked last
    lock : held in each entry of a lane, since lanes may have threads of their own
    """

    def __init__(self) -> None:
        self.last: torch.Event | None = None
        self.wait: Callable[[], object] = lambda: None
        self.lock = RLock()


class Track(ABC):
    """Something whose entries can be observed, on the host's clock."""

    def __init__(self) -> None:
        self._armed = False
        self._turns: Turns | None = None
        self._entries: list[Any] = []

    @property
    def observes(self) -> bool:
        """Whether entries can be timed: some devices have no events."""
        return True

    @abstractmethod
    def takes_turns(self, others: Sequence["Track"]) -> bool:
        """Tell whether entries can wait for those of other tracks, as a control needs."""

    @abstractmethod
    def intervals(self) -> list[Interval]:
        """Return when each entry since `arm` began and ended, in seconds of `perf_counter`."""

    def arm(self, turns: Turns | None = None) -> None:
        """Observe each entry from now on, in turn if `turns` are given."""
        self._armed, self._turns, self._entries = True, turns, []

    def disarm(self) -> None:
        """Stop observing and taking turns."""
        self._armed, self._turns = False, None


class Lane(Track):
    """A stream of a device, by default its current one, entered while work is queued on it."""

    _entries: list[tuple["torch.Event", "torch.Event"]]

    def __init__(self, device: "Device", stream: "torch.Stream | None" = None) -> None:
        super().__init__()
        self.device = device
        self._own_stream = stream

    def __enter__(self) -> Self:
        if self._turns is not None:
            self._turns.lock.acquire()
        if self._own_stream is not None:
            self._own_stream.__enter__()
        if self._armed:
            if self._turns is not None and self._turns.last is not None:
                self.device.wait_for(self._turns.last, self._own_stream)
            self._entries.append((self.device.event(), self.device.event()))
            self.device.record(self._entries[-1][0], self._own_stream)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._armed:
            end = self._entries[-1][1]
            self.device.record(end, self._own_stream)
            if self._turns is not None:
                self._turns.last = end
        if self._own_stream is not None:
            self._own_stream.__exit__(*exception)
        if self._turns is not None:
            self._turns.lock.release()

    @property
    def observes(self) -> bool:
        """Whether the device has events."""
        return self.device.has_events

    def takes_turns(self, others: Sequence[Track]) -> bool:
        """Tell whether the device can wait for events of the others."""
        return all(
            isinstance(other, Lane) and self.device.can_wait_for(other.device) for other in others
        )

    def busy(self) -> float:
        """Return the seconds of all entries together, by the device's clock."""
        self.device.synchronize()
        return sum(begin.elapsed_time(end) for begin, end in self._entries) * MILLISECOND

    def span(self) -> float:
        """Return the seconds from the first event to the last, waits for the host included."""
        (begin, _), (_, end) = self._entries[0], self._entries[-1]
        return begin.elapsed_time(end) * MILLISECOND

    def intervals(self) -> list[Interval]:
        """Return when each entry began and ended, by the host's clock."""
        anchored, anchor = self._anchor()

        def at(event: "torch.Event") -> float:
            return anchored - event.elapsed_time(anchor) * MILLISECOND

        return [(at(begin), at(end)) for begin, end in self._entries]

    def _anchor(self) -> tuple[float, "torch.Event"]:
        """Record events of the idle device between clock readings; return the closest pair's."""
        anchors = []
        for _ in range(ANCHORS):
            event = self.device.event()
            self.device.synchronize()
            before = perf_counter()
            self.device.record(event, self._own_stream)
            self.device.synchronize()
            after = perf_counter()
            anchors.append((after - before, (before + after) / 2, event))
        return min(anchors, key=lambda anchor: anchor[0])[1:]
