# SPDX-License-Identifier: MIT
"""What the simulated accelerator is like: every rate, cost and fault in one place."""

import os
import time
from random import SystemRandom
from typing import Self

import msgspec
from msgspec import Struct, field


class Link(Struct, frozen=True):
    """A way to copy: ``latency`` seconds a copy, and bytes per second."""

    latency: float
    rate: float

    def seconds(self, size: int) -> float:
        """Return how long a copy of ``size`` bytes takes."""
        return self.latency + size / self.rate


class Links(Struct, frozen=True, forbid_unknown_fields=True):
    """The ways between host and device, by the kind of host memory, and between devices."""

    h2d_pageable: Link = Link(latency=20e-6, rate=1e9)
    h2d_pinned: Link = Link(latency=10e-6, rate=4e9)
    d2h_pageable: Link = Link(latency=20e-6, rate=1e9)
    d2h_pinned: Link = Link(latency=10e-6, rate=4e9)
    peer: Link = Link(latency=15e-6, rate=2e9)


class Faults(Struct, frozen=True, forbid_unknown_fields=True):
    """What is wrong with the machine; nothing, unless it is asked for.

    noise : standard deviation of the logarithm of the speed of a whole process, host and
        devices alike, which is another one in every process
    ageing, ageing_since : part by which a process takes longer for every second that it
        begins after this one (of `time.time`)
    jitter : standard deviation of the logarithm of every duration on a device, which is another
        one in every process
    load_limit, limited_speed : seconds of work on end from which a device runs at this fraction
        of its speed, as one does that its power limits; a second of rest makes good for ten
    speeds : speed of each physical device relative to the specification
    taken : bytes of each physical device's memory that others have taken
    lost_after : launches on one device after which every call raises
    broken : visible devices on which every call raises from the first on
    """

    noise: float = 0.0
    ageing: float = 0.0
    ageing_since: float = 0.0
    jitter: float = 0.0
    load_limit: float = float("inf")
    limited_speed: float = 1.0
    speeds: list[float] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    lost_after: int | None = None
    broken: list[int] = field(default_factory=list)

    def slowness(self) -> float:
        """Draw how many times as long as it should a process that begins now takes."""
        age = max(0.0, time.time() - self.ageing_since)
        return SystemRandom().lognormvariate(0.0, self.noise) * (1 + self.ageing * age)


class Spec(Struct, frozen=True, forbid_unknown_fields=True):
    """Costs in seconds, sizes in bytes, rates per second.

    name : device type, as in ``sim:0``; also the stem of the environment variables
    memory : of each device
    launch : host time of every operation that runs on a device
    metadata : host time of an operation that runs on none (a view, an allocation)
    kernel : device time that every operation costs whatever its size
    synchronise : host time of a synchronisation beyond the waiting itself
    event : host time of recording an event
    flops : of matrix products and convolutions, by dtype (``float32`` serves the others)
    bandwidth : of the device's memory; what is not a product takes its bytes over this
    cache, cache_bandwidth : its size, and what an operation takes its bytes over if all that
        it is given lies there (see `device.Cache`)
    graphs : whether the backend has them (see `operations.Graph`)
    bare : whether the backend offers only what it must (see `module.Bare`)
    lazy : whether work begins only when a value that depends on it is read, and waiting waits for
        nothing; in virtual time only
    virtual : whether the host's clock moves by these costs alone (see `virtual`)
    """

    name: str = "sim"
    devices: int = 2
    memory: int = 2 << 30
    launch: float = 50e-6
    metadata: float = 25e-6
    kernel: float = 5e-6
    synchronise: float = 10e-6
    event: float = 0.0
    flops: dict[str, float] = field(default_factory=lambda: {"float32": 20e9, "bfloat16": 80e9})
    bandwidth: float = 10e9
    cache: int = 0
    cache_bandwidth: float = 50e9
    links: Links = Links()
    faults: Faults = Faults()
    graphs: bool = False
    bare: bool = False
    lazy: bool = False
    virtual: bool = False

    @classmethod
    def from_environment(cls) -> Self:
        """Read ``SIM_SPEC``.

        Raises
        ------
        msgspec.ValidationError
            If the specification has a field that does not exist or a value of a wrong type.
        """
        return msgspec.json.decode(os.environ.get("SIM_SPEC", "{}"), type=cls)

    def visible(self) -> list[int]:
        """Return the physical devices that ``<NAME>_VISIBLE_DEVICES`` leaves, in its order.

        As for CUDA, the list ends at the first entry that names no device.
        """
        mask = os.environ.get(f"{self.name.upper()}_VISIBLE_DEVICES")
        if mask is None:
            return list(range(self.devices))
        devices: list[int] = []
        for entry in mask.strip("'\" ").split(","):
            if not entry.strip().isdigit() or int(entry) >= self.devices:
                break
            devices.append(int(entry))
        return devices

    def seconds(self, size: int, arithmetic: float = 0.0) -> tuple[float, float]:
        """Return how long so many bytes take a device, from its memory and from its cache."""
        memory, cache = (size / rate for rate in (self.bandwidth, self.cache_bandwidth))
        return self.kernel + max(arithmetic, memory), self.kernel + max(arithmetic, cache)

    def slowed(self, times: float) -> Self:
        """Return the specification of a host that takes so many times as long."""
        costs = ("launch", "metadata", "synchronise", "event")
        return msgspec.structs.replace(self, **{one: times * getattr(self, one) for one in costs})

    def speed(self, physical: int) -> float:
        """Return the speed of a physical device relative to the specification."""
        speeds = self.faults.speeds
        return speeds[physical] if physical < len(speeds) else 1.0
