# SPDX-License-Identifier: MIT
"""What sensors said over a run: how it went, in small charts and in a table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import NamedTuple

from markupsafe import Markup
from msgspec import UNSET

from frobench.reports.charts.axes import Scale, even_ticks, tick_labels
from frobench.reports.charts.plots import BELOW, frame
from frobench.reports.charts.svg import Fluid
from frobench.reports.findings.select import device_title
from frobench.reports.web.theme import kind
from frobench.suite.printable import printable
from frobench.suite.stored.types import Run, Telemetry
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
NAMES = DRAWN | {
    "memory_clock_hz": "Memory clock",
    "utilization": "Utilisation",
    "fan": "Fan",
    "load": "Load of the system",
    "pcie_replays": "PCIe packets sent again",
    "energy_joules": "Energy",
    "held_back": "What holds the clock back",
}
COUNTERS = ("pcie_replays", "energy_joules")
UNITS = {"hz": "Hz", "watts": "W", "celsius": "\N{DEGREE SIGN}C", "joules": "J"}
FRACTIONS = ("fan", "utilization")


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
        least, _, most = _ends([value for _, value in self.lines[device]], self.unit)
        return f"{printable(device)}: {least} to {most}"


class Sensors(NamedTuple):
    """What a page says of the sensors.

    drawn : courses with their drawings
    rows : device, quantity, and its least, median and greatest value, or why there are none
    held_back : device, what held its clock back, and in what part of the run
    cost : what sampling took of a core
    """

    drawn: list[tuple[SensorSeries, Markup]]
    rows: list[tuple[str, str, list[str]]]
    held_back: list[tuple[str, str, str]]
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
    return Sensors(drawn, _rows(run, telemetry), held_back, cost)


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
            drawn.append(SensorSeries(title, _unit(quantity), lines, telemetry.launches))
    return drawn


def draw(course: SensorSeries) -> Markup:
    """Return a course as an inline SVG element."""
    values = [value for line in course.lines.values() for _, value in line]
    moments = [moment for line in course.lines.values() for moment, _ in line]
    room = max(0.1 * (max(values) - min(values)), 0.02 * max(values), 1e-9)
    y = Scale(max(0.0, min(values) - room), max(values) + room, HEIGHT - BELOW, TOP)
    begun, ended = min([*moments, *course.launches]), max(moments)
    x = Scale(begun, max(ended, begun + 1e-9), 0, 100)
    drawing = Fluid(HEIGHT)
    heights = tick_labels(even_ticks(y.low, y.high, 4), course.unit)
    times = tick_labels(even_ticks(begun, ended, 4), "s")
    name = ", ".join(filter(None, ("time of the run", times.unit)))
    frame(drawing, y, heights.labels, x, times.labels, name)
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


def _rows(run: Run, telemetry: Telemetry) -> list[tuple[str, str, list[str]]]:
    rows = []
    for device, quantities in sorted(telemetry.series.items()):
        for quantity in sorted(quantities, key=[*NAMES, *quantities].index):
            values = [value for value in quantities[quantity] or () if value is not None]
            title = NAMES.get(quantity, quantity)
            reason = telemetry.unknown.get(f"{device}.{quantity}")
            cells = [f"not known: {reason}"]
            if values and quantity in COUNTERS:
                grown = sum(after - before for before, after in pairwise(values))
                cells = [f"{format_value(grown, _unit(quantity))} more than at first"]
            elif values:
                cells = _ends(values, _unit(quantity))
            rows.append((device_name(run, telemetry, device), title, cells))
    return rows


def _ends(values: Sequence[float], unit: str) -> list[str]:
    return [format_value(value, unit) for value in (min(values), median(values), max(values))]


def device_name(run: Run, telemetry: Telemetry, device: str) -> str:
    """Name a device, by its number too where another one is called the same."""
    title = device_title(run, device)
    titles = [device_title(run, other) for other in telemetry.series]
    return title if titles.count(title) == 1 else f"{title} ({device})"


def _unit(quantity: str) -> str:
    return "1" if quantity in FRACTIONS else UNITS.get(quantity.rpartition("_")[2], "")
