# SPDX-License-Identifier: MIT
"""The cases and what is expected of them as `frobench list` shows them: a calm, narrow table."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap

from suite.calls import Basis
from suite.compare.forecast import in_words
from suite.expected import Expected, ExpectedCase
from suite.model import Work
from suite.names import name_of
from suite.units import counted, format_seconds, format_value

WIDTH = 100
NAME, WORK, CALL, RUN = 47, 24, 13, 9
FROM: dict[Basis, tuple[str, str]] = {
    "sizes": ("s", "continued from other sizes in that run"),
    "rates": ("r", "at the rates of other cases in that run"),
    "nominal": ("n", "from declared work at nominal rates, which any machine reaches"),
}
"""A letter for what is not as it was measured, and what it means."""
GUESSES = {"r", "n"}
"""Those that leave it to the run what is left out."""
MOST_DEVICES = 2
"""Of larger groups the first and the last are named."""
MINUTES = 90.0
"""Seconds from which on they are told in minutes."""


def lines(expected: Expected) -> Iterator[str]:
    """Yield what its marks mean, the table, an exercise after the other, and the totals."""
    yield from _marks(expected)
    for exercise, cases in groupby(expected.cases, key=lambda case: case.group):
        yield from _wrapped(f"{exercise}: {expected.exercises[exercise].question}")
        yield _row("", "work of a call", "a call", "", "in the run")
        for _, same in groupby(cases, key=lambda case: case.function):
            yield from _function(list(same))
        yield ""
    yield from _totals(expected)


def _function(cases: Sequence[ExpectedCase]) -> Iterator[str]:
    yield from _wrapped(f"  {cases[0].title}")
    for case in cases:
        name = f"    {shown(case)}"
        if len(name) > NAME:
            yield name
            name = ""
        if case.left_out and case.work is None:
            yield f"{name:{NAME}}  not here: {case.left_out}"
            continue
        letter = FROM[case.basis][0] if case.basis in FROM else ""
        call = "-" if case.call_seconds is None else _seconds(case.call_seconds)
        run = "left out" + "?" * (letter in GUESSES)
        if case.run_seconds is not None:
            run = _about(case.run_seconds)
        yield _row(name, spelled(case.work), f"about {call}" if letter else call, letter, run)


def shown(case: ExpectedCase) -> str:
    """Return a case's name; of many devices the first and the last."""
    name, places = name_of(case.name), case.devices
    if len(places) <= MOST_DEVICES:
        return name
    return name.replace("+".join(places), f"{places[0]}+...+{places[-1]}")


def spelled(work: Work | None) -> str:
    """Return declared work in words, such as "8.19 kFLOP, 3 KiB"."""
    if work is None:
        return "-"
    amounts = ((work.flops, "FLOP"), (work.bytes, "B"))
    parts = [format_value(amount, unit) for amount, unit in amounts if amount is not None]
    if work.items is not None:
        parts.append(counted(round(work.items), "item"))
    return ", ".join(parts[:2])


def _marks(expected: Expected) -> Iterator[str]:
    """Say where the times come from, and what the marks beside them mean, before they are used."""
    if expected.before:
        newest = f"the newest run of {expected.machine}, {expected.before}"
        yield from _wrapped(f"The time of a call is that of {newest}.")
    used = {case.basis for case in expected.cases}
    letters = [f'"{letter}" {words}' for basis, (letter, words) in FROM.items() if basis in used]
    if letters:
        yield from _wrapped(f"A letter marks an estimate: {'; '.join(letters)}.")
    if any(case.left_out and case.work for case in expected.cases):
        longest = format_seconds(expected.longest_sample)
        yield from _wrapped(
            f"Left out: one call takes longer than this profile allows ({longest}); "
            '"?" marks an estimate.'
        )
    yield ""


def _totals(expected: Expected) -> Iterator[str]:
    measured = sum(case.left_out is None for case in expected.cases)
    yield (
        f"{expected.profile}: about {_about(expected.run_seconds)}, "
        f"{counted(expected.launches, 'launch')} of about {_about(expected.launch_seconds)}; "
        f"{counted(measured, 'case')}, {len(expected.cases) - measured} left out or not here"
    )
    if expected.forecast.cases:
        yield from _wrapped(in_words(expected.forecast))


def _row(name: str, work: str, call: str, letter: str, run: str) -> str:
    return f"{name:{NAME}}  {work:<{WORK}} {call:>{CALL}} {letter:1} {run:>{RUN}}".rstrip()


def _seconds(seconds: float, digits: int = 3) -> str:
    return f"{seconds / 60:,.0f} min" if seconds >= MINUTES else format_value(seconds, "s", digits)


def _about(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 1 else _seconds(seconds, 2)


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
