# SPDX-License-Identifier: MIT
"""Readings of sensors while a run measures, written to a file by threads of the runner.

Each source, such as a vendor's driver, has its own thread: one that hangs silences no other. Which
case was in flight is found out afterwards, from the journal and the common clock.
"""

import threading
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from statistics import median

from msgspec import Struct

from frobench.suite.files import JsonLines
from frobench.suite.journal import Begun, Measured, Record
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.machine.sensors.sensor import ENERGY, MEAN_POWER, Sensor, Source
from frobench.suite.stored.types import Sensed, Telemetry

PERIOD = 0.1
"""Seconds between two readings of a device, at least."""
SHARE = 0.01
"""The part of a core that reading a device may take: what is slow to read is read less often. The
energy counter has its own share, since a window needs it a few times a second."""
LONGEST_SEARCH, PATIENCE = 10.0, 1.0
"""Seconds that drivers have to find their devices before the first launch, and that the end of a
run waits for all sources together."""


class Reading(Struct, tag="reading", kw_only=True, omit_defaults=True):
    """Quantities of a device at one moment."""

    at: float  # by the monotonic clock
    run: float  # seconds since the run began
    device: str
    values: dict[str, float]
    held_back: list[str] | None = None
    counted: float | None = None  # when the energy counter was read, by the monotonic clock
    took: float = 0.0  # CPU seconds that the thread spent since the last one


class Unreadable(Struct, tag="unreadable", kw_only=True):
    """A quantity cannot be read, or no longer."""

    device: str
    quantity: str
    reason: str


Line = Reading | Unreadable


@contextmanager
def recording(
    sources: Iterable[Source], path: Path, run_seconds: Callable[[], float]
) -> Iterator[None]:
    """Write readings into a file until the context ends."""
    over, file = threading.Event(), readings(path)

    def record(source: Source) -> None:
        with suppress(OSError):  # the disk refuses: the run itself will say so
            file.append(lines_of(source, run_seconds, over))

    with suppress(OSError):
        file.mend()
    threads = [threading.Thread(target=record, args=(one,), daemon=True) for one in sources]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        join(threads, PATIENCE)


def lines_of(
    source: Source, run_seconds: Callable[[], float], over: threading.Event
) -> Iterator[Line]:
    """Yield readings of a source until `over`, and once for each quantity why it is not read."""
    sensors = [part for sensor in source.sensors() for part in sensor.apart()]
    due, spent = dict.fromkeys(sensors, time.monotonic()), 0.0
    mentioned: set[tuple[str, str]] = set()
    while True:
        for sensor, moment in due.items():
            if sensor.answers and moment <= time.monotonic():
                begun = time.thread_time()
                reading = read(sensor, run_seconds)
                before, spent = spent, time.thread_time()
                reading.took = spent - before
                yield reading
                took = time.thread_time() - begun
                rest = max(PERIOD / 2, took / SHARE)
                due[sensor] = max(moment + PERIOD, time.monotonic() + rest)
            for quantity, reason in sensor.unknown.items():
                if (sensor.device, quantity) not in mentioned:
                    mentioned.add((sensor.device, quantity))
                    yield Unreadable(device=sensor.device, quantity=quantity, reason=reason)
        next_due = [at for sensor, at in due.items() if sensor.answers]
        if not next_due or over.wait(max(0.0, min(next_due) - time.monotonic())):
            return


def read(sensor: Sensor, run_seconds: Callable[[], float]) -> Reading:
    """Read a sensor now."""
    at, run = time.monotonic(), run_seconds()
    quantities = sensor.read()
    return Reading(
        at=at,
        run=run,
        device=sensor.device,
        values={name: q for name, q in quantities.items() if not isinstance(q, list)},
        held_back=next((q for q in quantities.values() if isinstance(q, list)), None),
        counted=sensor.counted if ENERGY in quantities else None,
    )


def why_no_counter(sources: Iterable[Source]) -> dict[str, str | None]:
    """Return for each device why it does not count its energy, `None` if it does."""
    reasons: dict[str, str | None] = {}
    threads = []
    for source in sources:
        slow = f"{source.name} did not answer within {LONGEST_SEARCH:.0f} s"
        reasons |= dict.fromkeys(source.devices, slow)
        threads.append(threading.Thread(target=_ask, args=(source, reasons), daemon=True))
        threads[-1].start()
    join(threads, LONGEST_SEARCH)
    return dict(reasons)


def join(threads: Iterable[threading.Thread], seconds: float) -> None:
    """Wait for threads, for so many seconds in all."""
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


def last_moment(path: Path) -> float:
    """Return the seconds of the run at which a sensor was last read, 0 if none was."""
    return max((line.run for line in readings(path) if isinstance(line, Reading)), default=0.0)


MOST_STEPS, LEAST_STEP = 300, 0.25
"""Points of a series at most, and seconds between two of them at least."""
AVERAGED = 1.0
"""Seconds that a mean power is averaged over."""
_DIGITS = {"hz": -5, "watts": 1, "joules": 1, "celsius": 1}
"""Decimal places that are kept, by the last word of a quantity's name."""
_OTHERWISE = 3
_MOMENT = attrgetter("at")


def sensors_of_cases(
    lines: Iterable[Line], records: Iterable[Record], devices: Mapping[str, Iterable[str]]
) -> dict[str, dict[str, Sensed]]:
    """Summarise readings during each case, by case and device; `devices` are those it used."""
    used = {
        case: {CPU, *(name.partition("/")[0] for name in names)} for case, names in devices.items()
    }
    taken = _in_order(lines)
    several = {reading.device for reading in taken if reading.values.keys() != {ENERGY}}
    flights = _flights(records)
    starts = [begun for begun, *_ in flights]
    seen: defaultdict[tuple[str, str], list[tuple[float, Reading]]] = defaultdict(list)
    for reading in taken:
        if reading.values.keys() == {ENERGY} and reading.device in several:
            continue  # the counter is read more often, apart from the other quantities
        place = bisect_right(starts, reading.at)
        for begun, ended, case in flights[max(0, place - 1) : place]:
            if reading.at <= ended and reading.device in used.get(case, ()):
                seen[case, reading.device].append((begun, reading))
    sensed: dict[str, dict[str, Sensed]] = {}
    for (case, device), readings_of_case in seen.items():
        sensed.setdefault(case, {})[device] = _summary(readings_of_case)
    return sensed


def _flights(records: Iterable[Record]) -> list[tuple[float, float, str]]:
    """Return when measured cases began and ended, and which, in the order of time."""
    begun: dict[tuple[int, str], float] = {}
    flights = []
    for record in records:
        if isinstance(record, Begun):
            begun[record.launch, record.case] = record.at
        elif isinstance(record, Measured) and (record.launch, record.case) in begun:
            at = begun[record.launch, record.case]
            flights.append((at, at + record.wall_seconds, record.case))
    return sorted(flights)


def _summary(seen: Sequence[tuple[float, Reading]]) -> Sensed:
    """Summarise the readings of a case, each with the moment at which its launch began the case."""
    numbers: defaultdict[str, list[float]] = defaultdict(list)
    for begun, reading in seen:
        for name, value in reading.values.items():
            # A mean power so soon is also that of the time before the case.
            if name != ENERGY and (name != MEAN_POWER or reading.at - begun >= AVERAGED):
                numbers[name].append(value)
    held = [reading.held_back for _, reading in seen if reading.held_back is not None]
    reasons = Counter(reason for held_back in held for reason in held_back)
    parts = {name: round(count / len(held), 3) for name, count in sorted(reasons.items())}
    low, middle, high = (
        {name: _rounded(name, of(values)) for name, values in numbers.items()}
        for of in (min, median, max)
    )
    return Sensed(
        readings=len(seen),
        values={name: (low[name], middle[name], high[name]) for name in numbers},
        held_back=parts if held else None,
    )


def of_run(
    lines: Sequence[Line], records: Iterable[Record], idle_watts: dict[str, float]
) -> Telemetry | None:
    """Return the series of a run, or why there are none; nothing where no sensor was asked."""
    if not lines:
        return None
    taken, mutes = _in_order(lines), [line for line in lines if isinstance(line, Unreadable)]
    begun = min((reading.run for reading in taken), default=0.0)
    seconds = max((reading.run for reading in taken), default=0.0) - begun
    step = max(LEAST_STEP, seconds / MOST_STEPS)
    steps = range(int(seconds / step) + 1)
    numbers: dict[tuple[str, str], dict[int, list[float]]] = {}
    held: dict[str, dict[int, list[list[str]]]] = {}
    for reading in taken:
        number = int((reading.run - begun) / step)
        for name, value in reading.values.items():
            by_step = numbers.setdefault((reading.device, name), {})
            by_step.setdefault(number, []).append(value)
        if reading.held_back is not None:
            held.setdefault(reading.device, {}).setdefault(number, []).append(reading.held_back)
    series: dict[str, dict[str, list[float | None] | None]] = {}
    for mute in mutes:
        series.setdefault(mute.device, {})[mute.quantity] = None
    for (device, name), by_step in numbers.items():
        zero = next(iter(by_step.values()))[0] if name == ENERGY else 0.0
        series.setdefault(device, {})[name] = [
            _rounded(name, median(by_step[number]) - zero) if number in by_step else None
            for number in steps
        ]
    held_back: dict[str, dict[str, list[float | None]]] = {}
    for device, causes in held.items():
        for reason in sorted({name for names in causes.values() for one in names for name in one}):
            held_back.setdefault(device, {})[reason] = [
                round(sum(reason in one for one in causes[number]) / len(causes[number]), 2)
                if number in causes
                else None
                for number in steps
            ]
    return Telemetry(
        begun=round(begun, 3),
        step=round(step, 6),
        series=series,
        held_back=held_back,
        launches=_launches(taken, records),
        unknown={f"{mute.device}.{mute.quantity}": mute.reason for mute in mutes},
        cost=round(sum(reading.took for reading in taken) / max(step, seconds), 6),
        idle_watts=idle_watts,
    )


def _in_order(lines: Iterable[Line]) -> list[Reading]:
    return sorted((line for line in lines if isinstance(line, Reading)), key=_MOMENT)


def _launches(taken: Sequence[Reading], records: Iterable[Record]) -> list[float]:
    """Return when the first case of each launch began, on the run's clock."""
    firsts: dict[int, float] = {}
    for record in records:
        if isinstance(record, Begun) and taken:
            near = taken[max(0, bisect_right(taken, record.at, key=_MOMENT) - 1)]
            firsts.setdefault(record.launch, round(near.run + record.at - near.at, 3))
    return [moment for _, moment in sorted(firsts.items())]


def _rounded(quantity: str, value: float) -> float:
    return round(value, _DIGITS.get(quantity.rpartition("_")[2], _OTHERWISE))
