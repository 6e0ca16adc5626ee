# SPDX-License-Identifier: MIT
"""A vendor of accelerators: how the system, its driver and torch show them, and what to advise."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from frobench.suite.machine.sensors.sensor import OF_ACCELERATORS, Ask, Sensor, Source

DISPLAYS = ("0x0300", "0x0302", "0x0380")
"""PCI classes of displays: with VGA, 3D only, and others."""
Reader = Callable[[Any], Any]
"""Reads one quantity of a device, given the driver's handle of it; may raise anything."""


class Gpu(NamedTuple):
    """An accelerator that the system shows.

    card : the kernel's folder of it, if it has one
    """

    vendor: "Vendor"
    name: str
    card: Path | None = None


class Identity(NamedTuple):
    """By what a driver finds a device of torch.

    seal : of its UUID, see `sensor.seal`
    address : on the PCI bus, such as `0000:c1:00`
    """

    seal: str | None = None
    address: str | None = None


class Examined(NamedTuple):
    """What a driver says of an accelerator.

    number : the driver's for it, if the driver lists it
    fault : why the driver does not speak of a device, as of a lost one
    """

    gpu: Gpu
    sensor: Sensor = Sensor("", {})
    number: int | None = None
    fault: str | None = None


class Vendor:
    """What has to be known of a vendor; file patterns are of Linux, below its root.

    name : empty for devices that only torch knows
    type : torch's type of the devices
    build : what torch's build must be for, as `doctor.Offer` names it
    pci : the vendor's number on the PCI bus
    api : the name of what reads the devices, and the extra that installs it
    readers : how it reads each quantity, by the names that `Accelerator`, `Sensed` and
        `doctor --json` have for it
    has_uuid : whether devices are found by torch's UUID, else by their address
    guide : where driver and build are explained
    driver : files; one of them exists while the driver is loaded
    oldest_driver : by the major version of what torch was built for
    nodes : files through which programs reach the devices
    node_each : whether each device has its own
    control : files that programs need beside them
    masks : variables that hide devices
    container : what makes a container engine pass the devices on
    permit : what lets a user open the devices' files
    set_limit : what sets the power limit of the device with the number `{0}` to WATTS
    """

    name = type = build = pci = api = guide = nodes = container = set_limit = ""
    readers: ClassVar[Mapping[str, Reader]] = {}
    has_uuid = node_each = False
    driver: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    oldest_driver: ClassVar[Mapping[int, int]] = {}
    permit = 'sudo usermod -aG render,video "$USER", then log in again'

    def is_accelerator(self, card: Path, kind: str) -> bool:  # noqa: ARG002 - for others
        """Return whether a device of the vendor is an accelerator; `kind` is its PCI class."""
        return kind in DISPLAYS

    def model(self, card: Path, root: Path) -> str:  # noqa: ARG002 - for others
        """Return what the kernel calls a device, if it says so."""
        return ""

    def links(self, uuids: Mapping[str, str]) -> dict[str, str] | str:  # noqa: ARG002 - for others
        """Return what lies between each two devices, by torch's names, or why that is not known."""
        return "only NVIDIA's library is asked for it"

    def handles(self, devices: Mapping[str, Identity], salt: str) -> Mapping[str, Any]:  # noqa: ARG002 - for others
        """Return the library's handle of each device, or a text that says why there is none.

        May raise whatever the library raises.
        """
        return dict.fromkeys(devices, f"no library asked here reads {self.type} devices")

    def asks(self, handle: Any, quantities: Collection[str]) -> dict[str, Ask | str]:
        """Return how each quantity of a device is read, or why it cannot be."""
        return {
            name: partial(self.readers[name], handle)
            if name in self.readers
            else f"{self.api} does not tell it"
            for name in quantities
        }

    def source(
        self,
        devices: Mapping[str, Identity],
        salt: str = "",
        quantities: Collection[str] = OF_ACCELERATORS,
    ) -> Source:
        """Return the source of some quantities of devices, by torch's names."""

        def find() -> Iterator[Sensor]:
            for device, handle in self.handles(devices, salt).items():
                if isinstance(handle, str):
                    yield Sensor(device, dict.fromkeys(quantities, handle))
                else:
                    yield Sensor(device, self.asks(handle, quantities), self.api.split()[0])

        return Source(self.api or self.type, list(devices), find, list(quantities))

    def examine(self, gpus: Sequence[Gpu], quantities: Collection[str]) -> Iterator[Examined]:
        """Yield what the driver says of each device that the system shows."""
        cards = {
            str(number): Identity(address=gpu.card.stem if gpu.card else None)
            for number, gpu in enumerate(gpus)
        }
        sensors = self.source(cards, "", quantities).sensors() if gpus else []
        yield from map(Examined, gpus, sensors)

    def each(self, quantity: str) -> list[Any]:
        """Return what the driver says of each device that it lists, `None` where it refuses."""
        return [one.sensor.read().get(quantity) for one in self.examine([], [quantity])]
