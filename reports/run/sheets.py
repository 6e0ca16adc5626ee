# SPDX-License-Identifier: MIT
"""What a run's page shows, as tables for other programs: a file a kind, every number unrounded.

Cases are named in full; what is computed from several cases names them all, as a JSON list.
"""

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from msgspec import UNSET

from frobench.reports.findings import Section
from frobench.reports.findings.finding import Plot
from frobench.reports.findings.roofline import INTENSITY, Roofline
from frobench.reports.run.sensors import Spent
from frobench.reports.summary import models
from frobench.reports.summary.model import Axis, DeviceAxes
from frobench.reports.summary.views import CaseRow, Cell
from frobench.suite.stored.machine_identity import function_of
from frobench.suite.stored.types import Estimate, Run, Telemetry
from frobench.suite.terminal.answers import TOKENS


class Sheet(NamedTuple):
    """A table beside a page.

    name : what stands between the run's name and the file's ending
    text : what its rows are
    """

    name: str
    table: pa.Table
    text: str


COUNTS = {"launch", "launches", "number", "sample", "samples"}
NUMBERS = {
    *("value", "low", "high", "error", "bound", "seconds", "per_token"),
    *("datasheet", "part", "part_low", "part_high"),
}
"""Columns of whole numbers and of others; those of texts are in neither."""
ESTIMATE = ("value", "low", "high", "launches", "unit")
"""A point, the ends of its interval (empty below six launches), and the launches behind it."""
OF_SAMPLES = "every sample, launch by launch, of the case of a number"
SAMPLES = ("number", "launch", "sample", "seconds")
"""Cases by their number, which the table of cases explains: their names would be most of it."""
CASES = (
    *("number", "exercise", "case", "function", "parameters", "status", "quantity"),
    *(*ESTIMATE, "error", "bound", "samples"),
)
FINDINGS = (
    *("exercise", "finding", "question", "answer", "rule_of_thumb", "label"),
    *(*ESTIMATE, "cases"),
)
PLACES = ("exercise", "figure", "title", "series", "role", "place", "place_unit", "quantity")
FIGURES = (*PLACES, *ESTIMATE, "cases")
AXES = (
    *("axis", "device", "precision", "basis", *ESTIMATE),
    *("datasheet", "part", "part_low", "part_high", "cases"),
)
MODELS = ("model", "quantity", "per_token", *ESTIMATE, "cases")
SENSORS = ("device", "quantity", "seconds", "launch", "value", "not_known")
Record = dict[str, Any]


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
    roofs: Sequence[Roofline],
    numbers: Mapping[str, int],
    own: DeviceAxes,
) -> list[Sheet]:
    """Return the tables of a run's page; those of axes and so on only where there are any.

    cells : what is known of single cases (`measured`)
    numbers : the number of each case
    own : the axes of its device
    """
    figures = [
        *(row for one in answered for plot in one.plots for row in _figure(one.exercise, plot)),
        *(row for roof in roofs for row in _figure("roofline", roof.plot)),
        *(row for roof in roofs for row in _parts(roof)),
    ]
    cases = sorted(_cases(run, cells, numbers), key=itemgetter("number"))
    shown = [
        Sheet("cases", _table(CASES, cases), "every case: its time, its rate, what a call costs"),
        Sheet("samples", _samples(run, numbers), OF_SAMPLES),
        Sheet("findings", _table(FINDINGS, _findings(answered)), "the answers"),
        Sheet("figures", _table(FIGURES, figures), "the numbers behind every chart"),
    ]
    if own.axes:
        shown.append(Sheet("axes", _table(AXES, map(_axis, own.axes)), "the axes"))
    if speeds := [*_models(own)]:
        shown.append(Sheet("models", _table(MODELS, speeds), "language models, computed"))
    if run.frobench.telemetry is not UNSET:
        readings = _table(SENSORS, _sensors(run.frobench.telemetry))
        shown.append(Sheet("sensors", readings, "what the sensors said"))
    return shown


def _schema(columns: Iterable[str]) -> pa.Schema:
    """Return the types of columns, which their names say."""
    types = dict.fromkeys(COUNTS, pa.int64()) | dict.fromkeys(NUMBERS, pa.float64())
    return pa.schema({name: types.get(name, pa.string()) for name in columns})


def _table(columns: Iterable[str], rows: Iterable[Record]) -> pa.Table:
    return pa.Table.from_pylist([*rows], schema=_schema(columns))


def _estimate(value: Estimate | None, unit: str, cases: Iterable[str] = ()) -> Record:
    names = msgspec.json.encode(list(dict.fromkeys(cases))).decode()
    numbers = {name: getattr(value, name, None) for name in ("value", "low", "high", "launches")}
    return {**numbers, "unit": unit, "cases": names}


def _axis(axis: Axis) -> Record:
    part = axis.part
    return {
        "axis": axis.name,
        **{name: getattr(axis, name) for name in ("device", "precision", "basis")},
        "datasheet": axis.sheet,
        **_estimate(axis.value, axis.unit, axis.cases),
        **({"part": part.value, "part_low": part.low, "part_high": part.high} if part else {}),
    }


def _models(own: DeviceAxes) -> Iterator[Record]:
    """Yield the rates that models are computed from, then the models that fit."""
    known = own.serving
    for name, rate in known.rates.items():
        unit = "FLOP/s" if name == models.PROMPT else "B/s"
        yield {"quantity": _quantity(name), **_estimate(rate, unit, known.cases)}
    for model, one in zip(models.MODELS, own.models, strict=False):  # all of them, or none
        speeds = {models.DECODE: one.decode, models.PROMPT: one.prompt, **one.small}
        for name, speed in speeds.items():
            if speed:
                row = {"model": one.name, "quantity": _quantity(name)}
                row |= _estimate(speed, TOKENS, known.cases)
                yield row | {"per_token": model.amounts[name]}


def _quantity(name: str) -> str:
    return f"decode, {name}" if name in models.SMALL else name


def _cases(
    run: Run, cells: Iterable[tuple[str, Cell]], numbers: Mapping[str, int]
) -> Iterator[Record]:
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    cases = {case.fullname: case for case in run.benchmarks}
    for quantity, cell in cells:
        case = cases[cell.cases[0]]
        check = case.extra_info.check
        yield {
            "number": numbers[case.fullname],
            "exercise": case.group,
            "case": case.fullname,
            "function": function_of(case.fullname),
            "parameters": msgspec.json.encode(case.params, order="sorted").decode(),
            "status": status.get(case.fullname, "passed"),
            "quantity": quantity,
            **_estimate(cell.value, cell.unit),
            "error": check.error if check else None,
            "bound": check.bound if check else None,
            "samples": case.stats.rounds,
        }


def _samples(run: Run, numbers: Mapping[str, int]) -> pa.Table:
    """Return a row a sample; launches and samples are counted from 0."""
    columns: dict[str, list[Any]] = {name: [] for name in SAMPLES}
    for case in run.benchmarks:
        for launch, count in enumerate(case.extra_info.launches):
            columns["launch"] += [launch] * count
            columns["sample"] += range(count)
        columns["number"] += [numbers[case.fullname]] * len(case.stats.data)
        columns["seconds"] += case.stats.data
    return pa.table(columns, schema=_schema(SAMPLES))


def _findings(answered: Iterable[Section]) -> Iterator[Record]:
    for section in answered:
        for one in section.findings:
            yield {
                "exercise": section.exercise,
                "finding": one.name,
                **{name: getattr(one, name) for name in FINDINGS[2:6]},
                **_estimate(one.value, one.unit, one.cases),
            }


def _figure(exercise: str, plot: Plot) -> Iterator[Record]:
    """Yield a row a point: of the series, of the whole of a stack, and of what bounds them."""
    roles = [("series", one) for one in plot.series]
    roles += [("whole", plot.whole)] if plot.whole else []
    roles += [("bound", one) for one in plot.lines]
    for role, series in roles:
        for point in series.points:
            named = exercise, plot.name, plot.title, series.label, role
            place = _unrounded(point.x), plot.x.unit, plot.y.label
            estimate = _estimate(point.y, plot.y.unit, point.cases)
            yield dict(zip(PLACES, (*named, *place), strict=True)) | estimate


def _parts(roof: Roofline) -> Iterator[Record]:
    """Yield which part of its ceiling each product gets."""
    for dot in roof.dots:
        named = "roofline", roof.plot.name, roof.plot.title, dot.precision, "part"
        place = _unrounded(dot.intensity), INTENSITY.unit, "Part of its ceiling"
        row = dict(zip(PLACES, (*named, *place), strict=True))
        yield row | _estimate(dot.part, "1", [dot.case])


def _unrounded(place: float | str) -> str:
    return str(place).removesuffix(".0") if isinstance(place, float) else str(place)


def _sensors(telemetry: Telemetry) -> Iterator[Record]:
    """Yield each step's reading; a quantity that was never read has one row with the reason.

    A reading is of the launch that began last; before the first one it is of none.
    """
    for device, series in telemetry.series.items():
        reasons = telemetry.held_back.get(device, {})
        held_back = {f"held_back.{reason}": parts for reason, parts in reasons.items()}
        for quantity, values in {**series, **held_back}.items():
            named = {"device": device, "quantity": quantity}
            if values is None:
                yield named | {"not_known": telemetry.unknown.get(f"{device}.{quantity}")}
            for step, value in enumerate(values or ()):
                if value is not None:
                    moment = telemetry.begun + (step + 0.5) * telemetry.step
                    launch = bisect(telemetry.launches, moment) - 1
                    since = launch if launch >= 0 else None
                    yield named | {"seconds": moment, "launch": since, "value": value}
