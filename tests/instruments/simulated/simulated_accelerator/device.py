# SPDX-License-Identifier: MIT
"""Devices: what works when, what is wrong with it, and what memory is taken.

A device has one engine that computes and one for copies in each direction. Work on one
stream runs in order; work on several streams shares the engines, one operation at a time.
"""

import random
import threading
from collections import OrderedDict
from typing import Literal

import torch

from .host import host
from .spec import Spec
from .streams import Account, Stream, Work, current

RECOVERY = 10.0
"""Seconds of work that a second of rest makes good for."""
Engine = Literal["compute", "h2d", "d2h"]


class Cache:
    """What of a device's memory was touched last, by whole buffers; the oldest makes room."""

    def __init__(self, size: int) -> None:
        self._room = size
        self._sizes: OrderedDict[int, int] = OrderedDict()

    def touch(self, buffer: int, size: int) -> bool:
        """Have ``size`` bytes read or written; return whether they were there already."""
        known = self._sizes.pop(buffer, None)
        self._room += known or 0
        self._sizes[buffer] = size
        self._room -= size
        while self._room < 0:
            self._room += self._sizes.popitem(last=False)[1]
        return known is not None

    def forget(self, buffer: int) -> None:
        """Give the room of a buffer that is no more to others."""
        self._room += self._sizes.pop(buffer, 0)


class Device:
    """One simulated device.

    Parameters
    ----------
    spec : what it is like
    index : its number among the visible ones
    physical : its number among all
    speed : relative to the specification
    """

    def __init__(self, spec: Spec, index: int, physical: int, speed: float) -> None:
        self.spec = spec
        self.index = index
        # The type has its name only once the backend is registered.
        self.torch_device = torch.device("privateuseone", index)
        self.speed = speed
        self.lazy = spec.lazy
        self.random = random.Random()  # noqa: S311 (jitter, not secrets)
        self.seeds = random.Random(physical)  # noqa: S311 (of tensors; the same, as in PyTorch)
        self.account = Account()
        self.engines: dict[Engine, float] = {"compute": 0.0, "h2d": 0.0, "d2h": 0.0}
        self.streams = [Stream(self, 0)]
        self.cache = Cache(spec.cache)
        taken = spec.faults.taken
        self.allocated = taken[physical] if physical < len(taken) else 0
        self.peak = self.allocated
        self._load = 0.0
        self._worked_until = 0.0
        self._lock = threading.RLock()  # memory may be freed while some is being taken

    def new_stream(self) -> Stream:
        """Return a further stream."""
        with self._lock:
            self.streams.append(Stream(self, len(self.streams)))
            return self.streams[-1]

    def run(self, stream: Stream, engine: Engine, seconds: float, at: float) -> float:
        """Let the device work for ``seconds`` of its nominal speed; return when it will end.

        It begins when the launch (``at``), the stream's earlier work and the engine allow.
        """
        with self._lock:
            begin = max(at, stream.busy_until, self.engines[engine])
            seconds = self._faulty(seconds, begin)
            end = begin + seconds
            self._tire(begin, end)
            stream.busy_until = self.engines[engine] = end
            self.account.recent.append(Work(stream.stream_id, begin, end))
            return end

    def _faulty(self, seconds: float, begin: float) -> float:
        faults = self.spec.faults
        self.account.launches += 1
        seconds /= self.speed
        if self._load - RECOVERY * max(0.0, begin - self._worked_until) >= faults.load_limit:
            seconds /= faults.limited_speed
        return seconds * self.random.lognormvariate(0.0, faults.jitter)

    def _tire(self, begin: float, end: float) -> None:
        """Count work on end, and rests against it."""
        rest = RECOVERY * max(0.0, begin - self._worked_until)
        load = max(0.0, self._load - rest) + end - begin
        self._load = min(load, self.spec.faults.load_limit)
        self._worked_until = max(self._worked_until, end)

    def check(self) -> None:
        """Raise `torch.AcceleratorError` if the device is lost."""
        faults = self.spec.faults
        lost = faults.lost_after is not None and self.account.launches >= faults.lost_after
        if lost or self.index in faults.broken:
            raise torch.AcceleratorError(f"{self.spec.name} error: device {self.index} is lost")

    def synchronise(self) -> None:
        """Wait for every stream."""
        self.check()
        self.account.synchronisations += 1
        moment = max(stream.busy_until for stream in self.streams)
        moment = max(moment, host.now()) + self.spec.synchronise
        for stream in self.streams:
            stream.deliver(moment)
        host.settle(moment)

    def allocate(self, size: int) -> None:
        """Take memory, or raise `torch.OutOfMemoryError`."""
        with self._lock:
            free = self.spec.memory - self.allocated
            if size > free:
                raise torch.OutOfMemoryError(
                    f"{self.spec.name} out of memory. Tried to allocate {size} bytes; device "
                    f"{self.index} has {self.spec.memory} bytes, of which {free} are free."
                )
            self.allocated += size
            self.peak = max(self.peak, self.allocated)

    def forget_peak(self) -> None:
        """Let the most memory taken be what is taken now."""
        self.peak = self.allocated

    def free(self, buffer: int, size: int) -> None:
        """Give the memory of a buffer back."""
        with self._lock:
            self.allocated -= size
            self.cache.forget(buffer)

    def touch(self, sizes: dict[int, int]) -> bool:
        """Read or write buffers of these sizes; return whether all were in the cache."""
        with self._lock:
            # A list, or it would end at the first that was not.
            return all([self.cache.touch(buffer, size) for buffer, size in sizes.items()])  # noqa: C419


class Machine:
    """The visible devices, each with its own clock.

    spec : what the machine is like in this process
    """

    def __init__(self, spec: Spec) -> None:
        slowness = spec.faults.slowness()
        self.spec = spec.slowed(slowness)
        self.devices = [
            Device(self.spec, index, physical, spec.speed(physical) / slowness)
            for index, physical in enumerate(spec.visible())
        ]

    def device(self, which: torch.device | str | int | None = None) -> Device:
        """Return a device by index or name; the calling thread's current one by default.

        Raises
        ------
        torch.AcceleratorError
            If there is no such device.
        """
        if isinstance(which, str):
            which = torch.device(which)
        index = which.index if isinstance(which, torch.device) else which
        index = current.index if index is None else index
        if not 0 <= index < len(self.devices):
            raise torch.AcceleratorError(f"{self.spec.name} error: invalid device ordinal {index}")
        return self.devices[index]

    def stream(self, device: Device) -> Stream:
        """Return the calling thread's current stream on a device."""
        return current.streams.get(device.index, device.streams[0])


machine = Machine(Spec.from_environment())
