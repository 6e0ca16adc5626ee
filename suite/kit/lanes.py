# SPDX-License-Identifier: MIT
"""Lanes: a device and a stream on which a body queues its work, and when they were busy with it.

In span samples, two events bracket the work that is queued in each ``with`` block, an *entry*; a
host sample has no events. Events of different devices share no clock, so they are anchored to the
host's. An entry's interval begins when its stream is free: it includes gaps in which the device
waits for launches or works for another stream.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Self

import torch

from suite.concurrency import Interval
from suite.kit.device import Device
from suite.kit.track import Track

MILLISECOND = 1e-3  # the unit of torch's events
ANCHORS = 3


class Lane(Track):
    """A stream of a device, entered while work is queued on it.

    stream : the device's current one unless given
    """

    _entries: list[tuple[torch.Event, torch.Event]]

    def __init__(self, device: Device, stream: torch.Stream | None = None) -> None:
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

        def at(event: torch.Event) -> float:
            return anchored - event.elapsed_time(anchor) * MILLISECOND

        return [(at(begin), at(end)) for begin, end in self._entries]

    def _anchor(self) -> tuple[float, torch.Event]:
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
