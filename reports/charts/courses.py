# SPDX-License-Identifier: MIT
"""What sensors said over a run: how it went, in small charts and in a table."""

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import fmean, median
from typing import NamedTuple

from markupsafe import Markup
from msgspec import UNSET

from frobench.reports.charts.axes import Scale, even_ticks, tick_labels
from frobench.reports.charts.svg import Drawing, Frame, joined
from frobench.reports.findings.select import device_title
from frobench.reports.web.theme import GLYPH, NARROW, WIDE, Form, colour
from frobench.suite.printable import printable
from frobench.suite.stored.types import Run, Telemetry
from frobench.suite.units import format_value

HEIGHT = 204.0
ROOM = 30.0
"""Pixels between the numbers of two launches, at least."""
DASHES = ("", "8 3", "2.5 2.5", "10 3 2.5 3")
"""Kinds of line, so that colour is never alone."""
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

    @property
    def table(self) -> Iterator[tuple[str, str, list[str]]]:
        """The chart in numbers: of each line, and of each launch of it, what `_ends` says."""
        for device, line in self.lines.items():
            yield device, "all", _ends([value for _, value in line], self.unit)
            for begun, points in groupby(line, lambda point: bisect(self.launches, point[0])):
                if begun:
                    yield device, str(begun), _ends([value for _, value in points], self.unit)


class Sensors(NamedTuple):
    """What a page says of the sensors.

    drawn : courses, each for a desk and for a telephone
    rows : device, quantity, and its least, median and greatest value, or why there are none
    held_back : device, what held its clock back, and in what part of the run
    cost : what sampling took of a core
    """

    drawn: list[tuple[SensorSeries, Markup, Markup]]
    rows: list[tuple[str, str, list[str]]]
    held_back: list[tuple[str, str, str]]
    cost: str


def sensors(run: Run) -> Sensors | None:
    """Return what sensors said during a run; nothing for runs that asked none."""
    telemetry = run.frobench.telemetry
    if telemetry is UNSET:
        return None
    held_back = [
        (
            device_name(run, telemetry, device),
            reason,
            format_value(fmean(known), "1", 2),
        )
        for device, reasons in telemetry.held_back.items()
        for reason, parts in reasons.items()
        if (known := [part for part in parts if part is not None])
    ]
    drawn = [(one, draw(one, WIDE), draw(one, NARROW)) for one in courses(run, telemetry)]
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


def draw(course: SensorSeries, form: Form) -> Markup:
    """Return a course as an inline SVG element."""
    values = [value for line in course.lines.values() for _, value in line]
    room = max(0.1 * (max(values) - min(values)), 0.02 * max(values), 1e-9)
    low, high = max(0.0, min(values) - room), max(values) + room
    labels = tick_labels(even_ticks(low, high, 4), course.unit).labels
    left = 10 + GLYPH * max(map(len, labels.values()))
    frame = Frame(left, form.width - 16, 22, HEIGHT - 46)
    drawing = Drawing(form.width, HEIGHT, frame)
    y = Scale(low, high, frame.bottom, frame.top)
    moments = [moment for line in course.lines.values() for moment, _ in line]
    begun, ended = min([*moments, *course.launches]), max(moments)
    x = Scale(begun, max(ended, begun + 1e-9), frame.left, frame.right)
    drawing.heights(y, labels)
    times = tick_labels(even_ticks(begun, ended, form.x_labels // 2), "s").labels
    drawing.along(x, times, "time of the run")
    last = -math.inf
    for number, moment in enumerate(course.launches, start=1):
        at = x(moment)
        drawing.line(joined([(at, frame.top), (at, frame.bottom)]), "muted", 0.8, dashes="1 3")
        if at - last > ROOM:
            drawing.text(f"launch {number}" if number == 1 else f"{number}", at, frame.top - 6)
            last = at + (ROOM if number == 1 else 0)
    for index, (device, line) in enumerate(course.lines.items()):
        places = [(x(moment), y(value)) for moment, value in line]
        path = joined(places if len(places) > 1 else 2 * places)
        dashes, title = DASHES[index % len(DASHES)], course.outline(device)
        drawing.line(path, colour(index), 1.6, dashes=dashes, title=title)
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
