# SPDX-License-Identifier: MIT
"""Two machines under a workload, for the terminal: their speed, by the page's script, and axes."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, to_builtins

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import script
from frobench.reports.purchase.comparison import Amount
from frobench.reports.purchase.machines import compare_measured
from frobench.reports.purchase.measured import Measured
from frobench.reports.summary.device_axes import DeviceAxes, device_axes
from frobench.reports.table.workloads import table as workloads
from frobench.suite.stored.types import Estimate, Run
from frobench.suite.terminal.layout import Table
from frobench.suite.units import (
    counted,
    format_capacity,
    format_estimate,
    format_point,
    format_value,
)


class ExerciseSpeed(Struct, frozen=True):
    """How fast a machine is in an exercise as far as one kind of device does it; as `Score`."""

    name: str
    speed: Amount | None
    cases: int
    every: int


class Score(Struct, frozen=True):
    """How fast a machine is under a workload.

    speed : times as fast as the base; ``None`` where both measured no case of the workload
    cases : that both measured
    every : that the base measured
    exercises : whatever the workload
    """

    speed: Amount | None
    cases: int
    every: int
    exercises: list[ExerciseSpeed]


class Sides(Struct, frozen=True):
    """Two machines under a workload.

    workload : its name
    score : how many times as fast the new one is; ``None`` where ``refused`` says why
    base, new : their axes
    """

    workload: str
    score: Score | None
    refused: str
    base: DeviceAxes
    new: DeviceAxes


def sides(base: Run, new: Run, workload: str) -> Sides:
    """Compare two machines; without an engine for the page's script there is no score."""
    known, refused = None, ""
    try:
        known = score(base, new, workload)
    except script.MissingEngineError as error:
        refused = f"no speed under {workload}: {error}"
    return Sides(workload, known, refused, device_axes(base), device_axes(new))


def score(base: Run, new: Run, workload: str) -> Score:
    """Compare two machines under a workload of `reports.table.workloads`.

    Raises `reports.purchase.script.MissingEngineError` if there is no engine for the script.
    """
    comparison = compare_measured({"base": Measured.of(base), "new": Measured.of(new)}, "base")
    found = script.call("purchaseBuilt.score", comparison, "new", workload)
    return msgspec.convert(found, Score)


def for_programs(compared: Sides) -> dict[str, Any]:
    """Return the fields that stand at the top level of ``--json``."""
    known = compared.score or Score(None, 0, 0, [])
    return {
        "workload": compared.workload,
        "speed": to_builtins(known.speed),
        "cases": known.cases,
        "of_cases": known.every,
        "axes": {"base": to_builtins(compared.base), "new": to_builtins(compared.new)},
        "exercises": to_builtins(known.exercises),
    }


def answer(compared: Sides) -> str:
    """Return the speed in a sentence."""
    if compared.score is None:
        return compared.refused
    titles = {workload.name: workload.title for workload in workloads().workloads}
    title, known = titles[compared.workload], compared.score
    if known.speed is None:
        return f"{title}: no case of this workload was measured on both machines"
    cases = f"{known.cases} of {counted(known.every, 'case')}"
    return f"{title}: new has {_spelled(known.speed)} the speed of base ({cases})"


def axes(compared: Sides) -> Table:
    """Return a row for each axis that either machine has."""
    rows = [("axes", name, *cells) for name, cells in _axes(compared.base, compared.new)]
    return Table({"base": ">", "new": ">"}, rows)


def _axes(base: DeviceAxes, new: DeviceAxes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the axes, capacity and power of two machines in words."""
    both = base, new
    values = [
        {(axis.name, axis.precision): format_point(axis.value, axis.unit) for axis in each.axes}
        for each in both
    ]
    for key in dict.fromkeys([*values[0], *values[1]]):
        yield " ".join(key).strip(), tuple(side.get(key, "-") for side in values)
    memory = [format_capacity(each.memory_bytes) if each.memory_bytes else "-" for each in both]
    yield "capacity", tuple(memory)
    watts = [each.watts.value if each.watts else each.limit_watts for each in both]
    if any(watts):
        yield "power", tuple(format_value(value, "W") if value else "-" for value in watts)


def exercises(compared: Sides) -> Table:
    """Return a row for each exercise, with the speed of the new machine."""
    rows = []
    for one in compared.score.exercises if compared.score else []:
        speed = _spelled(one.speed) if one.speed else "-"
        rows.append(("exercises", one.name, speed, f"{one.cases} of {one.every}"))
    return Table({"new, times as fast": "<", "cases": "<"}, rows)


def _spelled(speed: Amount) -> str:
    if speed.low is None or speed.high is None:
        return format_value(speed.value, RATIO)
    return format_estimate(Estimate(speed.value, speed.low, speed.high, launches=0), RATIO)
