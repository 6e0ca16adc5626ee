# SPDX-License-Identifier: MIT
"""From readings to what a run stores of them: a summary for each case, and series of the run."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from statistics import median

from msgspec.structs import replace

from frobench.suite.journal.records import Begun, Measured, Record
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.machine.sensors.sensor import ENERGY, MEAN_POWER
from frobench.suite.run.sensed.energy import idle
from frobench.suite.run.sensed.telemetry import Line, Mute, Tick
from frobench.suite.stored.run import Sensed, Telemetry

MOST_STEPS, LEAST_STEP = 300, 0.25
"""Points of a series at most, and seconds between two of them at least."""
AVERAGED = 1.0
"""Seconds that a mean power is averaged over."""
REPLAYS = "pcie_replays"
COUNTERS = (ENERGY, REPLAYS)
"""Quantities that count up from some time before the run."""
_DIGITS = {"hz": -5, "watts": 1, "joules": 1, "celsius": 1}
"""Decimal places that are kept, by the last word of a quantity's name."""
_OTHERWISE = 3
_MOMENT = attrgetter("at")


def of_cases(
    lines: Iterable[Line], records: Sequence[Record], devices: Mapping[str, Iterable[str]]
) -> dict[str, dict[str, Sensed]]:
    """Return by case and device what sensors said during the case; `devices` are those it used."""
    by_case = _in_flight(records)
    sensed: dict[str, dict[str, Sensed]] = {}
    for device, every in _by_device(lines).items():
        ticks = [tick for tick in every if tick.values.keys() != {ENERGY}] or every
        for case, spans in by_case.items():
            if device in {CPU, *(name.partition("/")[0] for name in devices.get(case, ()))}:
                read = [_within(ticks, *span) for span in spans]
                if any(read):
                    sensed.setdefault(case, {})[device] = _summary(read)
    return sensed


def _in_flight(records: Iterable[Record]) -> dict[str, list[tuple[float, float]]]:
    """Return when each case was in flight, launch by launch."""
    begun: dict[tuple[int, str], float] = {}
    spans: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        if isinstance(record, Begun):
            begun[record.launch, record.case] = record.at
        elif isinstance(record, Measured) and (record.launch, record.case) in begun:
            at = begun[record.launch, record.case]
            spans.setdefault(record.case, []).append((at, at + record.wall_seconds))
    return spans


def _within(ticks: Sequence[Tick], begun: float, ended: float) -> list[Tick]:
    """Return the readings of a time, without a mean power that is also of the time before it."""
    first, behind = bisect_left(ticks, begun, key=_MOMENT), bisect_right(ticks, ended, key=_MOMENT)
    inside = list(ticks[first:behind])
    for index, tick in enumerate(inside):
        if tick.at - begun < AVERAGED and MEAN_POWER in tick.values:
            values = {name: value for name, value in tick.values.items() if name != MEAN_POWER}
            inside[index] = replace(tick, values=values)
    return inside


def _summary(by_launch: Sequence[Sequence[Tick]]) -> Sensed:
    ticks = [tick for launch in by_launch for tick in launch]
    held = [tick.held_back for tick in ticks if tick.held_back is not None]
    reasons = Counter(reason for held_back in held for reason in held_back)
    parts = {name: round(count / len(held), 3) for name, count in sorted(reasons.items())}
    replays = [numbers for launch in by_launch if (numbers := _by_quantity(launch).get(REPLAYS))]
    return Sensed(
        readings=len(ticks),
        values={
            name: (
                _rounded(name, min(numbers)),
                _rounded(name, median(numbers)),
                _rounded(name, max(numbers)),
            )
            for name, numbers in _by_quantity(ticks).items()
            if name not in COUNTERS
        },
        held_back=parts if held else None,
        pcie_replays=int(sum(each[-1] - each[0] for each in replays)) if replays else None,
    )


def of_run(lines: Sequence[Line], records: Iterable[Record]) -> Telemetry | None:
    """Return the series of a run, or why there are none; nothing where no sensor was asked."""
    if not lines:
        return None
    by_device = _by_device(lines)
    runs = [tick.run for ticks in by_device.values() for tick in ticks] or [0.0]
    begun, ended = min(runs), max(runs)
    step = max(LEAST_STEP, (ended - begun) / MOST_STEPS)
    mutes = [line for line in lines if isinstance(line, Mute)]
    series: dict[str, dict[str, list[float | None] | None]] = {}
    for mute in mutes:
        series.setdefault(mute.device, {})[mute.quantity] = None
    held_back: dict[str, dict[str, list[float | None]]] = {}
    for device, ticks in by_device.items():
        steps: list[list[Tick]] = [[] for _ in range(int((ended - begun) / step) + 1)]
        for tick in ticks:
            steps[int((tick.run - begun) / step)].append(tick)
        series.setdefault(device, {}).update(_series(ticks, steps))
        if parts := _held_back(steps):
            held_back[device] = parts
    spent = sum(tick.took for ticks in by_device.values() for tick in ticks)
    return Telemetry(
        begun=round(begun, 3),
        step=round(step, 6),
        series=series,
        held_back=held_back,
        launches=_launches(max(by_device.values(), key=len, default=[]), records),
        unknown={f"{mute.device}.{mute.quantity}": mute.reason for mute in mutes},
        cost=round(spent / max(step, ended - begun), 6),
        idle_watts=idle(lines, records),
    )


def _by_device(lines: Iterable[Line]) -> dict[str, list[Tick]]:
    by_device: dict[str, list[Tick]] = {}
    for line in lines:
        if isinstance(line, Tick):
            by_device.setdefault(line.device, []).append(line)
    return {device: sorted(ticks, key=_MOMENT) for device, ticks in by_device.items()}


def _by_quantity(ticks: Iterable[Tick]) -> dict[str, list[float]]:
    numbers: dict[str, list[float]] = {}
    for tick in ticks:
        for name, value in tick.values.items():
            numbers.setdefault(name, []).append(value)
    return numbers


def _series(
    ticks: Sequence[Tick], steps: Iterable[Sequence[Tick]]
) -> dict[str, list[float | None]]:
    in_steps = [_by_quantity(step) for step in steps]
    series: dict[str, list[float | None]] = {}
    for name, (first, *_) in _by_quantity(ticks).items():
        zero = first if name in COUNTERS else 0.0
        series[name] = [
            _rounded(name, median(number - zero for number in step[name])) if name in step else None
            for step in in_steps
        ]
    return series


def _held_back(steps: Iterable[Sequence[Tick]]) -> dict[str, list[float | None]]:
    """Return the part of each step's readings with each reason that was seen at all."""
    in_steps = [[tick.held_back for tick in step if tick.held_back is not None] for step in steps]
    reasons = sorted({reason for step in in_steps for names in step for reason in names})
    return {
        reason: [
            round(sum(reason in names for names in step) / len(step), 2) if step else None
            for step in in_steps
        ]
        for reason in reasons
    }


def _launches(ticks: Sequence[Tick], records: Iterable[Record]) -> list[float]:
    """Return when the first case of each launch began, on the run's clock."""
    firsts: dict[int, float] = {}
    for record in records:
        if isinstance(record, Begun) and ticks:
            near = ticks[max(0, bisect_right(ticks, record.at, key=_MOMENT) - 1)]
            firsts.setdefault(record.launch, round(near.run + record.at - near.at, 3))
    return [moment for _, moment in sorted(firsts.items())]


def _rounded(quantity: str, value: float) -> float:
    return round(value, _DIGITS.get(quantity.rpartition("_")[2], _OTHERWISE))
