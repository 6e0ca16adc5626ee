# SPDX-License-Identifier: MIT
"""What the sensors say of a GPU, and when, against NVIDIA's own command."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from frobench.suite.machine.sensors.sensor import seal
from frobench.suite.machine.vendors import sources
from frobench.suite.machine.vendors.vendor import Identity
from frobench.suite.run import telemetry
from tests.gpu import smi

if TYPE_CHECKING:
    from frobench.suite.kit.device import Device

SALT = "7"
WAVE = [(1.0, 1.0), (0.7, 1.3), (1.3, 0.7), (1.0, 1.0)]
"""Seconds of work and of rest, in turn."""
REST = 0.7
"""Seconds before and after, more than series are shifted by."""
SWING = 50.0
"""Watts between work and rest, at least."""


@pytest.fixture(scope="module")
def identities(gpu: "Device") -> dict[str, Identity]:
    """Return what a launch tells the runner of the GPU."""
    return {gpu.name: Identity(seal(str(gpu.uuid), SALT))}


def keep_busy(gpu: "Device", seconds: float) -> None:
    """Have the GPU multiply for so long, and wait for it."""
    a, b = (gpu.uniform(8192, 8192, dtype="bfloat16") for _ in "ab")
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for _ in range(10):
            a @ b
        gpu.synchronize()


def test_power_is_read_at_the_moment_that_it_is_stored_with(
    gpu: "Device", identities: dict[str, Identity], tmp_path: Path
) -> None:
    since = time.time() - time.monotonic()  # the command reads the other clock
    path = tmp_path / "telemetry.jsonl"
    with smi.watched("power.draw", str(gpu.uuid), tmp_path / "smi.csv") as theirs:
        time.sleep(REST)
        with telemetry.recording(sources(identities, SALT), path, time.monotonic):
            for work, rest in WAVE:
                keep_busy(gpu, work)
                time.sleep(rest)
        time.sleep(REST)
    ours = [
        (since + line.at, line.values["power_watts"])
        for line in telemetry.readings(path)
        if isinstance(line, telemetry.Reading) and line.device == gpu.name
    ]
    watts = [value for _, value in theirs]
    assert max(watts) - min(watts) > SWING, "the work does not show"
    (moments, mine), (others, values) = np.array(ours).T, np.array(theirs).T
    alike = {
        late: np.corrcoef(mine, np.interp(moments - late, others, values))[0, 1]
        for late in np.arange(-0.5, 0.505, 0.01)
    }
    assert abs(max(alike, key=lambda late: alike[late])) <= 0.05
