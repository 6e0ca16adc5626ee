# SPDX-License-Identifier: MIT
"""What calls cost in joules, beside what the devices take for nothing."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from frobench.reports.charts.courses import device_name
from frobench.reports.findings.peaks import accelerator
from frobench.reports.summary.views import Cell, Marks, doubtful, label, name
from frobench.suite.statistics import estimate
from frobench.suite.stored.differences import function_of
from frobench.suite.stored.types import Case, Energy, Run
from frobench.suite.units import format_value


class Row(NamedTuple):
    """A case whose energy was measured.

    work : FLOP for each joule, or bytes: its rate for each watt
    """

    function: str
    parameters: str
    joules: Cell
    watts: Cell
    work: Cell | None


class Spent(NamedTuple):
    """What a page says of energy.

    devices : of each device that counts its energy: its power at rest, and its limit
    left_out : by reason, the headline cases whose energy was not measured
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
    reasons = dict(run.frobench.without_energy or {})
    for case in run.benchmarks:
        energy = case.extra_info.energy
        if energy is not None and 0 in energy.joules and not any(energy.joules):
            reasons.setdefault(case.fullname, "the counter did not move")
    left_out: dict[str, list[str]] = {}
    for outcome in run.frobench.outcomes:
        if outcome.fullname in reasons:
            left_out.setdefault(reasons[outcome.fullname], []).append(name(run, outcome))
    devices = [*_devices(run)]
    return Spent(rows, devices, left_out) if rows or devices or left_out else None


def _row(run: Run, case: Case, energy: Energy, marks: Marks) -> Row:
    names = (case.fullname,)
    words = doubtful(names, marks)
    both = zip(energy.joules, energy.seconds, strict=True)
    calls = [(joules, seconds) for joules, seconds in both if joules and seconds]

    def cell(values: list[float], unit: str) -> Cell:
        return Cell(estimate(values), unit, words, names)

    work = case.extra_info.work
    amount, unit = (work.flops, "FLOP") if work.flops else (work.bytes, "B")
    return Row(
        function_of(case.fullname),
        label(run, case.params),
        cell([joules for joules, _ in calls], "J"),
        cell([joules / seconds for joules, seconds in calls], "W"),
        cell([amount / joules for joules, _ in calls], unit) if amount else None,
    )


def _devices(run: Run) -> Iterator[str]:
    telemetry = run.frobench.telemetry
    if telemetry is UNSET:
        return
    for device, watts in telemetry.idle_watts.items():
        if watts <= 0:  # the counter did not move, or was reset
            continue
        text = f"{device_name(run, telemetry, device)}: {format_value(watts, 'W')} at rest"
        known = accelerator(run, device)
        if known and known.power_limit_watts and known.power_limit_default_watts:
            limit = known.power_limit_watts
            part = format_value(limit / known.power_limit_default_watts, "1")
            text += f"; its power limit is {format_value(limit, 'W')}, {part} of its default"
        yield text
