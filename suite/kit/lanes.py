# SPDX-License-Identifier: MIT
"""Tracks, whose entries can be observed and put in turn: lanes here, workers and their commands.

A lane is a stream of a device on which a body queues its work. In span samples, and only there, two
events bracket the work of each ``with`` block, an *entry*. Events of different devices share no
clock, so they are anchored to the host's. An entry begins when its stream is free, so it includes
gaps in which the device waits for launches or works for another stream.
"""

import gc
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta
from threading import RLock
from time import perf_counter
from typing import Any, NamedTuple, Self

import torch
import torch.distributed as dist

from frobench.suite.concurrency import Interval
from frobench.suite.kit.check_result import briefly
from frobench.suite.kit.device import Device, release_memory
from frobench.suite.kit.garbage import Survivors
from frobench.suite.machine.host import interface_of, link_rate
from frobench.suite.stored.types import Check, Environment

Task = tuple[Callable[[], Any], Callable[[Any], Check], *tuple[Callable[[], object], ...]]
"""A body, its check and, if need be, a function to call before each sample."""
INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
"""Environment variables that name the network interface of a backend."""


class Member(NamedTuple):
    """A rank of a group, and where the group meets.

    store, port : address of the store where the ranks find each other
    address : the rank's own, in the network between the nodes
    patience : how long ranks wait for each other
    """

    rank: int
    size: int
    store: str
    port: int
    address: str
    patience: timedelta


def backend_of(device: str) -> str:
    """Return the backend for a device, such as gloo for ``cpu`` and nccl for ``cuda:1``."""
    return dist.get_default_backend_for_device(torch.device(device))


class Commands:
    """The commands of a worker, by the names of the methods."""

    def __init__(self, device: str, seed: int) -> None:
        self._device = Device(device, seed)
        self._held = ExitStack()
        self._survivors = Survivors()
        self._task: Task | None = None
        self._result: Any = None

    def _current_task(self) -> Task:
        if self._task is None:
            raise RuntimeError("nothing was set up")
        return self._task

    def look_in(self, folders: list[str]) -> None:
        """Find modules in these folders."""
        sys.path[:] = folders

    def set_up(self, factory: Callable[..., Task], *args: object) -> None:
        """Set a task up in the place of the one before."""
        self._task = self._result = None
        self._device = Device(self._device.name, self._device.seed)
        self._task = factory(self._device, *args)

    def join(self, factory: Callable[..., AbstractContextManager[Task]], *args: object) -> None:
        """Set a task up by a context manager, which `leave` exits."""
        self.set_up(lambda *given: self._held.enter_context(factory(*given)), *args)

    def leave(self) -> None:
        """Release the task and its memory, and then end its set-up."""
        self._task = self._result = None
        gc.collect()
        self._held.close()
        self._survivors.spare()
        release_memory()

    def get_ready(self) -> None:
        """Do what the task does before a sample."""
        for prepare in self._current_task()[2:]:
            prepare()

    def call(self, calls: int, meet: Callable[[], object] = lambda: None) -> Interval:
        """Call the body; return when that began and when all was done, for all ranks that meet."""
        body = self._current_task()[0]
        if calls:
            self._result = None  # before the clock starts: freeing a large one takes time
        self._device.synchronize()
        meet()
        begun = perf_counter()
        for _ in range(calls):
            self._result = body()
        self._device.finish(self._result if calls else None)
        meet()
        return begun, perf_counter()

    def timed(self, calls: int) -> Interval:
        """Do as `call` between two barriers of the group.

        All ranks pass the first barrier when every rank is ready, and the second when the slowest
        has finished its calls. So the interval on any rank's clock holds the calls of all.
        """
        return self.call(calls, dist.barrier)

    def check(self, brief: bool) -> Check:  # noqa: FBT001 - as it comes through the pipe
        """Compare the last call's result with the truth."""
        with briefly(brief=brief):
            return self._current_task()[1](self._result)

    def enter(self, member: Member) -> None:
        """Become a rank of a group, on the network interface that has the rank's address.

        Left alone, backends look the host's name up, which some clusters resolve to another
        network. An interface that the user chose stays.
        """
        if interface := interface_of(member.address):
            for variable in INTERFACES:
                os.environ.setdefault(variable, interface)
        if self._device.is_accelerator:
            torch.accelerator.set_device_index(self._device.handle.index)
        patience = member.patience
        store = dist.TCPStore(member.store, member.port, is_master=False, timeout=patience)  # type: ignore[attr-defined]  # torch hides the type
        dist.init_process_group(
            backend_of(self._device.name),
            store=store,
            rank=member.rank,
            world_size=member.size,
            timeout=patience,
            device_id=self._device.handle if self._device.is_accelerator else None,
        )

    def part(self) -> None:
        """Leave the group, if this process is in one."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def parts(self) -> dict[str, float]:
        """Return the seconds that the body itself has noted, by name; most bodies note none."""
        noted: dict[str, float] = getattr(self._current_task()[0], "parts", dict)()
        return noted

    def examine(self, devices: list[str], address: str) -> tuple[Environment, float | None]:
        """Return the environment of this node, and the rate of the link that gloo uses, in bytes/s.

        No rate for accelerators, whose backends may use other links.

        address : of this node in the network between the nodes
        """
        from frobench.suite.machine import environment  # noqa: PLC0415 - only nodes are examined

        interface = os.environ.get(INTERFACES[0]) or interface_of(address)
        rate = None if interface is None or self._device.is_accelerator else link_rate(interface)
        return environment.capture(devices), rate


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
