# SPDX-License-Identifier: MIT
"""Streams and events: queues of work on a device, and marks on them."""

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Self

from .host import host

if TYPE_CHECKING:
    from .device import Device
    from .operations import Graph


class Work(NamedTuple):
    """One operation as the device saw it: moments of `time.perf_counter`, in seconds."""

    stream: int
    begin: float
    end: float


class Account:
    """What a device did, in simulated time: the truth to hold a measurement against.

    recent : the last operations, oldest first
    """

    def __init__(self) -> None:
        self.launches = 0
        self.synchronisations = 0
        self.recent: deque[Work] = deque(maxlen=20_000)


class Current(threading.local):
    """What a thread has selected: a device by index, and streams other than the default ones.

    graph : what records the thread's launches in place of running them
    """

    index = 0
    graph: "Graph | None" = None

    def __init__(self) -> None:
        self.streams: dict[int, Stream] = {}


current = Current()


class Stream:
    """A queue of work on a device, with some methods of `torch.Stream`.

    busy_until : moment of `time.perf_counter` at which all its work will have ended
    """

    def __init__(self, device: "Device", stream_id: int) -> None:
        self._device = device
        self.stream_id = stream_id
        self.busy_until = 0.0
        self._promises: deque[tuple[float, Callable[[], object]]] = deque()
        self._before: list[tuple[int, Stream | None]] = []

    def promise(self, end: float, deliver: Callable[[], object]) -> None:
        """Have something done at the synchronisation that finds ``end`` passed."""
        self._promises.append((end, deliver))

    def deliver(self, moment: float) -> None:
        """Do what was promised until ``moment``, which the caller waits for."""
        while self._promises and self._promises[0][0] <= moment:
            self._promises.popleft()[1]()

    def wait_for(self, moment: float) -> None:
        """Let the host wait for a moment of the stream, at the cost of a synchronisation."""
        self.deliver(moment)
        host.settle(max(moment, host.now()) + self._device.spec.synchronise)

    def __enter__(self) -> Self:
        self._before.append((current.index, current.streams.get(self._device.index)))
        self.select()
        return self

    def __exit__(self, *_: object) -> None:
        index, stream = self._before.pop()
        (stream or self._device.streams[0]).select()
        current.index = index

    def select(self) -> None:
        """Make the stream, and its device, the calling thread's current ones."""
        current.index = self._device.index
        current.streams[self._device.index] = self

    def wait_event(self, event: "Event") -> None:
        """Let further work on the stream begin after the event."""
        self.busy_until = max(self.busy_until, event.moment)

    def wait_stream(self, stream: Self) -> None:
        """Let further work on this stream begin after all work on the other."""
        self.busy_until = max(self.busy_until, stream.busy_until)


class Event:
    """A mark on a stream, with the methods of `torch.Event`."""

    def __init__(self, *, enable_timing: bool = False) -> None:
        self._timing = enable_timing
        self._stream: Stream | None = None
        self.moment = 0.0

    def mark(self, stream: Stream) -> None:
        """Record the event on ``stream``: it happens when the work before it has ended."""
        if cost := stream._device.spec.event:
            host.spend(host.begin(), cost)
        self._stream = stream
        self.moment = max(stream.busy_until, host.now())

    def query(self) -> bool:
        """Return whether the event has happened."""
        return self._stream is None or self.moment <= host.now()

    def elapsed_time(self, end: Self) -> float:
        """Return the milliseconds from this event to ``end``.

        Raises
        ------
        RuntimeError
            If either event was not made for timing, not recorded or has not happened yet.
        """
        for event in (self, end):
            if not (event._timing and event._stream and event.query()):
                raise RuntimeError("both events must be made for timing and have happened")
        return (end.moment - self.moment) * 1e3
