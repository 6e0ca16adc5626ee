# SPDX-License-Identifier: MIT
"""The cases and what is expected of them as `frobench list` shows them: a calm, narrow table."""

from collections.abc import Iterator
from itertools import groupby

from frobench.suite.profiles import OVER
from frobench.suite.run.expected import Expected, ExpectedCase
from frobench.suite.stored.machine_identity import name_of
from frobench.suite.stored.types import Work
from frobench.suite.terminal.output import GAP, Table, wrapped
from frobench.suite.units import counted, format_seconds, format_value

COLUMNS = {"work of a call": "<", "a call": ">", "": "<"}
MINUTES = 90.0
"""Seconds from which a time is given in minutes."""
MOST_DEVICES = 2
"""Of larger groups the first and the last are named."""


def lines(expected: Expected, width: int) -> Iterator[str]:
    """Yield where the times are from, the table, an exercise after the other, and the total."""
    for mark in _marks(expected):
        yield from wrapped(mark, width, "", GAP)
    for exercise, cases in groupby(expected.cases, key=lambda case: case.group):
        yield ""
        yield from wrapped(f"{exercise}: {expected.exercises[exercise].question}", width, "", GAP)
        yield from Table(COLUMNS, [*map(_row, cases)]).lines(width)
    yield ""
    yield from wrapped(_total(expected), width, "", GAP)


def _row(case: ExpectedCase) -> tuple[str, ...]:
    if case.left_out and OVER not in case.left_out:
        return case.title, f"{_shown(case)}: not here: {case.left_out}"
    call = "unknown" if case.call_seconds is None else _seconds(case.call_seconds)
    left_out = "left out" if case.left_out else ""
    return case.title, _shown(case), _spelled(case.work), call, left_out


def _shown(case: ExpectedCase) -> str:
    name, devices = name_of(case.name), case.devices
    if len(devices) <= MOST_DEVICES:
        return name
    return name.replace("+".join(devices), f"{devices[0]}+...+{devices[-1]}")


def _spelled(work: Work | None) -> str:
    if work is None:
        return ""
    amounts = ((work.flops, "FLOP"), (work.bytes, "B"))
    parts = [format_value(amount, unit) for amount, unit in amounts if amount is not None]
    if work.items is not None:
        parts.append(counted(round(work.items), "item"))
    return ", ".join(parts[:2])


def _marks(expected: Expected) -> Iterator[str]:
    machine, before = expected.machine, expected.before
    if before is None:
        yield f"Times are unknown before the first run of this machine, {machine}."
    else:
        yield f"Work and time of a call are those of a run of {machine}, {before}."
    if any(OVER in (case.left_out or "") for case in expected.cases):
        allowed = format_seconds(expected.longest_sample)
        yield f"Left out: one call takes longer than this profile allows ({allowed})."


def _total(expected: Expected) -> str:
    measured = sum(case.left_out is None for case in expected.cases)
    cases = f"{counted(measured, 'case')}, {len(expected.cases) - measured} left out or not here"
    if expected.launches is None or expected.run_seconds is None:
        return f"{expected.profile}: budget {_seconds(expected.budget, 2)}; {cases}"
    launches = counted(expected.launches, "launch")
    return f"{expected.profile}: about {_seconds(expected.run_seconds, 2)}, {launches}; {cases}"


def _seconds(seconds: float, digits: int = 3) -> str:
    return f"{seconds / 60:,.0f} min" if seconds >= MINUTES else format_value(seconds, "s", digits)
