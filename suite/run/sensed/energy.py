# SPDX-License-Identifier: MIT
"""Cases that launches repeat for seconds: the joules of a call, and the rate that a GPU sustains.

These windows follow all other cases of a launch (see `suite.measure.sampling`). The joules of
a call are its time in the window, times the mean power between the first and the last reading of
the counter there: nothing is interpolated. Sensors of some GPUs see a quarter of the time and
average over a second, so a shorter window would show the power of its neighbours.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from suite.journal.records import Busy, Identity, Measured, Record, Rested
from suite.machine.sensors.cpu import CPU
from suite.machine.sensors.sensor import ENERGY
from suite.profiles import PROFILES, WINDOW_SECONDS, limits_of
from suite.run.forecast.costs import choose_case_seconds, launch_seconds, launch_share
from suite.run.sensed.telemetry import Line, Tick
from suite.stored.run import Energy, Settings
from suite.units import counted

PART, SUSTAINED_PART = 0.2, 0.1
"""The part of the budget for windows, and the part of a launch for those of sustained rates."""
SUSTAINED = "sustained"
"""The part of a case's numbers that holds the seconds of a call in a window."""
LEAST = 1.5
"""Seconds between the first and the last reading of a window, at least."""
REST, SETTLED = 3.3, 2.0
"""Seconds without any work before the first launch, where there is a counter; and those at their
end that count, since devices need a while to slow down."""
DIGITS = 6
NO_TIME = f"cases with more work take the {PART:.0%} of the budget that is for it"
PAUSED = "something is done between two calls of it"
UNSEEN = f"no launch read the counter for {LEAST} s meanwhile"
"""Why a case's calls have no energy."""


class Choice(NamedTuple):
    """Cases whose energy every launch measures, and why not that of other headline cases."""

    cases: list[str]
    left_out: dict[str, str]

    def summary(self) -> str:
        """Return a line for the terminal."""
        reasons = Counter(self.left_out.values()).most_common()
        why = "; ".join(f"{reason} ({counted(many, 'case')})" for reason, many in reasons)
        if not self.cases:
            return f"no energy is measured: {why or 'no headline case is'}"
        others = f", and not of others: {why}" if why else ""
        return f"energy is measured of {counted(len(self.cases), 'case')}{others}"


def choose_windows(
    ran: Sequence[tuple[Identity, Measured]],
    why_no_counter: Mapping[str, str | None],
    settings: Settings,
    startup: float,
    spent: float,
) -> tuple[list[str], Choice]:
    """Choose the cases for sustained rates and for energy, as far as the launches have room.

    why_no_counter : by device why it does not count its energy, `None` if it does
    startup, spent : seconds before a launch's first case, and of the run so far
    """
    records = [record for _, record in ran]
    limits = limits_of(settings.profile, settings.devices)
    least = launch_seconds(records, startup, limits.least_case_seconds)
    room = max(0.0, launch_share(settings, spent) - least)

    def fits(windows: int) -> bool:
        seconds = windows * WINDOW_SECONDS
        case_seconds = choose_case_seconds(records, settings, startup + seconds, spent)
        launch = launch_seconds(records, startup + seconds, case_seconds)
        return seconds <= min(room, SUSTAINED_PART * launch)

    names = _by_rate(ran)
    while not fits(len(names)):
        names.pop()
    return names, choose_for_energy(ran, why_no_counter, settings, room, names)


def _by_rate(ran: Sequence[tuple[Identity, Measured]]) -> list[str]:
    """Return the largest headline product of each kind on an accelerator, the fastest first."""
    largest: dict[tuple[str, object], tuple[float, float, str]] = {}
    for case, record in ran:
        work, (first, *others) = record.work, case.devices
        if not case.headline or others or first.startswith(CPU) or not record.in_a_row:
            continue
        if work.flops and work.bytes and not work.items:
            kind = case.function, case.params.get("dtype")
            candidate = (work.flops, work.flops / min(record.samples), case.fullname)
            largest[kind] = max(largest.get(kind, candidate), candidate)
    return [name for *_, name in sorted(largest.values(), key=lambda entry: -entry[1])]


def choose_for_energy(
    ran: Sequence[tuple[Identity, Measured]],
    why_no_counter: Mapping[str, str | None],
    settings: Settings,
    room: float = math.inf,
    first: Sequence[str] = (),
) -> Choice:
    """Choose the headline cases with most work that can have a value, `first` before all others.

    room : seconds of a launch that are left for windows
    """
    able, left_out = [], {}
    for case, record in ran:
        if case.headline and (reason := _unable(case, record, why_no_counter)):
            left_out[case.fullname] = reason
        elif case.headline:
            work = record.work.flops or 0.0, record.work.bytes or 0.0
            able.append((case.fullname in first, *work, case.fullname))
    launches = settings.launches or PROFILES[settings.profile].launches
    most = int(min(PART * settings.budget / launches, room) / WINDOW_SECONDS)
    names = [name for *_, name in sorted(able, reverse=True)]
    return Choice(names[:most], left_out | dict.fromkeys(names[most:], NO_TIME))


def _unable(case: Identity, record: Measured, reasons: Mapping[str, str | None]) -> str | None:
    """Return why the energy of a case cannot be measured, if so."""
    for device in _energy_devices(case.devices):
        if (reason := reasons.get(device, "nothing reads it")) is not None:
            return f"{device} counts no energy: {reason}"
    return None if record.in_a_row else PAUSED


def _energy_devices(devices: Iterable[str]) -> list[str]:
    """Return the whole devices whose energy is a case's: accelerators where there are any."""
    whole = list(dict.fromkeys(name.partition("/")[0] for name in devices))
    return [name for name in whole if name != CPU] or whole


def of_cases(
    lines: Iterable[Line],
    records: Iterable[Record],
    used: Mapping[str, Iterable[str]],
    launches: int,
) -> dict[str, Energy]:
    """Return what the calls of each case cost, launch by launch; `used` are its devices."""
    readings = _counter_readings(lines)
    energies: dict[str, Energy] = {}
    for record in records:
        if isinstance(record, Busy) and record.case in used and record.launch < launches:
            nothing: list[float | None] = [None] * launches
            energy = energies.setdefault(record.case, Energy(joules=nothing, seconds=nothing[:]))
            call = (record.ended - record.begun) / record.calls
            devices = _energy_devices(used[record.case])
            watts = [_watts(readings.get(name, []), record.begun, record.ended) for name in devices]
            known = [draw for draw in watts if draw is not None]
            if len(known) == len(devices):
                energy.joules[record.launch] = float(f"{sum(known) * call:.{DIGITS}g}")
                energy.seconds[record.launch] = float(f"{call:.{DIGITS}g}")
    return energies


def is_measured(spent: Mapping[str, Energy], case: str) -> bool:
    """Tell whether any launch saw what a case costs."""
    return case in spent and any(joules is not None for joules in spent[case].joules)


def idle(lines: Iterable[Line], records: Iterable[Record]) -> dict[str, float]:
    """Return the watts of each device while nothing ran, before the first launch."""
    rests = [record for record in records if isinstance(record, Rested)]
    return {
        device: round(watts, 1)
        for device, readings in _counter_readings(lines).items()
        for rest in rests
        if (watts := _watts(readings, rest.ended - SETTLED, rest.ended)) is not None
    }


def _counter_readings(lines: Iterable[Line]) -> dict[str, list[tuple[float, float]]]:
    """Return by device when its counter was read, and the joules that it showed."""
    readings: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        if isinstance(line, Tick) and ENERGY in line.values:
            at = line.at if line.counted is None else line.counted
            readings.setdefault(line.device, []).append((at, line.values[ENERGY]))
    return readings


def _watts(readings: Iterable[tuple[float, float]], begun: float, ended: float) -> float | None:
    """Return the mean power in a time, if the counter was read for long enough in it."""
    inside = sorted(reading for reading in readings if begun <= reading[0] <= ended)
    if not inside or inside[-1][0] - inside[0][0] < LEAST:
        return None
    (first, before), (last, after) = inside[0], inside[-1]
    return (after - before) / (last - first)


def sustained_seconds(
    records: Iterable[Record], case: Identity, launches: int
) -> list[float | None]:
    """Return the seconds of a call in the window of each launch, for cases of accelerators."""
    windows = (r for r in records if isinstance(r, Busy) and r.case == case.fullname)
    seconds = {window.launch: window.seconds / window.calls for window in windows}
    on_cpu = any(name.startswith(CPU) for name in case.devices)
    return [None if on_cpu else seconds.get(launch) for launch in range(launches)]
