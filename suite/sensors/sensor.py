# SPDX-License-Identifier: MIT
"""A sensor: everything that one source can read of one device, and why it cannot read the rest."""

import hashlib
from collections.abc import Callable, Iterable, Mapping

Reading = float | list[str]
"""A number in SI units, or for `held_back` what holds the clock back."""
Asks = Mapping[str, Callable[[], Reading]]

HELD_BACK = "held_back"
OF_ACCELERATORS = (
    *("sm_clock_hz", "memory_clock_hz", "power_watts", "energy_joules", "temperature_celsius"),
    *("fan", "utilization", "pcie_replays", HELD_BACK),
)
"""What is asked of an accelerator."""


class Sensor:
    """Reads a device. What fails once is not asked again: the rest goes on.

    device : the device by torch's name, or `cpu`
    asks : how each quantity is read
    unknown : why others cannot be read; takes the reasons of those that fail
    source : who is asked, for these reasons
    """

    def __init__(
        self, device: str, asks: Asks, unknown: Mapping[str, str] | None = None, source: str = ""
    ) -> None:
        self.device = device
        self.unknown = dict(unknown or {})
        self._asks = dict(asks)
        self._source = source

    def read(self) -> dict[str, Reading]:
        """Return what can be read now."""
        values: dict[str, Reading] = {}
        for name, ask in list(self._asks.items()):
            try:
                values[name] = ask()
            except Exception as error:  # noqa: BLE001 - whatever a library of a vendor raises
                del self._asks[name]
                self.unknown[name] = ": ".join(filter(None, (self._source, _said(error))))
        return values

    @property
    def works(self) -> bool:
        """Whether anything can still be read."""
        return bool(self._asks)


def silent(devices: Iterable[str], reason: str) -> list[Sensor]:
    """Return sensors of accelerators of which nothing can be read, for one reason."""
    unknown = dict.fromkeys(OF_ACCELERATORS, reason)
    return [Sensor(device, {}, unknown) for device in devices]


def seal(uuid: str, salt: str) -> str:
    """Return what stands for a device's UUID between a launch and its runner.

    Only who can ask for the UUID can tell that it is the same: it is written down nowhere.
    """
    return hashlib.sha256(f"{salt}/{uuid.lower()}".encode()).hexdigest()


def _said(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) else str(error)  # without its path
    return (said or "").strip().partition("\n")[0] or type(error).__name__
