# SPDX-License-Identifier: MIT
"""What sensors said over a run, in small charts, and what calls cost in joules."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from markupsafe import Markup
from msgspec import UNSET

from frobench.reports.charts.axes import Scale, even_ticks, tick_labels
from frobench.reports.charts.plots import BELOW, frame
from frobench.reports.charts.svg import Fluid
from frobench.reports.findings import peaks
from frobench.reports.findings.select import device_title
from frobench.reports.summary.views import Cell, Marks, label, name
from frobench.reports.web.theme import kind
from frobench.suite.printable import printable
from frobench.suite.statistics import estimate
from frobench.suite.stored.machine_identity import function_of
from frobench.suite.stored.types import Case, Energy, Run, Telemetry
from frobench.suite.units import format_value

HEIGHT, TOP = 204, 20
"""Pixels: of a drawing, and above its frame."""
ROOM = 9.0
"""Percent of the width between the numbers of two launches, at least."""
CPU_CLOCK = "clock_hz"
DRAWN = {
    "sm_clock_hz": "Clock",
    CPU_CLOCK: "Clock of the processor",
    "power_watts": "Power",
    "mean_power_watts": "Power, mean of a second",
    "temperature_celsius": "Temperature",
}
"""Quantities worth a chart; the processor's clock where there is no other."""
UNITS = {"hz": "Hz", "watts": "W", "celsius": "\N{DEGREE SIGN}C"}


@dataclass(frozen=True)
class SensorSeries:
    """A quantity over the time of the run, a line for each device.

    lines : by device, moments in seconds since the run began, and values
    launches : when launches began
    """

    title: str
    unit: str
    lines: dict[str, list[tuple[float, float]]]
    launches: list[float]

    def outline(self, device: str) -> str:
        """Say where one line goes."""
        values = [value for _, value in self.lines[device]]
        least, most = (format_value(end, self.unit) for end in (min(values), max(values)))
        return f"{printable(device)}: {least} to {most}"


class Sensors(NamedTuple):
    """What a page says of the sensors.

    drawn : courses with their drawings
    held_back : device, what held its clock back, and in what part of the run
    unknown : why quantities were not read, by device and quantity
    cost : what sampling took of a core
    """

    drawn: list[tuple[SensorSeries, Markup]]
    held_back: list[tuple[str, str, str]]
    unknown: dict[str, str]
    cost: str


def sensors(run: Run) -> Sensors | None:
    """Return what sensors said during a run; nothing for runs that asked none."""
    telemetry = run.frobench.telemetry
    if telemetry is UNSET:
        return None
    held_back = [
        (device_name(run, telemetry, device), reason, format_value(fmean(known), "1", 2))
        for device, reasons in telemetry.held_back.items()
        for reason, parts in reasons.items()
        if (known := [part for part in parts if part is not None])
    ]
    drawn = [(one, draw(one)) for one in courses(run, telemetry)]
    cost = format_value(telemetry.cost, "1", 2)
    return Sensors(drawn, held_back, telemetry.unknown, cost)


def courses(run: Run, telemetry: Telemetry) -> list[SensorSeries]:
    """Return the quantities worth a chart."""
    accelerated = any("sm_clock_hz" in quantities for quantities in telemetry.series.values())
    drawn = []
    for quantity, title in DRAWN.items():
        if quantity == CPU_CLOCK and accelerated:
            continue
        lines = {
            device_name(run, telemetry, device): [
                (telemetry.begun + (index + 0.5) * telemetry.step, value)
                for index, value in enumerate(quantities.get(quantity) or ())
                if value is not None
            ]
            for device, quantities in telemetry.series.items()
        }
        lines = {device: points for device, points in lines.items() if points}
        if lines:
            unit = UNITS[quantity.rpartition("_")[2]]
            drawn.append(SensorSeries(title, unit, lines, telemetry.launches))
    return drawn


def draw(course: SensorSeries) -> Markup:
    """Return a course as an inline SVG element."""
    values = [value for line in course.lines.values() for _, value in line]
    moments = [moment for line in course.lines.values() for moment, _ in line]
    room = max(0.1 * (max(values) - min(values)), 0.02 * max(values))
    y = Scale(max(0.0, min(values) - room), max(values) + room, HEIGHT - BELOW, TOP)
    begun, ended = min([*moments, *course.launches]), max(moments)
    x = Scale(begun, ended, 0, 100)
    drawing = Fluid(HEIGHT)
    heights = tick_labels(even_ticks(y.low, y.high, 4), course.unit)
    times = tick_labels(even_ticks(begun, ended, 4), "s")
    below = ", ".join(filter(None, ("time of the run", times.unit)))
    frame(drawing, (y, heights.labels), (x, times.labels), below)
    drawing.text(0, TOP - 6, heights.unit, anchor="end", dx=-7)
    last = -math.inf
    for number, moment in enumerate(course.launches, start=1):
        at = x(moment)
        drawing.line([(at, TOP), (at, HEIGHT - BELOW)], "launch")
        if at - last > ROOM:
            drawing.text(at, TOP - 6, f"launch {number}" if number == 1 else f"{number}")
            last = at + (ROOM if number == 1 else 0)
    for index, (device, line) in enumerate(course.lines.items()):
        places = [(x(moment), y(value)) for moment, value in line]
        shown = places if len(places) > 1 else 2 * places
        drawing.path(shown, f"k{kind(index)} d{index % 4}", course.outline(device))
    words = "; ".join(map(course.outline, course.lines))
    return drawing.svg(f"{course.title} over the run. {words}.")


def device_name(run: Run, telemetry: Telemetry, device: str) -> str:
    """Name a device, by its number too where another one is called the same."""
    title = device_title(run, device)
    titles = [device_title(run, other) for other in telemetry.series]
    return title if titles.count(title) == 1 else f"{title} ({device})"


class EnergyRow:
    """A case whose energy was measured.

    work : FLOP for each joule, or bytes: its rate for each watt
    """

    def __init__(self, run: Run, case: Case, energy: Energy, marks: Marks) -> None:
        both = zip(energy.joules, energy.seconds, strict=True)
        calls = [(joules, seconds) for joules, seconds in both if joules and seconds]

        def cell(values: list[float], unit: str) -> Cell:
            return Cell(estimate(values), unit, (case.fullname,), marks)

        self.function, self.parameters = function_of(case.fullname), label(run, case.params)
        self.joules = cell([joules for joules, _ in calls], "J")
        self.watts = cell([joules / seconds for joules, seconds in calls], "W")
        work = case.extra_info.work
        amount, unit = (work.flops, "FLOP") if work.flops else (work.bytes, "B")
        self.work = cell([amount / joules for joules, _ in calls], unit) if amount else None


class Spent(NamedTuple):
    """What a page says of energy.

    devices : of each device that counts its energy: its power at rest, and its limit
    left_out : by reason, the headline cases whose energy was not measured
    """

    rows: list[EnergyRow]
    devices: list[str]
    left_out: dict[str, list[str]]


def spent(run: Run, marks: Marks) -> Spent | None:
    """Return what calls cost, or why that is not known; nothing where a run does not say."""
    rows = [
        EnergyRow(run, case, case.extra_info.energy, marks)
        for case in run.benchmarks
        if case.extra_info.energy is not None and any(case.extra_info.energy.joules)
    ]
    reasons = dict(run.frobench.without_energy or {})
    for case in run.benchmarks:
        energy = case.extra_info.energy
        if energy is not None and 0 in energy.joules and not any(energy.joules):
            reasons.setdefault(case.fullname, "the counter did not move")
    left_out: dict[str, list[str]] = {}
    for outcome in run.frobench.outcomes:
        if outcome.fullname in reasons:
            left_out.setdefault(reasons[outcome.fullname], []).append(name(run, outcome))
    devices = [*_at_rest(run)]
    return Spent(rows, devices, left_out) if rows or devices or left_out else None


def _at_rest(run: Run) -> Iterator[str]:
    telemetry = run.frobench.telemetry
    if telemetry is UNSET:
        return
    for device, watts in telemetry.idle_watts.items():
        if watts <= 0:  # the counter did not move, or was reset
            continue
        text = f"{device_name(run, telemetry, device)}: {format_value(watts, 'W')} at rest"
        known = peaks.accelerator(run, device)
        if known and known.power_limit_watts and known.power_limit_default_watts:
            limit = known.power_limit_watts
            part = format_value(limit / known.power_limit_default_watts, "1")
            text += f"; its power limit is {format_value(limit, 'W')}, {part} of its default"
        yield text
