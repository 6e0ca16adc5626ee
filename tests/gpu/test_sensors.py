# SPDX-License-Identifier: MIT
"""What the sensors say of a GPU, and when, against NVIDIA's own command."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from frobench.suite.machine.sensors.sensor import HELD_BACK, Sensor, seal
from frobench.suite.machine.vendors import nvidia, sources
from frobench.suite.machine.vendors.vendor import Identity
from frobench.suite.run import telemetry
from tests.gpu import smi

if TYPE_CHECKING:
    from frobench.suite.kit.device import Device
    from tests.gpu.load import Load

SALT = "7"
WAVE = [(1.0, 1.0), (0.7, 1.3), (1.3, 0.7), (1.0, 1.0)]
"""Seconds of work and of rest, in turn."""
REST = 0.7
"""Seconds before and after, more than series are shifted by."""
SWING = 50.0
"""Watts between work and rest, at least."""
TRIES = 5


@pytest.fixture(scope="module")
def identities(gpu: "Device") -> dict[str, Identity]:
    """Return what a launch tells the runner of the GPU."""
    return {gpu.name: Identity(seal(str(gpu.uuid), SALT))}


def test_power_is_read_at_the_moment_that_it_is_stored_with(
    gpu: "Device", load: "Load", identities: dict[str, Identity], tmp_path: Path
) -> None:
    since = time.time() - time.monotonic()  # the command reads the other clock
    path = tmp_path / "telemetry.jsonl"
    with smi.watched("power.draw", str(gpu.uuid), tmp_path / "smi.csv") as theirs:
        time.sleep(REST)
        with telemetry.recording(sources(identities, SALT), path, time.monotonic):
            for work, rest in WAVE:
                load.keep_busy(work)
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


def test_what_holds_the_clock_back_is_what_the_command_says(
    gpu: "Device", load: "Load", identities: dict[str, Identity]
) -> None:
    (sensor,) = sources(identities, SALT)[1].sensors()
    uuid = str(gpu.uuid)
    time.sleep(2.0)
    at_rest = agreed(sensor, uuid, lambda: None)
    at_work = agreed(sensor, uuid, lambda: load.queue(3.0))
    gpu.synchronize()
    assert at_rest | at_work, "nothing was held back, so nothing was compared"


def agreed(sensor: Sensor, uuid: str, begin: Callable[[], None]) -> set[str]:
    """Return what both say; it may change between the two, so they have some tries.

    begin : queues work before each
    """
    tried = []
    for _ in range(TRIES):
        begin()
        time.sleep(0.5)
        ours, (names, bits) = held_back(sensor), told(uuid)
        if ours == names == bits:
            return ours
        tried.append((ours, names, bits))
    pytest.fail(f"they never agree: {tried}")


def held_back(sensor: Sensor) -> set[str]:
    """Return what the sensor says."""
    names = sensor.read()[HELD_BACK]
    assert isinstance(names, list)
    return set(names)


def told(uuid: str) -> tuple[set[str], set[str]]:
    """Return what the command says: by the names that are active, and by its mask's bits."""
    fields = [f"clocks_event_reasons.{name}" for name in ("active", *smi.REASONS)]
    ((mask, *states),) = smi.ask(*fields, uuid=uuid)
    pairs = zip(smi.REASONS.values(), states, strict=True)
    return {name for name, state in pairs if state == "Active"}, set(nvidia.reasons(int(mask, 16)))
