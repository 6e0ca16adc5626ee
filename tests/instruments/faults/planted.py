# SPDX-License-Identifier: MIT
"""The machine on which `tests/instruments/sabotage` is measured."""

from pathlib import Path
from typing import Any

from tests.instruments.processes import command

BENCHMARKS = Path(__file__).parents[1] / "sabotage"
JITTER = {"jitter": 0.01}
"""What no machine is without; the simulation draws another one in every process."""


def simulated(faults: dict[str, Any] = JITTER) -> dict[str, str]:
    """Return the variables that give a process two simulated devices, and their time.

    The devices are slow, so that little is computed in a second of it.
    """
    flops, cache = {"float32": 2.5e8}, 1 << 20
    machine = {"virtual": True, "event": 5e-6, "flops": flops, "cache": cache, "faults": faults}
    return command.simulated(machine)
