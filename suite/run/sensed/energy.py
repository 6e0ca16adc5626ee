# SPDX-License-Identifier: MIT
"""Cases that launches repeated for seconds: the joules of a call, and the rate that a GPU sustains.

The joules of a call are its time in the window (`suite.measure.sampling`), times the mean power
between the first and the last reading of the counter there: nothing is interpolated. Sensors of
some GPUs see a quarter of the time and average over a second, so a shorter window would show the
power of its neighbours.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from frobench.suite.journal.records import Busy, Identity, Record, Rested
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.machine.sensors.sensor import ENERGY
from frobench.suite.run.sensed.telemetry import Line, Tick
from frobench.suite.stored.run import Energy

SUSTAINED = "sustained"
"""The part of a case's numbers that holds the seconds of a call in a window."""
LEAST = 1.5
"""Seconds between the first and the last reading of a window, at least."""
REST, SETTLED = 3.3, 2.0
"""Seconds without any work before the first launch, where there is a counter; and those at their
end that count, since devices need a while to slow down."""
DIGITS = 6
UNSEEN = f"no launch read the counter for {LEAST} s meanwhile"
STILL, RESET = "the counter did not move", "the counter was reset"
"""Why a case that was chosen has no energy."""


def energy_devices(devices: Iterable[str]) -> list[str]:
    """Return the whole devices whose energy is a case's: accelerators where there are any."""
    whole = list(dict.fromkeys(name.partition("/")[0] for name in devices))
    return [name for name in whole if name != CPU] or whole


def of_cases(
    lines: Iterable[Line],
    records: Iterable[Record],
    used: Mapping[str, Iterable[str]],
    launches: int,
) -> tuple[dict[str, Energy], dict[str, str]]:
    """Return what the calls of cases cost, launch by launch, and why the others' is not known.

    used : the devices of each case
    """
    readings = _counter_readings(lines)
    energies: dict[str, Energy] = {}
    reasons: dict[str, str] = {}
    for record in records:
        if isinstance(record, Busy) and record.case in used and record.launch < launches:
            nothing: list[float | None] = [None] * launches
            energy = energies.setdefault(record.case, Energy(joules=nothing, seconds=nothing[:]))
            call = (record.ended - record.begun) / record.calls
            devices = energy_devices(used[record.case])
            watts = [_watts(readings.get(name, []), record.begun, record.ended) for name in devices]
            known = [draw for draw in watts if not isinstance(draw, str)]
            if missing := [draw for draw in watts if isinstance(draw, str)]:
                reasons[record.case] = missing[0]
            else:
                energy.joules[record.launch] = float(f"{sum(known) * call:.{DIGITS}g}")
                energy.seconds[record.launch] = float(f"{call:.{DIGITS}g}")
    return {case: energy for case, energy in energies.items() if any(energy.joules)}, reasons


def idle(lines: Iterable[Line], records: Iterable[Record]) -> dict[str, float]:
    """Return the watts of each device while nothing ran, before the first launch."""
    rests = [record for record in records if isinstance(record, Rested)]
    return {
        device: round(watts, 1)
        for device, readings in _counter_readings(lines).items()
        for rest in rests
        if not isinstance(watts := _watts(readings, rest.ended - SETTLED, rest.ended), str)
    }


def _counter_readings(lines: Iterable[Line]) -> dict[str, list[tuple[float, float]]]:
    """Return by device when its counter was read, and the joules that it showed."""
    readings: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        if isinstance(line, Tick) and ENERGY in line.values:
            at = line.at if line.counted is None else line.counted
            readings.setdefault(line.device, []).append((at, line.values[ENERGY]))
    return readings


def _watts(readings: Iterable[tuple[float, float]], begun: float, ended: float) -> float | str:
    """Return the mean power in a time, or why the counter does not tell it."""
    inside = sorted(reading for reading in readings if begun <= reading[0] <= ended)
    if not inside or inside[-1][0] - inside[0][0] < LEAST:
        return UNSEEN
    if any(after < before for (_, before), (_, after) in pairwise(inside)):
        return RESET
    (first, before), (last, after) = inside[0], inside[-1]
    return (after - before) / (last - first) if after > before else STILL


def sustained_seconds(
    records: Iterable[Record], case: Identity, launches: int
) -> list[float | None]:
    """Return the seconds of a call in the window of each launch, for cases of accelerators."""
    windows = (r for r in records if isinstance(r, Busy) and r.case == case.fullname)
    seconds = {window.launch: window.seconds / window.calls for window in windows}
    on_cpu = any(name.startswith(CPU) for name in case.devices)
    return [None if on_cpu else seconds.get(launch) for launch in range(launches)]
