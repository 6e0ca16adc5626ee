# SPDX-License-Identifier: MIT
"""Where a body queues its work: a device and a stream, and when they were busy with it.

A lane brackets the work that is queued inside its ``with`` block by two events. The events
are recorded in span samples only; a host sample holds none. To compare lanes of several
devices, their events are anchored to the host's clock: events of different devices share
no clock, and naive ones show overlap where there is none.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Protocol, Self

import torch

from suite.devices import Device

MILLISECOND = 1e-3  # torch's events speak milliseconds
ANCHORS = 3


class Track(Protocol):
    """Something that knows when it last worked, on the host's clock."""

    @property
    def observes(self) -> bool:
        """Whether it can know: some devices have no events."""

    def arm(self) -> None:
        """Get ready to observe the next call of the body."""

    def disarm(self) -> None:
        """Observe no more."""

    def interval(self) -> tuple[float, float]:
        """Return when the last observed work began and ended, in seconds of `perf_counter`."""


class Lane:
    """A stream of a device, entered while work is queued on it.

    device : where the work runs
    stream : the stream to use; the device's current one unless given
    """

    def __init__(self, device: Device, stream: torch.Stream | None = None) -> None:
        self.device = device
        self._own_stream = stream
        self._armed = False
        self._begun = False

    def __enter__(self) -> Self:
        if self._own_stream is not None:
            self._own_stream.__enter__()
        if self._armed and not self._begun:
            self._begun = True
            self.device.record(self._begin, self._own_stream)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._armed:
            self.device.record(self._end, self._own_stream)
        if self._own_stream is not None:
            self._own_stream.__exit__(*exception)

    @property
    def observes(self) -> bool:
        """Whether the device has events."""
        return self.device.has_events

    def arm(self) -> None:
        """Make fresh events; the next entry records the first, every exit the last."""
        self._begin, self._end = self.device.event(), self.device.event()
        self._armed, self._begun = True, False

    def disarm(self) -> None:
        """Record no more."""
        self._armed = False

    def span(self) -> float:
        """Return the seconds from the first event to the last, waits for the host included."""
        return self._begin.elapsed_time(self._end) * MILLISECOND

    def interval(self) -> tuple[float, float]:
        """Return when the device reached the two events, in seconds of the host's clock."""
        anchored, anchor = self._anchor()
        return (
            anchored - self._begin.elapsed_time(anchor) * MILLISECOND,
            anchored - self._end.elapsed_time(anchor) * MILLISECOND,
        )

    def _anchor(self) -> tuple[float, torch.Event]:
        """Record an event of an idle device between two clock readings, as close as they come."""
        anchors = []
        for _ in range(ANCHORS):
            event = self.device.event()
            self.device.synchronize()
            before = perf_counter()
            self.device.record(event, self._own_stream)
            self.device.synchronize()
            after = perf_counter()
            anchors.append((after - before, (before + after) / 2, event))
        _, anchored, anchor = min(anchors, key=lambda tried: tried[0])
        return anchored, anchor


def overlap(intervals: Sequence[tuple[float, float]]) -> float:
    """Return the part of the shortest interval in which all of them ran, from 0 to 1."""
    common = min(end for _, end in intervals) - max(begin for begin, _ in intervals)
    shortest = min(end - begin for begin, end in intervals)
    return max(0.0, common) / shortest if shortest > 0 else 0.0


def balance(intervals: Sequence[tuple[float, float]]) -> float:
    """Return the shortest interval as a fraction of the longest, 1 for equal ones."""
    lengths = [end - begin for begin, end in intervals]
    return min(lengths) / max(lengths) if max(lengths) > 0 else 1.0
