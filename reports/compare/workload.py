# SPDX-License-Identifier: MIT
"""Two machines under a workload, for the terminal: their speed and their axes."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, to_builtins

from reports.findings.finding import RATIO
from reports.purchase.score import Score, Speed, score
from reports.purchase.script import MissingEngineError
from reports.summary.device_axes import Axis, DeviceAxes, device_axes
from reports.table.workloads import table as workloads
from suite.stored.run import Estimate, Run
from suite.terminal.comparison_tables import Column, Row, Table
from suite.units import counted, format_capacity, format_estimate, format_point, format_value


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
    scored, refused = None, ""
    try:
        scored = score(base, new, workload)
    except MissingEngineError as error:
        refused = f"no speed under {workload}: {error}"
    return Sides(workload, scored, refused, device_axes(base), device_axes(new))


def for_programs(compared: Sides) -> dict[str, Any]:
    """Return the fields that stand at the top level of ``--json``."""
    scored = compared.score
    return {
        "workload": compared.workload,
        "speed": to_builtins(scored.speed) if scored else None,
        "cases": scored.cases if scored else 0,
        "of_cases": scored.every if scored else 0,
        "axes": {"base": to_builtins(compared.base), "new": to_builtins(compared.new)},
        "exercises": to_builtins(scored.exercises) if scored else [],
    }


def answer(compared: Sides) -> str:
    """Return the speed in a sentence."""
    title = next(
        weights.title for weights in workloads().workloads if weights.name == compared.workload
    )
    scored = compared.score
    if scored is None:
        return compared.refused
    if scored.speed is None:
        return f"{title}: no case of this workload was measured on both machines"
    cases = f"{scored.cases} of {counted(scored.every, 'case')}"
    return f"{title}: new has {_spelled(scored.speed)} the speed of base ({cases})"


def axes(compared: Sides) -> Table:
    """Return a row for each axis that either machine has."""
    sides = [{(axis.name, axis.precision): axis for axis in each.axes} for each in _both(compared)]
    rows = [
        Row(
            "axes", f"{name} {precision}".strip(), "", tuple(_axis(side.get(key)) for side in sides)
        )
        for key in dict.fromkeys([*sides[0], *sides[1]])
        for name, precision in [key]
    ]
    return Table([Column("base", right=True), Column("new", right=True)], [*rows, *_rest(compared)])


def exercises(compared: Sides) -> Table:
    """Return a row for each exercise, with the speed of the new machine."""
    rows = [
        Row(
            "exercises",
            exercise.name,
            "",
            (
                _spelled(exercise.speed) if exercise.speed else "-",
                f"{exercise.cases} of {exercise.every}",
            ),
        )
        for exercise in (compared.score.exercises if compared.score else [])
    ]
    return Table([Column("new, times as fast"), Column("cases")], rows)


def _both(compared: Sides) -> tuple[DeviceAxes, DeviceAxes]:
    return compared.base, compared.new


def _axis(axis: Axis | None) -> str:
    return format_point(axis.value, axis.unit) if axis else "-"


def _rest(compared: Sides) -> Iterator[Row]:
    """Yield capacity and power."""
    both = _both(compared)
    memory = [
        format_capacity(device.memory_bytes) if device.memory_bytes else "-" for device in both
    ]
    yield Row("axes", "capacity", "", tuple(memory))
    watts = [device.watts.value if device.watts else device.limit_watts for device in both]
    if any(watts):
        power = [format_value(value, "W") if value else "-" for value in watts]
        yield Row("axes", "power", "", tuple(power))


def _spelled(speed: Speed) -> str:
    if speed.low is None or speed.high is None:
        return format_value(speed.value, RATIO)
    return format_estimate(Estimate(speed.value, speed.low, speed.high, launches=0), RATIO)
