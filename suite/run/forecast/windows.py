# SPDX-License-Identifier: MIT
"""Which cases every launch repeats for seconds, for their energy and for rates that a GPU sustains.

These windows follow all other cases of a launch (see `suite.measure.sampling`), as far as it has
room for them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from frobench.suite.journal.records import Identity, Measured
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.profiles import PROFILES, WINDOW_SECONDS, limits_of
from frobench.suite.run.forecast.costs import choose_case_seconds, launch_seconds, launch_share
from frobench.suite.run.sensed.energy import energy_devices
from frobench.suite.stored.run import Settings
from frobench.suite.units import counted

PART, SUSTAINED_PART = 0.2, 0.1
"""The part of the budget for windows, and the part of a launch for those of sustained rates."""
NO_TIME = f"cases with more work take the {PART:.0%} of the budget that is for it"
PAUSED = "something is done between two calls of it"
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
    for device in energy_devices(case.devices):
        if (reason := reasons.get(device, "nothing reads it")) is not None:
            return f"{device} counts no energy: {reason}"
    return None if record.in_a_row else PAUSED
