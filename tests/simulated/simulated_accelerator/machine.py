# SPDX-License-Identifier: MIT
"""The devices of this process, and which device and stream a thread currently uses."""

import threading

import torch

from simulated_accelerator.device import Device, Stream
from simulated_accelerator.spec import Spec


class _Current(threading.local):
    """What a thread has selected: a device, and a stream on each device it chose one for."""

    index = 0

    def __init__(self) -> None:
        self.streams: dict[int, Stream] = {}


class Machine:
    """The visible devices, each with its own clock."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.devices = [
            Device(spec, index, physical) for index, physical in enumerate(spec.visible())
        ]
        self.current = _Current()

    def device(self, which: torch.device | str | int | None = None) -> Device:
        """Return a device by index or name; the current one by default.

        Raises
        ------
        RuntimeError
            If there is no such device.
        """
        if isinstance(which, str):
            which = torch.device(which)
        index = which.index if isinstance(which, torch.device) else which
        index = self.current.index if index is None else index
        if not 0 <= index < len(self.devices):
            msg = (
                f"{self.spec.name} error: invalid device ordinal {index} "
                f"({len(self.devices)} visible)"
            )
            raise torch.AcceleratorError(msg)
        return self.devices[index]

    def stream(self, device: Device) -> Stream:
        """Return the calling thread's current stream on a device."""
        return self.current.streams.get(device.index, device.streams[0])


machine = Machine(Spec.from_environment())
