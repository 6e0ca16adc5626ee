# SPDX-License-Identifier: MIT
"""From readings to what a run stores of them: a summary for each case, and series of the run."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from suite.journal.records import Begun, Measured, Record
from suite.machine.sensors.cpu import CPU
from suite.machine.sensors.sensor import ENERGY, MEAN_POWER
from suite.run.sensed.energy import idle
from suite.run.sensed.telemetry import Line, Mute, Tick
from suite.stored.run import Sensed, Telemetry

MOST_STEPS = 300
"""Points of a series, at most."""
LEAST_STEP = 0.25
"""Seconds of a step, at least."""
AVERAGED = 1.0
"""Seconds of which a mean power is the mean."""
REPLAYS = "pcie_replays"
COUNTERS = (ENERGY, REPLAYS)
"""Quantities that count up from some time before the run."""
_DIGITS = {"hz": -5, "watts": 1, "joules": 1, "celsius": 1}
"""Decimal places that are kept, by the last word of a quantity's name."""
_OTHERWISE = 3


def of_cases(
    lines: Iterable[Line], records: Sequence[Record], devices: Mapping[str, Iterable[str]]
) -> dict[str, dict[str, Sensed]]:
    """Return by case and device what sensors said while the case was in flight.

    devices : those of each case, by its full name; the processor always counts
    """
    windows = _windows(records)
    sensed: dict[str, dict[str, Sensed]] = {}
    for device, every in _by_device(lines).items():
        ticks = [tick for tick in every if tick.values.keys() != {ENERGY}] or every
        times = [tick.at for tick in ticks]
        for case, spans in windows.items():
            if device not in {CPU, *(name.partition("/")[0] for name in devices.get(case, ()))}:
                continue
            read = [
                [
                    _of_case(tick, begun)
                    for tick in ticks[bisect_left(times, begun) : bisect_right(times, ended)]
                ]
                for begun, ended in spans
            ]
            if any(read):
                sensed.setdefault(case, {})[device] = _summary(read)
    return sensed


def _of_case(tick: Tick, begun: float) -> Tick:
    """Return a reading without a mean power that is also of the time before the case."""
    if MEAN_POWER not in tick.values or tick.at - begun >= AVERAGED:
        return tick
    values = {name: value for name, value in tick.values.items() if name != MEAN_POWER}
    return replace(tick, values=values)


def of_run(lines: Sequence[Line], records: Sequence[Record]) -> Telemetry | None:
    """Return the series of a run, or why there are none; nothing where no sensor was asked."""
    by_device = _by_device(lines)
    runs = [tick.run for ticks in by_device.values() for tick in ticks] or [0.0]
    if not lines:
        return None
    begun, ended = min(runs), max(runs)
    step = max(LEAST_STEP, (ended - begun) / MOST_STEPS)
    steps = int((ended - begun) / step) + 1
    unknown = {
        f"{line.device}.{line.quantity}": line.reason for line in lines if isinstance(line, Mute)
    }
    series: dict[str, dict[str, list[float | None] | None]] = {}
    for path in unknown:
        device, _, quantity = path.rpartition(".")
        series.setdefault(device, {})[quantity] = None
    held_back: dict[str, dict[str, list[float | None]]] = {}
    for device, ticks in by_device.items():
        positions = [min(steps - 1, int((tick.run - begun) / step)) for tick in ticks]
        series.setdefault(device, {}).update(_series(ticks, positions, steps))
        held_back |= {device: parts} if (parts := _held_back(ticks, positions, steps)) else {}
    return Telemetry(
        begun=round(begun, 3),
        step=round(step, 6),
        series=series,
        held_back=held_back,
        launches=_launches(by_device, records),
        unknown=unknown,
        cost=round(_spent(by_device) / max(step, ended - begun), 6),
        idle_watts=idle(lines, records),
    )


def rounded(quantity: str, value: float) -> float:
    """Return a reading without the digits that no sensor has."""
    return round(value, _DIGITS.get(quantity.rpartition("_")[2], _OTHERWISE))


def _by_device(lines: Iterable[Line]) -> dict[str, list[Tick]]:
    by_device: dict[str, list[Tick]] = {}
    for line in lines:
        if isinstance(line, Tick):
            by_device.setdefault(line.device, []).append(line)
    return {device: sorted(ticks, key=lambda tick: tick.at) for device, ticks in by_device.items()}


def _windows(records: Iterable[Record]) -> dict[str, list[tuple[float, float]]]:
    """Return for each case when it was in flight, launch by launch."""
    begun: dict[tuple[int, str], float] = {}
    windows: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        if isinstance(record, Begun):
            begun[record.launch, record.case] = record.at
        elif isinstance(record, Measured) and (record.launch, record.case) in begun:
            at = begun[record.launch, record.case]
            windows.setdefault(record.case, []).append((at, at + record.wall_seconds))
    return windows


def _summary(by_launch: Sequence[Sequence[Tick]]) -> Sensed:
    ticks = [tick for launch in by_launch for tick in launch]
    held = [tick.held_back for tick in ticks if tick.held_back is not None]
    reasons = Counter(reason for held_back in held for reason in held_back)
    replays = [
        [tick.values[REPLAYS] for tick in launch if REPLAYS in tick.values] for launch in by_launch
    ]
    values = {
        name: [tick.values[name] for tick in ticks if name in tick.values]
        for name in dict.fromkeys(name for tick in ticks for name in tick.values)
        if name not in COUNTERS
    }
    return Sensed(
        readings=len(ticks),
        values={
            name: (
                rounded(name, min(numbers)),
                rounded(name, median(numbers)),
                rounded(name, max(numbers)),
            )
            for name, numbers in values.items()
        },
        held_back={name: round(count / len(held), 3) for name, count in sorted(reasons.items())}
        if held
        else None,
        pcie_replays=int(sum(numbers[-1] - numbers[0] for numbers in replays if numbers))
        if any(replays)
        else None,
    )


def _series(
    ticks: Sequence[Tick], positions: Sequence[int], steps: int
) -> dict[str, list[float | None] | None]:
    series: dict[str, list[float | None] | None] = {}
    for name in dict.fromkeys(name for tick in ticks for name in tick.values):
        in_steps: list[list[float]] = [[] for _ in range(steps)]
        first = next(tick.values[name] for tick in ticks if name in tick.values)
        for tick, position in zip(ticks, positions, strict=True):
            if name in tick.values:
                in_steps[position].append(tick.values[name] - first * (name in COUNTERS))
        series[name] = [rounded(name, median(here)) if here else None for here in in_steps]
    return series


def _held_back(
    ticks: Sequence[Tick], positions: Sequence[int], steps: int
) -> dict[str, list[float | None]]:
    """Return the part of each step's readings with each reason that was seen at all."""
    in_steps: list[list[list[str]]] = [[] for _ in range(steps)]
    for tick, position in zip(ticks, positions, strict=True):
        if tick.held_back is not None:
            in_steps[position].append(tick.held_back)
    reasons = sorted({reason for here in in_steps for names in here for reason in names})
    return {
        reason: [
            round(sum(reason in names for names in here) / len(here), 2) if here else None
            for here in in_steps
        ]
        for reason in reasons
    }


def _launches(by_device: Mapping[str, Sequence[Tick]], records: Iterable[Record]) -> list[float]:
    """Return when the first case of each launch began, on the run's clock."""
    ticks = max(by_device.values(), key=len, default=[])
    times = [tick.at for tick in ticks]
    firsts: dict[int, float] = {}
    for record in records:
        if isinstance(record, Begun):
            firsts.setdefault(record.launch, record.at)
    moments = []
    for _, at in sorted(firsts.items()) if ticks else ():
        near = ticks[max(0, bisect_right(times, at) - 1)]
        moments.append(round(near.run + at - near.at, 3))
    return moments


def _spent(by_device: Mapping[str, Iterable[Tick]]) -> float:
    return sum(tick.took for ticks in by_device.values() for tick in ticks)
