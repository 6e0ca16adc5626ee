# SPDX-License-Identifier: MIT
"""The energy of cases and the power of idle devices, from the readings of energy counters."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from frobench.suite.journal import Busy, Record, Rested
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.machine.sensors.sensor import ENERGY
from frobench.suite.run.telemetry import Line, Reading
from frobench.suite.stored.types import Energy

SUSTAINED = "sustained"
"""The part of a case's numbers that holds the seconds of a call in a window."""
LEAST = 1.5
"""Seconds between the first and the last reading of a window, at least."""
REST, SETTLED = 3.3, 2.0
"""Seconds without any work before the first launch, where there is a counter; and those at their
end that count, since devices need a while to slow down."""
DIGITS = 6
UNSEEN = f"the counter did not count, or was not read for {LEAST} s, while its case was repeated"
"""Why a case that was chosen has no energy."""


def energy_devices(devices: Iterable[str]) -> list[str]:
    """Return the whole devices whose energy is a case's: accelerators where there are any."""
    whole = list(dict.fromkeys(name.partition("/")[0] for name in devices))
    return [name for name in whole if name != CPU] or whole


def energy_of_cases(
    lines: Iterable[Line],
    records: Iterable[Record],
    used: Mapping[str, Iterable[str]],
    launches: int,
) -> dict[str, Energy]:
    """Return what the calls of cases cost, launch by launch, as far as counters show it.

    used : the devices of each case
    """
    readings = _counter_readings(lines)
    energies: dict[str, Energy] = {}
    for record in records:
        if isinstance(record, Busy) and record.case in used and record.launch < launches:
            nothing: list[float | None] = [None] * launches
            energy = energies.setdefault(record.case, Energy(joules=nothing, seconds=nothing[:]))
            call = (record.ended - record.begun) / record.calls
            devices = energy_devices(used[record.case])
            watts = [_watts(readings.get(name, []), record.begun, record.ended) for name in devices]
            if all(watts):
                joules = sum(draw or 0.0 for draw in watts) * call
                energy.joules[record.launch] = float(f"{joules:.{DIGITS}g}")
                energy.seconds[record.launch] = float(f"{call:.{DIGITS}g}")
    return {case: energy for case, energy in energies.items() if any(energy.joules)}


def idle_watts(lines: Iterable[Line], records: Iterable[Record]) -> dict[str, float]:
    """Return the watts of each device while nothing ran, before the first launch."""
    rests = [record for record in records if isinstance(record, Rested)]
    return {
        device: round(watts, 1)
        for device, readings in _counter_readings(lines).items()
        for rest in rests
        if (watts := _watts(readings, rest.ended - SETTLED, rest.ended))
    }


def _counter_readings(lines: Iterable[Line]) -> dict[str, list[tuple[float, float]]]:
    """Return by device when its counter was read, and the joules that it showed."""
    readings: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        if isinstance(line, Reading) and ENERGY in line.values:
            at = line.at if line.counted is None else line.counted
            readings.setdefault(line.device, []).append((at, line.values[ENERGY]))
    return readings


def _watts(readings: Iterable[tuple[float, float]], begun: float, ended: float) -> float | None:
    """Return the mean power in a time, if the counter shows it."""
    inside = sorted(reading for reading in readings if begun <= reading[0] <= ended)
    if not inside or inside[-1][0] - inside[0][0] < LEAST:
        return None
    (first, before), (last, after) = inside[0], inside[-1]
    is_reset = any(after < before for (_, before), (_, after) in pairwise(inside))
    return None if is_reset or after == before else (after - before) / (last - first)
