# SPDX-License-Identifier: MIT
"""What a run's page shows, as tables for other programs: a file a kind, every number unrounded.

Cases are named in full; what is computed from several cases names them all, as a JSON list.
"""

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from msgspec import UNSET

from frobench.reports.findings.finding import Plot, Section
from frobench.reports.findings.roofline import INTENSITY, Roofline
from frobench.reports.run.energy import Spent
from frobench.reports.run.normal import Row
from frobench.reports.summary import views
from frobench.reports.summary.device_axes import Axis
from frobench.reports.summary.views import CaseRow, Cell
from frobench.suite.stored.differences import function_of
from frobench.suite.stored.types import Estimate, Run, Telemetry


class Sheet(NamedTuple):
    """A table beside a page.

    name : what stands between the run's name and the file's ending
    text : what its rows are
    """

    name: str
    table: pa.Table
    text: str


def _texts(*names: str) -> dict[str, pa.DataType]:
    return dict.fromkeys(names, pa.string())


NUMBER, COUNT = pa.float64(), pa.int64()
ESTIMATE = {"value": NUMBER, "low": NUMBER, "high": NUMBER, "launches": COUNT, **_texts("unit")}
"""A point, the ends of its interval (empty below six launches), and the launches behind it."""
OF_CASES = "every case: its time, its rate, what a call costs"
OF_SAMPLES = "every sample, launch by launch, of the case of a number"
SAMPLES = {"number": COUNT, "launch": COUNT, "sample": COUNT, "seconds": NUMBER}
"""Cases by their number, which the table of cases explains: their names would be most of it."""
CASES = {
    "number": COUNT,
    **_texts("exercise", "case", "function", "parameters", "status", "quantity"),
    **ESTIMATE,
    "error": NUMBER,
    "bound": NUMBER,
    "samples": COUNT,
}
FINDINGS = {
    **_texts("exercise", "finding", "question", "answer", "rule_of_thumb", "label"),
    **ESTIMATE,
    **_texts("cases"),
}
FIGURES = {
    **_texts("exercise", "figure", "title", "series", "role", "place", "place_unit", "quantity"),
    **ESTIMATE,
    **_texts("cases"),
}
AXES = {
    **_texts("axis", "device", "precision", "basis"),
    **ESTIMATE,
    **dict.fromkeys(("datasheet", "part", "part_low", "part_high"), NUMBER),
    **_texts("cases"),
}
OTHERS = {
    **_texts("figure", "device", "measured_by"),
    **ESTIMATE,
    **_texts("lies", "source", "cases"),
}
SENSORS = {
    **_texts("device", "quantity"),
    "seconds": NUMBER,
    "launch": COUNT,
    "value": NUMBER,
    **_texts("not_known"),
}


def measured(rows: Iterable[CaseRow], spent: Spent | None) -> Iterator[tuple[str, Cell]]:
    """Yield every number that the page shows of a single case, with what it is."""
    for row in rows:
        yield "time", row.time
        if row.rate:
            yield "rate", row.rate
    for one in spent.rows if spent else ():
        yield "energy of a call", one.joules
        yield "power", one.watts
        if one.work:
            yield "work for a joule", one.work


def sheets(  # noqa: PLR0913, PLR0917 - one for each thing that is shown
    run: Run,
    answered: Sequence[Section],
    cells: Iterable[tuple[str, Cell]],
    roofs: Sequence[Roofline] = (),
    beside: Sequence[Row] = (),
    numbers: Mapping[str, int] | None = None,
    axes: Iterable[Axis] = (),
) -> list[Sheet]:
    """Return the tables of a run's page; those of sensors and of others only where there are any.

    cells : what is known of single cases (`measured`)
    beside : headline figures beside those of others
    numbers : the number of each case; by default its place among those that the run holds
    axes : those of its device
    """
    numbers = numbers or views.numbers(run)
    figures = [
        *(row for one in answered for plot in one.plots for row in _figure(one.exercise, plot)),
        *(row for roof in roofs for row in _figure("roofline", roof.plot)),
        *(row for roof in roofs for row in _parts(roof)),
    ]
    shown = [
        Sheet("cases", _cases(run, cells, numbers), OF_CASES),
        Sheet("samples", _samples(run, numbers), OF_SAMPLES),
        Sheet("findings", _table(FINDINGS, _findings(answered)), "the answers"),
        Sheet("figures", _table(FIGURES, figures), "the numbers behind every chart"),
    ]
    if measured_axes := [*axes]:
        shown.append(Sheet("axes", _table(AXES, map(_axis, measured_axes)), "the axes"))
    if beside:
        shown.append(Sheet("others", _table(OTHERS, _others(beside)), "figures beside others'"))
    if run.frobench.telemetry is not UNSET:
        readings = _table(SENSORS, _sensors(run.frobench.telemetry))
        shown.append(Sheet("sensors", readings, "what the sensors said"))
    return shown


def _table(schema: dict[str, pa.DataType], rows: Iterable[Sequence[Any]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(dict(zip(schema, columns, strict=True)), schema=pa.schema(schema))


def _axis(axis: Axis) -> tuple[Any, ...]:
    part = (axis.part.value, axis.part.low, axis.part.high) if axis.part else (None, None, None)
    named = axis.name, axis.device, axis.precision, axis.basis
    return *named, *_estimate(axis.value, axis.unit), axis.sheet, *part, _names(axis.cases)


def _estimate(value: Estimate | None, unit: str) -> tuple[Any, ...]:
    if value is None:
        return None, None, None, None, unit
    return value.value, value.low, value.high, value.launches, unit


def _names(cases: Iterable[str]) -> str:
    return msgspec.json.encode(list(dict.fromkeys(cases))).decode()


def _cases(run: Run, cells: Iterable[tuple[str, Cell]], numbers: Mapping[str, int]) -> pa.Table:
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    cases = {case.fullname: case for case in run.benchmarks}
    rows = []
    for quantity, cell in cells:
        case = cases[cell.cases[0]]
        check = case.extra_info.check
        parameters = msgspec.json.encode(case.params, order="sorted").decode()
        rows.append(
            (
                *(numbers[case.fullname], case.group, case.fullname, function_of(case.fullname)),
                *(parameters, status.get(case.fullname, "passed"), quantity),
                *_estimate(cell.value, cell.unit),
                *(check.error if check else None, check.bound if check else None),
                case.stats.rounds,
            )
        )
    return _table(CASES, sorted(rows, key=lambda row: row[0]))


def _samples(run: Run, numbers: Mapping[str, int]) -> pa.Table:
    """Return a row a sample; launches and samples are counted from 0."""
    columns: dict[str, list[Any]] = {name: [] for name in SAMPLES}
    for case in run.benchmarks:
        ends = accumulate(case.extra_info.launches, initial=0)
        for launch, (begin, end) in enumerate(pairwise(ends)):
            columns["launch"] += [launch] * (end - begin)
            columns["sample"] += range(end - begin)
        columns["number"] += [numbers[case.fullname]] * len(case.stats.data)
        columns["seconds"] += case.stats.data
    return pa.table(columns, schema=pa.schema(SAMPLES))


def _findings(answered: Iterable[Section]) -> Iterator[tuple[Any, ...]]:
    for section in answered:
        for one in section.findings:
            words = (section.exercise, one.name, one.question, one.answer, one.rule_of_thumb)
            yield *words, one.label, *_estimate(one.value, one.unit), _names(one.cases)


def _figure(exercise: str, plot: Plot) -> Iterator[tuple[Any, ...]]:
    """Yield a row a point: of the series, of the whole of a stack, and of what bounds them."""
    roles = [("series", one) for one in plot.series]
    roles += [("whole", plot.whole)] if plot.whole else []
    roles += [("bound", one) for one in plot.lines]
    for role, series in roles:
        for point in series.points:
            yield (
                *(exercise, plot.name, plot.title, series.label, role),
                *(_unrounded(point.x), plot.x.unit, plot.y.label),
                *(*_estimate(point.y, plot.y.unit), _names(point.cases)),
            )


def _parts(roof: Roofline) -> Iterator[tuple[Any, ...]]:
    """Yield which part of its ceiling each product gets."""
    for dot in roof.dots:
        yield (
            *("roofline", roof.plot.name, roof.plot.title, dot.precision, "part"),
            *(_unrounded(dot.intensity), INTENSITY.unit, "Part of its ceiling"),
            *(*_estimate(dot.part, "1"), _names([dot.case])),
        )


def _unrounded(place: float | str) -> str:
    return str(place).removesuffix(".0") if isinstance(place, float) else str(place)


def _others(beside: Iterable[Row]) -> Iterator[tuple[Any, ...]]:
    """Yield each headline figure of the run, and behind it those of others."""
    for row in beside:
        name, own = (row.name, row.device), _estimate(row.own.value, row.own.unit)
        yield *name, "this run", *own, row.word, "", _names(row.own.cases)
        for value in row.verdict.stored:
            yield *name, "a stored run", value, None, None, None, row.own.unit, "", "", "[]"
        for one in row.verdict.published:
            yield *name, "others", one.value, None, None, None, one.unit, "", one.address, "[]"


def _sensors(telemetry: Telemetry) -> Iterator[tuple[Any, ...]]:
    """Yield each step's reading; a quantity that was never read has one row with the reason.

    A reading is of the launch that began last; before the first one it is of none.
    """
    for device, series in telemetry.series.items():
        reasons = telemetry.held_back.get(device, {})
        held_back = {f"held_back.{reason}": parts for reason, parts in reasons.items()}
        for quantity, values in {**series, **held_back}.items():
            if values is None:
                reason = telemetry.unknown.get(f"{device}.{quantity}")
                yield device, quantity, None, None, None, reason
            for step, value in enumerate(values or ()):
                if value is not None:
                    moment = telemetry.begun + (step + 0.5) * telemetry.step
                    launch = bisect(telemetry.launches, moment) - 1
                    yield device, quantity, moment, launch if launch >= 0 else None, value, None
