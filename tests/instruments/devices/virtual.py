# SPDX-License-Identifier: MIT
"""A clock that only the body advances, and devices that are busy until a moment on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any


@dataclass
class VirtualClock:
    """Seconds that pass when told; `step` makes the readings coarse."""

    now: float = 0.0
    step: float = 0.0
    cost: float = 0.0

    def __call__(self) -> float:
        """Read the clock, which itself takes `cost` seconds."""
        self.now += self.cost
        return self.now - self.now % self.step if self.step else self.now


def taking(clock: VirtualClock, *seconds: float) -> Callable[[], int]:
    """Return a body whose calls take so long, the last value ever on; each returns its number."""
    numbers = count(1)

    def body() -> int:
        number = next(numbers)
        clock.now += seconds[min(number, len(seconds)) - 1]
        return number

    return body


@dataclass
class VirtualDevice:
    """Stands where `suite.kit.device.Device` does: work is queued and waited for."""

    clock: VirtualClock
    is_accelerator: bool = True
    busy_until: float = 0.0
    events: list["VirtualEvent"] = field(default_factory=list)
    handle: str = "virtual"
    module: Any = None
    has_events: bool = True

    def queue(self, launch: float, work: float) -> None:
        """Spend `launch` seconds of the host's, then `work` seconds of the device's."""
        self.clock.now += launch
        self.busy_until = max(self.busy_until, self.clock.now) + work

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        self.clock.now = max(self.clock.now, self.busy_until)

    def finish(self, result: object) -> None:  # noqa: ARG002 - as a device
        """Wait until the device is idle, whatever the result."""
        self.synchronize()

    def record(self, event: "VirtualEvent", stream: None = None) -> None:  # noqa: ARG002 - as a device
        """Record an event."""
        event.record()

    def event(self) -> "VirtualEvent":
        """Return an event of this device."""
        self.events.append(VirtualEvent(self))
        return self.events[-1]


@dataclass
class VirtualEvent:
    """The moment at which a device reaches it."""

    device: VirtualDevice
    at: float = 0.0

    def record(self) -> None:
        """Stand behind everything queued so far."""
        self.at = max(self.device.clock.now, self.device.busy_until)

    def query(self) -> bool:
        """Tell whether it has happened."""
        return self.at <= self.device.clock.now

    def elapsed_time(self, end: "VirtualEvent") -> float:
        """Return the milliseconds from this event to another; both must have happened."""
        if max(self.at, end.at) > self.device.clock.now:
            raise RuntimeError("an event has not happened yet")
        return (end.at - self.at) * 1e3
