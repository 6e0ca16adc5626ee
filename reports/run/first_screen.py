# SPDX-License-Identifier: MIT
"""The first screen of a run's page: one sentence, the axes, the roofline, and the line of trust.

Axes are beside those of others with the same device: stored runs that were given to the report and
measured before, and figures that were published elsewhere. Of runs that may be of one machine only
the newest counts, and none that may be of the run's own: a machine agrees with itself.
"""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from frobench.reports.charts import screen
from frobench.reports.charts.axes import interval
from frobench.reports.charts.screen import Bar
from frobench.reports.findings import Section
from frobench.reports.findings.finding import Finding
from frobench.reports.findings.roofline import Roofline
from frobench.reports.making.cache import slug
from frobench.reports.summary import models, short
from frobench.reports.summary.model import Axis, DeviceAxes, Name
from frobench.reports.summary.short import PRECISIONS, precisions
from frobench.reports.summary.views import Cell, Marks, doubt_counts, doubtful
from frobench.reports.table.facts import machine_title
from frobench.reports.web.render import moment
from frobench.suite import checks
from frobench.suite.checks.case_facts import busy
from frobench.suite.compare.matching import faults
from frobench.suite.datasheets import published
from frobench.suite.datasheets.published import Published
from frobench.suite.project import git
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Run
from frobench.suite.terminal.answers import NOT_CONCLUSIVE
from frobench.suite.units import (
    counted,
    format_capacity,
    format_estimate,
    format_point,
    format_range,
    format_value,
    prefixed,
)

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


class BesideOthers:
    """An axis beside the values of other stored runs and those published elsewhere.

    stored_range, published_range : the range of either, and of how many; empty where there is none
    sources : what each published figure is and how it was measured, and where it is found
    word : whether the interval is below, near, within or above the others' range
    """

    def __init__(self, axis: Axis, elsewhere: Sequence[Published], marks: Marks) -> None:
        self.axis, self.own = axis, Cell(axis.value, axis.unit, axis.cases, marks)
        both = axis.elsewhere, [one.value for one in elsewhere]
        self.stored_range, self.published_range = (
            f"{format_range(min(each), max(each), axis.unit)} ({len(each)})" if each else ""
            for each in both
        )
        self.sources = [
            (", ".join(filter(None, (text, one.method, one.software, one.as_of))), one.address)
            for one in elsewhere
            for text in [format_value(one.value, one.unit)]
        ]
        values, (low, high) = [*both[0], *both[1]], interval(axis.value)
        least, most = min(values), max(values)
        near = low <= most * (1 + ALLOWANCE) and high >= least * (1 - ALLOWANCE)
        beyond = "near" if near else "below" if high < least else "above"
        self.word = "within" if low <= most and high >= least else beyond


def beside_others(own: DeviceAxes, marks: Marks) -> list[BesideOthers]:
    """Return the axes that others measured too, those outside the others' range first."""
    found = []
    for axis in own.axes:
        quantity = PUBLISHED.get(axis.name, "")
        elsewhere = tuple(published.of(axis.device, quantity, axis.precision))
        if axis.elsewhere or elsewhere:
            found.append(BesideOthers(axis, elsewhere, marks))
    return sorted(found, key=lambda row: row.word not in OUTSIDE)


BESIDE: tuple[tuple[Name, ...], ...] = (("memory",), ("overhead", "read_back"), ("link_to_device",))
"""Axes beside compute that the first screen shows, in their order; of several the first that was
measured."""
UNKNOWN, NOT_MEASURED = "unknown", "not measured"


class AxisRow:
    """An axis as the page shows it.

    figure, unit : the number alone, and its unit with a prefix
    note : its interval, its part of the datasheet, and how it was made
    place : of the exercise that it is from, on the page
    """

    def __init__(
        self, run: Run, own: DeviceAxes, axis: Axis, shown: Sequence[Axis], marks: Marks
    ) -> None:
        self.title, self.note = axis.title, own.note(axis)
        self.figure, _, self.unit = axis.figure.rpartition(" ")
        self.marks = doubtful(axis.cases, marks)
        groups = {case.fullname: case.group for case in run.benchmarks}
        self.place = exercise_id(groups.get(axis.cases[0], "")) if axis.cases else "answers"
        sheet = "link" if axis.name.startswith("link") else "datasheet"
        label = f"{self.title}: {format_estimate(axis.value, axis.unit)}. {self.note}"
        value, less = axis.value, axis.lower_is_better
        bar = Bar(value, axis.unit, label, axis.sheet, sheet, axis.others, less)
        alike = [interval(other.value) for other in shown if other.name == axis.name]
        self.bar = screen.bar(bar, max(high for _, high in alike))


class FirstScreen:
    """What a reader sees first: without axes the first question and its answer.

    question : whose answer is the lead; empty where axes were measured
    lead : the figures in one sentence
    others : how many other runs of the device there are, in words; empty where there is none
    sheet : whether any axis has a datasheet's mark
    roof : what the roofline says, in which units, and its drawing; none where there is none
    trust : what other programs used, and how many cases failed or are doubtful; empty of none
    counts : how many failed, if none did, and how many cannot be true
    """

    def __init__(  # noqa: PLR0913, PLR0917 - one for each thing that it is made of
        self,
        run: Run,
        own: DeviceAxes,
        answered: Sequence[Section],
        roofs: Sequence[Roofline],
        beside: Sequence[BesideOthers],
        marks: Marks,
        price: str,
    ) -> None:
        """Compute what a reader sees first.

        own : the axes of the run's device, beside those of other runs
        price : what the device costs, with its date; empty where that is not known
        """
        shown = _shown(own)
        leads = (section.findings[0] for section in answered if not shown)
        asked = next((finding for finding in leads if not finding.absent), None)
        self.title = _title(run, own)
        self.question = asked.question if asked else ""
        self.facts = [*_facts(run, own, price, hardware=asked is None)]
        self.lead = " ".join(_lead(run, own, shown, asked, beside))
        self.axes = [AxisRow(run, own, axis, shown, marks) for axis in shown]
        most = max((len(axis.others) for axis in shown), default=0)
        self.others = f"{counted(most, 'other run')} of this device" if most else ""
        self.sheet = any(axis.sheet is not None for axis in shown)
        self.roof = next((_roof(roof) for roof in roofs if roof.device == own.place), None)
        self.trust = ", ".join([*filter(None, [busy(run)]), *doubt_counts(run, marks)])
        self.failed = sum(outcome.status == "failed" for outcome in run.frobench.outcomes)
        errors = [one for one in run.frobench.conclusions if one.severity == "error"]
        wrong = len({one.case for one in errors if one.case and one.code not in checks.REPORTED})
        self.counts = f"{'' if self.failed else '0 failed, '}{wrong} implausible"


def _shown(own: DeviceAxes) -> list[Axis]:
    """Choose the four axes that have room: of a CPU a second precision, as it has no link."""
    compute = [one for one in own.axes if one.name == "compute"]
    first = compute[:1]
    if is_cpu(own.place):
        first += [one for one in compute[1:] if one.precision == "float32"]
    for names in BESIDE:
        axis = next(filter(None, map(own.axis, names)), None)
        # A difference of times need not be conclusively more than nothing, which a bar cannot show.
        if axis and interval(axis.value)[0] > 0:
            first.append(axis)
    return first


def _title(run: Run, own: DeviceAxes) -> str:
    """Name the devices that were measured, or the CPU with its cores."""
    title = machine_title(run)
    return title if is_cpu(own.place) else title.rpartition(" + ")[0] or own.device


def _facts(run: Run, own: DeviceAxes, price: str, *, hardware: bool) -> Iterator[tuple[str, str]]:
    """Yield what is known of the device, or only which it is where it is not what was asked."""
    if hardware:
        yield "Memory", format_capacity(own.memory_bytes) if own.memory_bytes else UNKNOWN
        limit = f" (limit {format_value(own.limit_watts, 'W')})" if own.limit_watts else ""
        yield "Power", (format_point(own.watts, "W") if own.watts else NOT_MEASURED) + limit
        yield "Price", price or UNKNOWN
    else:
        yield "Device", _title(run, own)
        if run.frobench.project:
            yield "Code", git.describe(run.frobench.project)
    yield "Measured", moment(run.datetime).partition(",")[0]
    yield "torch", run.frobench.environment.software.torch or "not imported"
    if not is_cpu(own.place):
        yield "Host", machine_title(run).rpartition(" + ")[2]


def _lead(
    run: Run,
    own: DeviceAxes,
    shown: Sequence[Axis],
    asked: Finding | None,
    beside: Sequence[BesideOthers],
) -> Iterator[str]:
    """Yield the answer or the figures, what is known of the device's kind, and errors."""
    if shown:
        parts = [axis for axis in shown if axis.part]
        yield f"{', '.join(_spelled(axis, named=axis in parts[:1]) for axis in shown)}."
    elif asked:
        yield short.answer(run, asked)
    else:
        yield "No axis was measured."
    outside = next((row for row in beside if row.word in OUTSIDE), None)
    if outside:
        title, word = outside.axis.title, outside.word
        yield f"Not normal for its kind: {title} lies {word} what others measured."
    elif beside:
        yield "Normal for its kind: no axis lies outside what others measured."
    if is_cpu(own.place) and not asked:
        yield "No GPU was measured."
    for error in faults(run, ""):
        yield f"The whole run has an error, so none of its figures is shown: {error}."


def _spelled(axis: Axis, *, named: bool) -> str:
    """Spell an axis for the sentence.

    named : whether to say what a percent is of: once in a sentence is enough
    """
    value = axis.figure
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


def exercise_id(exercise: str) -> str:
    """Return the place of an exercise on the page."""
    return f"exercise-{slug(exercise)}"


def _roof(roof: Roofline) -> tuple[str, str, Markup]:
    """Draw a roofline with the values of its ceilings, all in the unit of the highest."""
    most = max(line.points[-1].y.value for line in roof.plot.lines)
    factor, unit = prefixed(most, roof.plot.y.unit)
    names = {
        series.label: f"{PRECISIONS.get(series.label, series.label)} "
        + format_point(models.per(line.points[-1].y, factor), "")
        for series, line in zip(roof.plot.series, roof.plot.lines, strict=True)
    }
    return (
        precisions(roof.plot.result),
        f"Roofline, {unit} by FLOP per byte. Ceilings: fastest launch. One point per product.",
        screen.roofline(roof.plot, names, f"memory {format_point(roof.bandwidth, 'B/s')}"),
    )
