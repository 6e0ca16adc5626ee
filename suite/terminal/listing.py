# SPDX-License-Identifier: MIT
"""The cases and what is expected of them as `frobench list` shows them: a calm, narrow table."""

from collections.abc import Iterator
from itertools import groupby

from frobench.suite.compare.family import in_words
from frobench.suite.run.expected import Basis, Expected, ExpectedCase
from frobench.suite.stored.differences import name_of
from frobench.suite.stored.types import Work
from frobench.suite.terminal.layout import GAP, Table, wrapped
from frobench.suite.units import counted, format_seconds, format_value

COLUMNS = {"work of a call": "<", "a call": ">", "": "<", "in the run": ">"}
FROM: dict[Basis | None, tuple[str, str]] = {
    "sizes": ("s", "continued from other sizes in that run"),
    "rates": ("r", "at the rates of other cases in that run"),
    "nominal": ("n", "from declared work at nominal rates, which any machine reaches"),
}
"""A letter for what is not as it was measured, and what it means."""
MINUTES = 90.0
"""Seconds from which a time is given in minutes."""
MOST_DEVICES = 2
"""Of larger groups the first and the last are named."""


def lines(expected: Expected, width: int) -> Iterator[str]:
    """Yield what its marks mean, the table, an exercise after the other, and the totals."""
    for mark in _marks(expected):
        yield from wrapped(mark, width, "", GAP)
    for exercise, cases in groupby(expected.cases, key=lambda case: case.group):
        yield ""
        yield from wrapped(f"{exercise}: {expected.exercises[exercise].question}", width, "", GAP)
        yield from Table(COLUMNS, [*map(_row, cases)]).lines(width)
    yield ""
    for total in _totals(expected):
        yield from wrapped(total, width, "", GAP)


def _row(case: ExpectedCase) -> tuple[str, ...]:
    if case.left_out and case.work is None:
        return case.title, f"{_shown(case)}: not here: {case.left_out}"
    letter, _ = FROM.get(case.basis, ("", ""))
    call = "-" if case.call_seconds is None else _seconds(case.call_seconds)
    guessed = case.basis in {"rates", "nominal"}  # so the run decides what is left out
    left_out = "left out?" if guessed else "left out"
    run = left_out if case.run_seconds is None else _about(case.run_seconds)
    call = f"about {call}" if letter else call
    return case.title, _shown(case), _spelled(case.work), call, letter, run


def _shown(case: ExpectedCase) -> str:
    name, devices = name_of(case.name), case.devices
    if len(devices) <= MOST_DEVICES:
        return name
    return name.replace("+".join(devices), f"{devices[0]}+...+{devices[-1]}")


def _spelled(work: Work | None) -> str:
    if work is None:
        return "-"
    amounts = ((work.flops, "FLOP"), (work.bytes, "B"))
    parts = [format_value(amount, unit) for amount, unit in amounts if amount is not None]
    if work.items is not None:
        parts.append(counted(round(work.items), "item"))
    return ", ".join(parts[:2]) or "-"


def _marks(expected: Expected) -> Iterator[str]:
    if before := expected.before:
        yield f"The time of a call is that of the newest run of {expected.machine}, {before}."
    used = {case.basis for case in expected.cases}
    letters = [f'"{letter}" {words}' for basis, (letter, words) in FROM.items() if basis in used]
    if letters:
        yield f"A letter marks an estimate: {'; '.join(letters)}."
    if any(case.left_out and case.work for case in expected.cases):
        allowed = f"this profile allows ({format_seconds(expected.longest_sample)})"
        yield f'Left out: one call takes longer than {allowed}; "?" marks an estimate.'


def _totals(expected: Expected) -> Iterator[str]:
    measured = sum(case.left_out is None for case in expected.cases)
    yield (
        f"{expected.profile}: about {_about(expected.run_seconds)}, "
        f"{counted(expected.launches, 'launch')} of about {_about(expected.launch_seconds)}; "
        f"{counted(measured, 'case')}, {len(expected.cases) - measured} left out or not here"
    )
    if expected.forecast.cases:
        yield in_words(expected.forecast)


def _seconds(seconds: float, digits: int = 3) -> str:
    return f"{seconds / 60:,.0f} min" if seconds >= MINUTES else format_value(seconds, "s", digits)


def _about(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 1 else _seconds(seconds, 2)
