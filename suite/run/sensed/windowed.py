# SPDX-License-Identifier: MIT
"""Which cases a launch repeats for seconds behind all others (see `suite.measure.energy_window`).

For what their calls cost in energy, and on an accelerator for the rate that it sustains: samples
follow a rest and show the burst, and a chip that its power limits becomes slower within tenths
of a second.
"""

from collections.abc import Mapping, Sequence

from suite.journal.records import Busy, Identity, Measured, Record
from suite.machine.sensors.cpu import CPU
from suite.measure.energy_window import SECONDS
from suite.profiles import limits_of
from suite.run.forecast.costs import choose_case_seconds, launch_seconds, launch_share
from suite.run.sensed import energy
from suite.stored.run import Settings

PART = 0.1
"""The part of a launch that windows for sustained rates may take."""
SUSTAINED = "sustained"
"""The part of a case's numbers that holds the seconds of a call in a window."""


def choose_windows(
    ran: Sequence[tuple[Identity, Measured]],
    counters: Mapping[str, str | None],
    settings: Settings,
    startup: float,
    spent: float,
) -> tuple[list[str], energy.Choice]:
    """Choose the cases for sustained rates and for energy, as far as the launches have room.

    counters : by device `None`, or why it does not count its energy
    startup, spent : seconds before a launch's first case, and of the run so far
    """
    records = [record for _, record in ran]
    limits = limits_of(settings.profile, settings.devices)
    least = launch_seconds(records, startup, limits.least_case_seconds)
    room = max(0.0, launch_share(settings, spent) - least)

    def fits(windows: int) -> bool:
        seconds = windows * SECONDS
        each = choose_case_seconds(records, settings, startup + seconds, spent)
        return seconds <= min(room, PART * launch_seconds(records, startup + seconds, each))

    names = _by_rate(ran)
    while not fits(len(names)):
        names.pop()
    return names, energy.choose(ran, counters, settings, room, names)


def _by_rate(ran: Sequence[tuple[Identity, Measured]]) -> list[str]:
    """Return the largest headline product of each kind on an accelerator, the fastest first."""
    largest: dict[tuple[str, object], tuple[float, float, str]] = {}
    for case, record in ran:
        work, (first, *others) = record.work, case.devices or [CPU]
        if not case.headline or others or first.startswith(CPU) or not record.in_a_row:
            continue
        if work.flops and work.bytes and not work.items:
            kind = case.function, case.params.get("dtype")
            candidate = (work.flops, work.flops / min(record.samples), case.fullname)
            largest[kind] = max(largest.get(kind, candidate), candidate)
    return [name for *_, name in sorted(largest.values(), key=lambda entry: -entry[1])]


def sustained_seconds(
    records: Sequence[Record], case: Identity, launches: int
) -> list[float | None]:
    """Return the seconds of a call in the window of each launch, for cases of accelerators."""
    by_launch: list[float | None] = [None] * launches
    if any(name.startswith(CPU) for name in case.devices):
        return by_launch
    for record in records:
        if isinstance(record, Busy) and record.case == case.fullname and record.launch < launches:
            by_launch[record.launch] = record.seconds / record.calls
    return by_launch
