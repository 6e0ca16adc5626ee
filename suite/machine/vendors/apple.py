# SPDX-License-Identifier: MIT
"""Apple's GPUs: their energy counter is read through Zeus's library (the extra `energy`)."""

import importlib
import platform
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from frobench.suite.machine.sensors.cpu import Rate
from frobench.suite.machine.vendors.vendor import Examined, Gpu, Identity, Reader, Vendor


class Apple(Vendor):
    """The GPU of an Apple processor; its energy is all that can be read."""

    name, type, build = "Apple", "mps", "MPS"
    guide = "https://developer.apple.com/metal/pytorch/"
    api = "Zeus (the extra `energy`)"
    readers: ClassVar[Mapping[str, Reader]] = {
        "energy_joules": lambda meters: meters[0](),
        "power_watts": lambda meters: meters[1](),
    }

    def examine(self, gpus: Sequence[Gpu], quantities: Collection[str]) -> Iterator[Examined]:  # noqa: ARG002 - it is on no bus
        """Yield the GPU if there is one; without torch nothing else is known."""
        if platform.system() == "Darwin" and platform.machine() == "arm64":
            yield Examined(Gpu(self, "Apple GPU"))

    def handles(self, devices: Mapping[str, Identity], salt: str) -> Mapping[str, Any]:  # noqa: ARG002 - there is only one
        """Return the counter of joules and the rate of it, for each device."""
        monitor: Any = importlib.import_module("zeus_apple_silicon").AppleEnergyMonitor()

        def joules() -> float:
            return float(monitor.get_cumulative_energy().gpu_mj / 1000)

        return {device: (joules, Rate(joules)) for device in devices}
