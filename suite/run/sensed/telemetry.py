# SPDX-License-Identifier: MIT
"""What sensors say while a run measures, written to a file by threads of the runner.

Each source, such as a vendor's driver, has its own thread: one that hangs silences no other. Which
case was in flight is found out afterwards, from the journal and the common clock.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Self

from msgspec import Struct

from frobench.suite.files import JsonLines
from frobench.suite.machine.sensors import amd, cpu, nvml, zeus
from frobench.suite.machine.sensors.sensor import ENERGY, Sensor, Source, silent

PERIOD = 0.1
"""Seconds between two readings of a device, at least."""
SHARE = 0.01
"""The part of a core that reading a device may take: what is slow to read is read less often. The
energy counter has its own share, since a window needs it a few times a second."""
LONGEST_SEARCH, PATIENCE = 10.0, 1.0
"""Seconds that drivers have to find their devices before the first launch, and that the end of a
run waits for all sources together."""


class Tick(Struct, tag="tick", kw_only=True, omit_defaults=True):
    """What a device said at one moment."""

    at: float  # by the monotonic clock
    run: float  # seconds since the run began
    device: str
    values: dict[str, float]
    held_back: list[str] | None = None
    counted: float | None = None  # when the energy counter was read, by the monotonic clock
    took: float = 0.0  # CPU seconds that the thread spent since the last one


class Mute(Struct, tag="mute", kw_only=True):
    """A quantity cannot be read, or no longer."""

    device: str
    quantity: str
    reason: str


Line = Tick | Mute


class Recorder:
    """Writes readings into a file until the context ends, then the sources that do not answer."""

    def __init__(
        self, sources: Iterable[Source], path: Path, run_seconds: Callable[[], float]
    ) -> None:
        self._path = path
        self._over = threading.Event()
        self._readers = [Reader(source, path, run_seconds, self._over) for source in sources]

    def __enter__(self) -> Self:
        with suppress(OSError):  # the disk refuses: the run itself will say so
            readings(self._path).mend()
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        _join(self._readers, PATIENCE)
        with suppress(OSError):
            for reader in self._readers:
                if reader.is_alive():
                    readings(self._path).append(reader.silence())


class Reader(threading.Thread):
    """Reads the sensors of one source until `over` is set; see `Recorder`."""

    def __init__(
        self,
        source: Source,
        path: Path,
        run_seconds: Callable[[], float],
        over: threading.Event,
    ) -> None:
        super().__init__(name=f"telemetry of {source.name}", daemon=True)
        self._source = source
        self._path = path
        self._run_seconds = run_seconds
        self._over = over
        self._spent = 0.0
        self._asked = time.monotonic()
        self._sensors: list[Sensor] | None = None

    def run(self) -> None:
        """Append lines to the file."""
        with suppress(OSError):
            readings(self._path).append(self.lines())

    def lines(self) -> Iterator[Line]:
        """Yield what the source says, and each reason for what it does not."""
        self._asked = time.monotonic()
        self._sensors = [part for sensor in self._source.sensors() for part in sensor.apart()]
        due = dict.fromkeys(self._sensors, time.monotonic())
        mentioned: set[tuple[str, str]] = set()
        while True:
            for sensor, moment in due.items():
                if sensor.answers and moment <= time.monotonic():
                    begun = time.thread_time()
                    yield self.read(sensor)
                    took = time.thread_time() - begun
                    rest = max(PERIOD / 2, took / SHARE)
                    due[sensor] = max(moment + PERIOD, time.monotonic() + rest)
                for quantity, reason in sensor.unknown.items():
                    if (sensor.device, quantity) not in mentioned:
                        mentioned.add((sensor.device, quantity))
                        yield Mute(device=sensor.device, quantity=quantity, reason=reason)
            next_due = [at for sensor, at in due.items() if sensor.answers]
            if not next_due or self._over.wait(max(0.0, min(next_due) - time.monotonic())):
                return

    def read(self, sensor: Sensor) -> Tick:
        """Return what a sensor says now."""
        self._asked, run = time.monotonic(), self._run_seconds()
        quantities = sensor.read()
        values = {name: q for name, q in quantities.items() if not isinstance(q, list)}
        before, self._spent = self._spent, time.thread_time()
        return Tick(
            at=self._asked,
            run=run,
            device=sensor.device,
            values=values,
            held_back=next((q for q in quantities.values() if isinstance(q, list)), None),
            counted=sensor.counted if ENERGY in quantities else None,
            took=self._spent - before,
        )

    def silence(self) -> Iterator[Mute]:
        """Yield what is not known any more, since the source does not answer."""
        reason = f"{self._source.name} has not answered for {time.monotonic() - self._asked:.0f} s"
        missing = [(device, self._source.quantities) for device in self._source.devices]
        if self._sensors is not None:
            missing = [(sensor.device, sensor.answers) for sensor in self._sensors]
        for device, quantities in missing:
            for quantity in quantities:
                yield Mute(device=device, quantity=quantity, reason=reason)


def sources(
    seals: Mapping[str, str | None], salt: str, addresses: Mapping[str, str]
) -> list[Source]:
    """Return the sources for the processor and for the accelerators that the run measures.

    seals, salt : by torch's name the sealed UUID, if there is one, and what it was sealed with
    addresses : on the PCI bus, as far as torch knows them
    """
    by_kind: dict[str, list[str]] = {}
    for device in seals:
        by_kind.setdefault(device.partition(":")[0], []).append(device)
    asked = [Source("the system", [cpu.CPU], lambda: [cpu.sensor()], cpu.OF_CPU)]
    for kind, devices in by_kind.items():
        sealed = {device: seal for device in devices if (seal := seals[device])}
        if kind == "cuda" and sealed:
            asked.append(Source("NVML", list(sealed), partial(nvml.sensors, sealed, salt)))
        elif kind == "cuda":  # torch calls AMD's devices so too
            asked.append(Source("amdsmi", devices, partial(amd.sensors, devices, addresses)))
        elif kind == "mps":
            asked.append(Source("Zeus", devices, partial(zeus.sensors, devices)))
        else:
            reason = f"no library asked here reads {kind} devices"
            asked.append(Source(kind, devices, partial(silent, devices, reason)))
    return asked


def why_no_counter(sources: Iterable[Source]) -> dict[str, str | None]:
    """Return for each device why it does not count its energy, `None` if it does."""
    reasons: dict[str, str | None] = {}
    threads = []
    for source in sources:
        slow = f"{source.name} did not answer within {LONGEST_SEARCH:.0f} s"
        reasons |= dict.fromkeys(source.devices, slow)
        threads.append(threading.Thread(target=_ask, args=(source, reasons), daemon=True))
        threads[-1].start()
    _join(threads, LONGEST_SEARCH)
    return dict(reasons)


def _join(threads: Iterable[threading.Thread], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))


def _ask(source: Source, reasons: dict[str, str | None]) -> None:
    for sensor in source.sensors():
        counts = ENERGY in sensor.read()
        reasons[sensor.device] = None if counts else sensor.unknown.get(ENERGY, "it has no counter")


def readings(path: Path) -> JsonLines[Line]:
    """Return the file of readings at a path."""
    return JsonLines(path, Line)
