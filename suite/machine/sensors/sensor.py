# SPDX-License-Identifier: MIT
"""A sensor: everything that one source can read of one device, and why it cannot read the rest."""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from frobench.suite.errors import in_brief

Reading = float | list[str]
"""A number in SI units, or for `held_back` what holds the clock back."""
Ask = Callable[[], Reading]

HELD_BACK = "held_back"
POWER, MEAN_POWER = "power_watts", "mean_power_watts"
"""Power at the moment of reading, and the mean of the second before."""
ENERGY = "energy_joules"
"""A counter, which gives the power between two readings."""
OF_ACCELERATORS = (
    *("sm_clock_hz", "memory_clock_hz", POWER, ENERGY, "temperature_celsius"),
    *("fan", "utilization", HELD_BACK),
)
"""What is asked of an accelerator."""

NEAR_LIMIT = 0.9
"""Power relative to the limit, from which a device may be at it: meters average a second."""
AT_WORK = 0.5
"""Part of the time in which a device is busy, from which it is at work."""


class Sensor:
    """Reads a device. What fails once is not asked again: the rest goes on.

    device : torch's name for it
    asks : how each quantity is read, or why it cannot be
    source : beginning of the reasons for what fails
    unknown : why quantities cannot be read
    counted : seconds of the monotonic clock, midway in the last reading of the energy counter
    """

    def __init__(self, device: str, asks: Mapping[str, Ask | str], source: str = "") -> None:
        self.device = device
        self.unknown = {name: reason for name, reason in asks.items() if isinstance(reason, str)}
        self.counted: float | None = None
        reads = [(name, ask) for name, ask in asks.items() if not isinstance(ask, str)]
        # What is slow to read would come between the counter and the moment that it belongs to.
        self._asks = dict(sorted(reads, key=lambda read: read[0] != ENERGY))
        self._source = source

    def read(self) -> dict[str, Reading]:
        """Return what can be read now."""
        values: dict[str, Reading] = {}
        for name, ask in list(self._asks.items()):
            begun = time.monotonic()
            try:
                values[name] = ask()
            except Exception as error:  # noqa: BLE001 - whatever a library of a vendor raises
                del self._asks[name]
                self.unknown[name] = ": ".join(filter(None, (self._source, in_brief(error))))
            else:
                if name == ENERGY:
                    self.counted = (begun + time.monotonic()) / 2
        return values

    @property
    def answers(self) -> list[str]:
        """What can still be read."""
        return list(self._asks)

    def apart(self) -> "list[Sensor]":
        """Return the energy counter, which is read often, and all else as two sensors."""
        rest = {name: ask for name, ask in self._asks.items() if name != ENERGY}
        if not rest or ENERGY not in self._asks:
            return [self]
        counter = Sensor(self.device, {ENERGY: self._asks[ENERGY]}, self._source)
        return [counter, Sensor(self.device, {**self.unknown, **rest}, self._source)]


class Source(NamedTuple):
    """What is asked about some devices; finding their sensors may take long or fail."""

    name: str
    devices: Sequence[str]
    find: Callable[[], Iterable[Sensor]]
    quantities: Sequence[str] = OF_ACCELERATORS

    def sensors(self) -> list[Sensor]:
        """Find the sensors; silent ones, with the reason, if that fails."""
        try:
            return list(self.find())
        except Exception as error:  # noqa: BLE001 - whatever a library of a vendor raises
            reasons = dict.fromkeys(self.quantities, f"{self.name}: {in_brief(error)}")
            return [Sensor(device, reasons) for device in self.devices]


def seal(uuid: str, salt: str) -> str:
    """Return the digest that stands in the journal for a device's UUID, which is never stored."""
    return hashlib.sha256(f"{salt}/{uuid.lower()}".encode()).hexdigest()


def may_limit(watts: float | None, limit: float | None, utilization: float | None) -> bool:
    """Tell whether to believe a driver that names the power limit; some do so on resting cards.

    The device then draws nearly its limit, or is at work; if it tells neither, its driver is right.
    """
    signs = [] if watts is None or not limit else [watts >= NEAR_LIMIT * limit]
    signs += [] if utilization is None else [utilization >= AT_WORK]
    return any(signs) or not signs
