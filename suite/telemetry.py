# SPDX-License-Identifier: MIT
"""What sensors say while a run measures, read by a thread of the runner and written to a file.

The launches know nothing of it. The runner has little else to do than to wait, and what hangs in
a driver hangs in this thread alone. Which case was in flight is found out afterwards, from the
journal and the common clock.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct

from suite.sensors import amd, cpu, nvml, zeus
from suite.sensors.sensor import Sensor, silent

PERIOD = 0.1
"""Seconds between two readings of a device, at least."""
SHARE = 0.01
"""The part of a core that reading a device may take: what is slow to read is read less often."""
LONGEST_SEARCH = 10.0
"""Seconds that drivers have to find their devices, before the first launch."""
PATIENCE = 2.0
"""Seconds after which a sensor that does not answer is left to itself."""

Seals = Mapping[str, str | None]
"""What stands for the UUIDs of accelerators by torch's names; `None` where one has none."""


class Tick(Struct, tag="tick", kw_only=True, omit_defaults=True):
    """What a device said at one moment.

    at, run : the monotonic clock, and the seconds since the run began
    took : CPU seconds that the thread spent since it wrote the last one
    """

    at: float
    run: float
    device: str
    values: dict[str, float]
    held_back: list[str] | None = None
    took: float = 0.0


class Mute(Struct, tag="mute", kw_only=True):
    """A quantity cannot be read, or no longer."""

    device: str
    quantity: str
    reason: str


Line = Tick | Mute


class Sampler:
    """Reads sensors until the context ends.

    find : makes the sensors, in the thread that reads them
    path : takes a line for each reading
    run_seconds : tells how long the run has taken
    """

    def __init__(
        self,
        find: Callable[[], Iterable[Sensor]],
        path: Path,
        run_seconds: Callable[[], float],
        period: float = PERIOD,
    ) -> None:
        self._find = find
        self._path = path
        self._run_seconds = run_seconds
        self._period = period
        self._over = threading.Event()
        self._spent = 0.0
        self._thread = threading.Thread(target=self._sample, name="telemetry", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop; a sensor that hangs is waited for no longer than `PATIENCE`."""
        self._over.set()
        self._thread.join(PATIENCE)

    def _sample(self) -> None:
        with suppress(OSError):  # the disk refuses: the run itself will say so
            mend(self._path)
            with self._path.open("ab", buffering=0) as file:
                for line in self._lines():
                    file.write(msgspec.json.encode(line) + b"\n")

    def _lines(self) -> Iterator[Line]:
        due = {sensor: time.monotonic() for sensor in self._find()}
        told: set[tuple[str, str]] = set()
        while True:
            for sensor, moment in due.items():
                if sensor.works and moment <= time.monotonic():
                    begun = time.thread_time()
                    yield self._read(sensor)
                    asked = time.thread_time() - begun
                    rest = max(self._period / 2, asked / SHARE)
                    due[sensor] = max(moment + self._period, time.monotonic() + rest)
                for quantity, reason in sensor.unknown.items():
                    if (sensor.device, quantity) not in told:
                        told.add((sensor.device, quantity))
                        yield Mute(device=sensor.device, quantity=quantity, reason=reason)
            next_due = [at for sensor, at in due.items() if sensor.works]
            if not next_due or self._over.wait(max(0.0, min(next_due) - time.monotonic())):
                return

    def _read(self, sensor: Sensor) -> Tick:
        at, run = time.monotonic(), self._run_seconds()
        said = sensor.read()
        before, self._spent = self._spent, time.thread_time()
        return Tick(
            at=at,
            run=run,
            device=sensor.device,
            values={name: value for name, value in said.items() if not isinstance(value, list)},
            held_back=next((value for value in said.values() if isinstance(value, list)), None),
            took=self._spent - before,
        )


def sensors(seals: Seals, salt: str) -> list[Sensor]:
    """Return a sensor for the processor and for each accelerator, whatever it can tell.

    seals : of the accelerators that the run measures
    salt : what the seals were made with
    """
    by_kind: dict[str, list[str]] = {}
    for device in seals:
        by_kind.setdefault(device.partition(":")[0], []).append(device)
    found = [cpu.sensor()]
    for kind, devices in by_kind.items():
        sealed = {device: seal for device in devices if (seal := seals[device])}
        if kind == "cuda" and sealed:
            found += nvml.sensors(sealed, salt)
        elif kind == "cuda":  # torch calls AMD's devices so too
            found += amd.sensors(devices)
        elif kind == "mps":
            found += zeus.sensors(devices)
        else:
            found += silent(devices, f"no library asked here reads {kind} devices")
    return found


def counters(find: Callable[[], Iterable[Sensor]]) -> list[str]:
    """Return the devices that count their energy; none if it takes long to find out."""
    found: list[str] = []

    def ask() -> None:
        found.extend(sensor.device for sensor in find() if "energy_joules" in sensor.read())

    thread = threading.Thread(target=ask, name="counters", daemon=True)
    thread.start()
    thread.join(LONGEST_SEARCH)
    return list(found)


def read(path: Path) -> list[Line]:
    """Return the lines of a file of readings; none if there is no file."""
    if not path.exists():
        return []
    whole, _, _ = path.read_bytes().rpartition(b"\n")  # what is behind is half a line
    return [msgspec.json.decode(line, type=Line) for line in whole.splitlines()]


def mend(path: Path) -> None:
    """Cut off the half line that a killed process left."""
    if path.exists():
        whole, newline, _ = path.read_bytes().rpartition(b"\n")
        path.write_bytes(whole + newline)
