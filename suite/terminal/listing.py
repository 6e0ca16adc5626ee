# SPDX-License-Identifier: MIT
"""The cases and what is expected of them as `frobench list` shows them: a calm, narrow table."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from frobench.suite.compare.family import in_words
from frobench.suite.run.expected import Basis, Expected, ExpectedCase
from frobench.suite.stored.differences import name_of
from frobench.suite.stored.types import Work
from frobench.suite.terminal.layout import wrapped
from frobench.suite.units import counted, format_seconds, format_value

NAME, WORK, CALL, RUN = 47, 24, 13, 10
OTHERS = WORK + CALL + RUN + 6
"""Columns beside the name, with their gaps and the letter of an estimate."""
NARROWEST = OTHERS + 16
"""Columns of the narrowest table; below, each case is a sentence."""
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
Cells = tuple[str, str, str, str]
"""Work, time of a call, the letter of an estimate, and time in the run."""


def lines(expected: Expected, width: int) -> Iterator[str]:
    """Yield what its marks mean, the table, an exercise after the other, and the totals."""
    for mark in _marks(expected):
        yield from _wrapped(mark, width)
    yield ""
    for exercise, cases in groupby(expected.cases, key=lambda case: case.group):
        yield from _wrapped(f"{exercise}: {expected.exercises[exercise].question}", width)
        if width >= NARROWEST:
            yield _row("", ("work of a call", "a call", "", "in the run"), width)
        for _, same in groupby(cases, key=lambda case: case.function):
            yield from _function(list(same), width)
        yield ""
    for total in _totals(expected):
        yield from _wrapped(total, width)


def _function(cases: Sequence[ExpectedCase], width: int) -> Iterator[str]:
    yield from _wrapped(cases[0].title, width, "  ")
    for case in cases:
        name = _shown(case)
        if case.left_out and case.work is None:
            absent = f"not here: {case.left_out}"
            beside = f"{f'    {name}':{NAME}}  {absent}"
            fits = len(beside) <= width and len(name) + 4 <= NAME
            yield from [beside] if fits else _wrapped(f"{name}: {absent}", width, "    ")
            continue
        work, call, letter, run = cells = _cells(case)
        if width < NARROWEST:
            mark = f' "{letter}"' if letter else ""
            sentence = f"{name}: {work}; a call {call}{mark}, in the run {run}"
            yield from _wrapped(sentence, width, "    ")
            continue
        if len(name) + 4 > _name_width(width):
            yield f"    {name}"
            name = ""
        yield _row(f"    {name}", cells, width)


def _cells(case: ExpectedCase) -> Cells:
    letter, _ = FROM.get(case.basis, ("", ""))
    call = "-" if case.call_seconds is None else _seconds(case.call_seconds)
    guessed = case.basis in {"rates", "nominal"}  # so the run decides what is left out
    left_out = "left out?" if guessed else "left out"
    run = left_out if case.run_seconds is None else _about(case.run_seconds)
    return _spelled(case.work), f"about {call}" if letter else call, letter, run


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


def _row(name: str, cells: Cells, width: int) -> str:
    work, call, letter, run = cells
    beside = f"{work:<{WORK}} {call:>{CALL}} {letter:1} {run:>{RUN}}"
    return f"{name:{_name_width(width)}}  {beside}".rstrip()


def _name_width(width: int) -> int:
    return min(NAME, width - OTHERS)


def _seconds(seconds: float, digits: int = 3) -> str:
    return f"{seconds / 60:,.0f} min" if seconds >= MINUTES else format_value(seconds, "s", digits)


def _about(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 1 else _seconds(seconds, 2)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return wrapped(text, width, indent, f"{indent}    ")
