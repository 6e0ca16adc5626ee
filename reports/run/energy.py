# SPDX-License-Identifier: MIT
"""What calls cost in joules, beside what the devices take for nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import UNSET

from reports.charts.courses import device_name
from reports.summary.views import Cell, Marks, doubtful, label, name
from reports.table.frame import function_of
from suite.statistics import estimate
from suite.stored.run import Case, Energy, Run
from suite.units import format_value


@dataclass(frozen=True)
class Row:
    """A case whose energy was measured.

    Parameters
    ----------
    work
        FLOP for each joule, or bytes: its rate for each watt.
    """

    function: str
    parameters: str
    joules: Cell
    watts: Cell
    work: Cell | None


@dataclass(frozen=True)
class Spent:
    """What a page says of energy.

    Parameters
    ----------
    devices
        Of each device that counts its energy: its power at rest, and its limit.
    left_out
        By reason, the headline cases whose energy was not measured.
    """

    rows: list[Row]
    devices: list[str]
    left_out: dict[str, list[str]]


def spent(run: Run, marks: Marks) -> Spent | None:
    """Return what calls cost, or why that is not known; nothing where a run does not say."""
    rows = [
        _row(run, case, case.extra_info.energy, marks)
        for case in run.benchmarks
        if case.extra_info.energy is not None and any(case.extra_info.energy.joules)
    ]
    devices, left_out = [*_devices(run)], _left_out(run)
    return Spent(rows, devices, left_out) if rows or devices or left_out else None


def _left_out(run: Run) -> dict[str, list[str]]:
    reasons = run.frobench.without_energy or {}
    found: dict[str, list[str]] = {}
    for case in run.frobench.outcomes:
        if case.fullname in reasons:
            found.setdefault(reasons[case.fullname], []).append(name(run, case))
    return found


def _row(run: Run, case: Case, seen: Energy, marks: Marks) -> Row:
    names = (case.fullname,)
    words = doubtful(names, marks)
    calls = [
        (joules, seconds)
        for joules, seconds in zip(seen.joules, seen.seconds, strict=True)
        if joules and seconds
    ]
    work = case.extra_info.work
    amount, unit = (work.flops, "FLOP") if work.flops else (work.bytes, "B")
    return Row(
        function_of(case.fullname),
        label(run, case.params),
        Cell(estimate([joules for joules, _ in calls]), "J", words, names),
        Cell(estimate([joules / seconds for joules, seconds in calls]), "W", words, names),
        Cell(estimate([amount / joules for joules, _ in calls]), unit, words, names)
        if amount
        else None,
    )


def _devices(run: Run) -> Iterator[str]:
    told = run.frobench.telemetry
    if told is UNSET:
        return
    limits = {
        f"{one.type}:{one.index}": (one.power_limit_watts, one.power_limit_default_watts)
        for one in run.frobench.environment.accelerators
    }
    for device, watts in told.idle_watts.items():
        limit, default = limits.get(device, (None, None))
        text = f"{device_name(run, told, device)}: {format_value(watts, 'W')} at rest"
        if limit and default:
            part = format_value(limit / default, "1")
            text += f"; its power limit is {format_value(limit, 'W')}, {part} of its default"
        yield text
