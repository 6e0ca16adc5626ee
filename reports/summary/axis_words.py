# SPDX-License-Identifier: MIT
"""Axes in words: the same on the page and in a terminal."""

from frobench.reports.summary.device_axes import Axis, DeviceAxes, Name
from frobench.reports.summary.short import PRECISIONS
from frobench.suite.stored.differences import is_cpu
from frobench.suite.terminal.answers import NOT_CONCLUSIVE
from frobench.suite.units import counted, format_ends, format_estimate, format_point

TITLES: dict[Name, str] = {
    "compute": "Compute",
    "memory": "Memory",
    "overhead": "Overhead per operation",
    "read_back": "Overhead per value read back",
    "link_to_device": "Link, to the device",
    "link_to_host": "Link, to the host",
}
LOWER = "lower is better"


def title(axis: Axis) -> str:
    """Name an axis, of compute with its precision."""
    name = TITLES[axis.name]
    return f"{name}, {PRECISIONS.get(axis.precision, axis.precision)}" if axis.precision else name


def figure(axis: Axis) -> str:
    """Spell the number alone, or both ends of an interval wider than a factor of two."""
    spell = format_ends if axis.value.is_wide else format_point
    return spell(axis.value, axis.unit)


def note(own: DeviceAxes, axis: Axis) -> str:
    """Spell the interval, the part of the datasheet, and how the number was made."""
    _, has_ends, text = format_estimate(axis.value, axis.unit).partition(" [")
    none = f"no interval: {counted(axis.value.launches, 'launch')}"
    ends = text.removesuffix("]").replace(", ", " to ") if has_ends else none
    shown = [remark for remark in remarks(own, axis) if remark != LOWER]  # the bar says it
    return ", ".join([NOT_CONCLUSIVE if axis.value.is_wide else ends, *shown])


def remarks(own: DeviceAxes, axis: Axis) -> list[str]:
    """Spell the part of the datasheet, and how the number was made."""
    linked = axis.name.startswith("link")
    of = "link" if linked else "datasheet"
    known = [
        "pinned" if linked else "",
        f"{format_point(axis.part, '1')} of the {of}" if axis.part else "",
        LOWER if axis.lower_is_better else "",
        "" if is_cpu(own.place) and axis.lower_is_better else axis.basis,
    ]
    return [one for one in known if one]
