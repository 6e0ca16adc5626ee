# SPDX-License-Identifier: MIT
"""The devices of this process."""

import torch

from .device import Device
from .spec import Spec
from .streams import Stream, current


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
