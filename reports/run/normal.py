# SPDX-License-Identifier: MIT
"""Is it normal? The axes of a run beside those of others with the same device.

Others are stored runs that were given to the report and measured before, and figures that were
published elsewhere. Of runs that may be of one machine only the newest counts, and none that may
be of the run's own: a machine agrees with itself. An axis without others is not in the table.
"""

from typing import Literal, NamedTuple

from frobench.reports.summary.device_axes import Axis, DeviceAxes, Name
from frobench.reports.summary.views import Cell, Marks, doubtful
from frobench.suite.datasheets import published
from frobench.suite.datasheets.published import Published
from frobench.suite.units import format_range, format_value

ALLOWANCE = 0.1
"""How far outside the others' range is still near: they measured in other ways."""
OUTSIDE = ("below", "above")
PUBLISHED: dict[Name, str] = {
    "compute": "matmul",
    "memory": "copy_within",
    "link_to_device": "copy_to_device_pinned",
    "link_to_host": "copy_to_host_pinned",
}
"""Axes that others publish too, with their quantity in the table of published figures."""


class Row(NamedTuple):
    """An axis beside the values of other stored runs and those published elsewhere, ascending."""

    axis: Axis
    own: Cell
    published: tuple[Published, ...]

    @property
    def stored_range(self) -> str:
        """The range of other stored runs, and of how many; empty where there is none."""
        return _range(self.axis.elsewhere, self.axis.unit)

    @property
    def published_range(self) -> str:
        """The range of published figures, and of how many; empty where there is none."""
        return _range([one.value for one in self.published], self.axis.unit)

    @property
    def sources(self) -> list[tuple[str, str]]:
        """What each published figure is and how it was measured, and where it is found."""
        texts = (
            (format_value(one.value, one.unit), one.method, one.software, one.as_of)
            for one in self.published
        )
        addresses = (one.address for one in self.published)
        return [*zip((", ".join(filter(None, each)) for each in texts), addresses, strict=True)]

    @property
    def word(self) -> Literal["within", "near", "below", "above"]:
        """Whether the interval is below, near, within or above the others' range."""
        values = [*self.axis.elsewhere, *(one.value for one in self.published)]
        value, least, most = self.axis.value, min(values), max(values)
        low, high = (value.value if end is None else end for end in (value.low, value.high))
        if low <= most and high >= least:
            return "within"
        if low <= most * (1 + ALLOWANCE) and high >= least * (1 - ALLOWANCE):
            return "near"
        return "below" if high < least else "above"


def rows(own: DeviceAxes, marks: Marks) -> list[Row]:
    """Return the axes that others measured too, those outside the others' range first."""
    found = []
    for axis in own.axes:
        quantity = PUBLISHED.get(axis.name, "")
        elsewhere = tuple(published.of(axis.device, quantity, axis.precision))
        if axis.elsewhere or elsewhere:
            cell = Cell(axis.value, axis.unit, doubtful(axis.cases, marks), axis.cases)
            found.append(Row(axis, cell, elsewhere))
    return sorted(found, key=lambda row: row.word not in OUTSIDE)


def _range(values: tuple[float, ...] | list[float], unit: str) -> str:
    return f"{format_range(min(values), max(values), unit)} ({len(values)})" if values else ""
