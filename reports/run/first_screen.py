# SPDX-License-Identifier: MIT
"""The first screen of a run's page: one sentence, the axes, the roofline, and the line of trust."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from reports.charts import screen
from reports.charts.screen import Bar
from reports.findings.roofline import Roofline
from reports.run.normal import OUTSIDE, Row
from reports.run.rows import exercise_id
from reports.summary import axis_words
from reports.summary.device_axes import Axis, DeviceAxes, Name
from reports.summary.short import PRECISIONS, precisions
from reports.summary.views import Marks, doubt_counts, doubtful
from reports.table.facts import machine_title
from reports.web.render import moment
from suite import checks
from suite.compare.alike import faults
from suite.stored.names import is_cpu
from suite.stored.run import Estimate, Run
from suite.terminal.answers import NOT_CONCLUSIVE
from suite.units import (
    counted,
    format_capacity,
    format_estimate,
    format_point,
    format_value,
    prefixed,
)

MOST = 4
"""Axes that have room."""
OVERHEADS: tuple[Name, ...] = ("overhead", "read_back")
BESIDE: tuple[tuple[Name, ...], ...] = (("memory",), OVERHEADS, ("link_to_device",))
"""Axes beside compute that the first screen shows, in their order; of several the first that was
measured."""
UNKNOWN, NOT_MEASURED = "unknown", "not measured"


@dataclass(frozen=True)
class AxisRow:
    """An axis as the page shows it.

    Parameters
    ----------
    figure, unit
        The number alone, and its unit with a prefix.
    note
        Its interval, its part of the datasheet, and how it was made.
    place
        Of the exercise that it is from, on the page.
    """

    title: str
    figure: str
    unit: str
    note: str
    bar: Markup
    place: str
    marks: tuple[str, ...]


@dataclass(frozen=True)
class FirstScreen:
    """What a reader sees first.

    Parameters
    ----------
    lead
        The figures in one sentence.
    others
        How many other runs of the device there are, in words; empty where there is none.
    sheet
        Whether any axis has a datasheet's mark.
    roof_title, roof_subtitle, roof
        What the roofline says, in which units, and its drawing; empty where there is none.
    trust
        How many cases failed or are doubtful; empty where none is.
    failed
        Whether any case failed.
    counts
        How many failed, if none did, and how many cannot be true.
    """

    title: str
    facts: list[tuple[str, str]]
    lead: str
    axes: list[AxisRow]
    others: str
    sheet: bool
    roof_title: str
    roof_subtitle: str
    roof: Markup
    trust: str
    failed: bool
    counts: str


def first_screen(  # noqa: PLR0913, PLR0917 - one for each thing that it is made of
    run: Run,
    own: DeviceAxes,
    roofs: Sequence[Roofline],
    beside: Sequence[Row],
    marks: Marks,
    price: str,
) -> FirstScreen:
    """Return what a reader sees first.

    Parameters
    ----------
    own
        The axes of the run's device, beside those of other runs.
    price
        What the device costs, with its date; empty where that is not known.
    """
    shown = _shown(own)
    mine = next((one for one in roofs if one.device == own.place), None)
    most = max((len(one.others) for one in shown), default=0)
    return FirstScreen(
        title=_title(run, own),
        facts=[*_facts(run, own, price)],
        lead=" ".join([*_lead(own, shown, beside), *_errors(run)]),
        axes=[_row(run, own, one, shown, marks) for one in shown],
        others=f"{counted(most, 'other run')} of this device" if most else "",
        sheet=any(one.sheet is not None for one in shown),
        roof_title=precisions(mine.plot.result) if mine else "",
        roof_subtitle=_roof_subtitle(mine) if mine else "",
        roof=_roof(mine, own) if mine else Markup(),
        trust=", ".join(doubt_counts(run, marks)),
        failed=any(outcome.status == "failed" for outcome in run.frobench.outcomes),
        counts=_counts(run),
    )


def _shown(own: DeviceAxes) -> list[Axis]:
    """Choose the axes that have room: of a CPU a second precision, and no link."""
    compute = [one for one in own.axes if one.name == "compute"]
    first = compute[:1]
    if is_cpu(own.place):
        first += [one for one in compute[1:] if one.precision == "float32"]
    known = ([axis for name in names if (axis := own.axis(name))] for names in BESIDE)
    return [*first, *(axes[0] for axes in known if axes and _is_positive(axes[0]))][:MOST]


def _is_positive(axis: Axis) -> bool:
    """Tell whether a difference of times is conclusively more than nothing, as a bar needs it."""
    low = axis.value.low
    return (axis.value.value if low is None else low) > 0


def _title(run: Run, own: DeviceAxes) -> str:
    """Name the devices that were measured, or the CPU with its cores."""
    title = machine_title(run)
    return title if is_cpu(own.place) else title.rpartition(" + ")[0] or own.device


def _facts(run: Run, own: DeviceAxes, price: str) -> Iterator[tuple[str, str]]:
    yield "Memory", format_capacity(own.memory_bytes) if own.memory_bytes else UNKNOWN
    yield "Power", _power(own)
    yield "Price", price or UNKNOWN
    yield "Measured", moment(run.datetime).partition(",")[0]
    yield "torch", run.frobench.environment.software.torch
    if not is_cpu(own.place):
        yield "Host", machine_title(run).rpartition(" + ")[2]


def _power(own: DeviceAxes) -> str:
    limit = f"limit {format_value(own.limit_watts, 'W')}" if own.limit_watts else ""
    if own.watts:
        return f"{format_point(own.watts, 'W')}{f' ({limit})' if limit else ''}"
    return f"{NOT_MEASURED} ({limit})" if limit else NOT_MEASURED


def _lead(own: DeviceAxes, shown: Sequence[Axis], beside: Sequence[Row]) -> Iterator[str]:
    """Yield the sentence of the figures, and behind it what is known of the device's kind."""
    if not shown:
        yield "No axis was measured."
    else:
        parts = [one for one in shown if one.part]
        yield f"{', '.join(_spelled(one, named=one in parts[:1]) for one in shown)}."
    if beside:
        outside = [row for row in beside if row.word in OUTSIDE]
        yield (
            f"Not normal for its kind: {precisions(outside[0].name)} {outside[0].word} what others "
            "measured."
            if outside
            else "Normal for its kind: no figure lies outside what others measured."
        )
    if is_cpu(own.place):
        yield "No GPU was measured."


def _errors(run: Run) -> Iterator[str]:
    """Yield what is wrong with the whole run."""
    for error in faults(run, ""):
        yield f"The whole run has an error, so none of its figures is shown: {error}."


def _spelled(axis: Axis, *, named: bool) -> str:
    """Spell an axis for the sentence, with its interval where that is wide.

    Parameters
    ----------
    named
        Whether to say what a percent is of: once in a sentence is enough.
    """
    value = axis_words.figure(axis)
    if axis.value.is_wide:
        value += f" ({NOT_CONCLUSIVE})"
    of = " of the link" if axis.name.startswith("link") else " of the datasheet" if named else ""
    part = f" ({format_point(axis.part, '1')}{of})" if axis.part else ""
    what = {
        "compute": f" {PRECISIONS.get(axis.precision, axis.precision)}",
        "memory": " memory",
        "overhead": " per operation",
        "read_back": " per value read back",
        "link_to_device": " to the device",
    }.get(axis.name, "")
    return f"{value}{what}{part}"


def _row(run: Run, own: DeviceAxes, axis: Axis, shown: Sequence[Axis], marks: Marks) -> AxisRow:
    groups = {case.fullname: case.group for case in run.benchmarks}
    number, _, unit = axis_words.figure(axis).rpartition(" ")
    title, note = axis_words.title(axis), axis_words.note(own, axis)
    longest = max(
        (one.value.high or one.value.value for one in shown if one.name == axis.name), default=0.0
    )
    label = f"{title}: {format_estimate(axis.value, axis.unit)}. {note}"
    bar = Bar(
        axis.value, axis.unit, label, axis.sheet, _sheet(axis), axis.others, axis.lower_is_better
    )
    return AxisRow(
        title,
        number,
        unit,
        note,
        screen.bar(bar, longest),
        exercise_id(groups.get(axis.cases[0], "")) if axis.cases else "answers",
        doubtful(axis.cases, marks),
    )


def _sheet(axis: Axis) -> str:
    """Name a datasheet's mark with its value."""
    if axis.sheet is None:
        return ""
    factor, _ = prefixed(axis.value.value, axis.unit)
    name = "link" if axis.name.startswith("link") else "datasheet"
    return f"{name} {format_value(axis.sheet / factor, '')}"


def _roof_subtitle(found: Roofline) -> str:
    _, unit = prefixed(_most(found), found.plot.y.unit)
    return f"Roofline, {unit} by FLOP per byte, ceilings in bursts. One point per product."


def _most(found: Roofline) -> float:
    """Return the highest ceiling of a roofline."""
    return max(line.points[-1].y.value for line in found.plot.lines)


def _roof(found: Roofline, own: DeviceAxes) -> Markup:
    """Draw a roofline with the values of its ceilings, all in the unit of the highest."""
    names = {
        series.label: f"{PRECISIONS.get(series.label, series.label)} "
        + _in_unit(line.points[-1].y, found.plot.y.unit, _most(found))
        for series, line in zip(found.plot.series, found.plot.lines, strict=True)
    }
    memory = own.axis("memory")
    slope = f"memory {format_point(memory.value, memory.unit)}" if memory else "memory"
    return screen.roofline(found.plot, names, slope)


def _in_unit(value: Estimate, unit: str, most: float) -> str:
    """Spell a number without its unit, with the prefix that another one has and its own digits."""
    number = format_point(value, unit).rpartition(" ")[0].replace(",", "")
    half = ((value.high or 0.0) - (value.low or 0.0)) / 2
    own, _ = prefixed(max(value.value, half), unit)
    shown, _ = prefixed(most, unit)
    return f"{Decimal(number).scaleb(round(math.log10(own / shown))):f}"


def _counts(run: Run) -> str:
    """Say of what there is none, or how many cases cannot be true."""
    failed = sum(outcome.status == "failed" for outcome in run.frobench.outcomes)
    errors = [one for one in run.frobench.conclusions if one.severity == "error"]
    wrong = len({one.case for one in errors if one.case and one.code not in checks.REPORTED})
    return ", ".join([*([] if failed else ["0 failed"]), f"{wrong} implausible"])
