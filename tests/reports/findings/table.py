# SPDX-License-Identifier: MIT
"""Tables of answers: the times of cases, line by line, and what the page of such a run says.

Each section is an exercise, and each of its rows has lines of

``+ function | device | parameters | microseconds | what is declared and stored``
    Cases, one for each function, if several are apart by commas, and for each value of the
    parameter that has several, here called x: with a time for each, one for all, or a law such as
    ``20 + 0.0001x``. Work is declared as ``flops=2x^3``. What else may stand there says `STORED`.
    A ``group/function`` is a case of another exercise.
``- function | parameters | reason``
    A case that was left out.
``* name | number and its interval, or none | words``, ``= name | number | words``
    The leading answer, and another one, or several of which the same is said. In the words x is for
    times, an ellipsis for any others, and behind an arrow is the rule of thumb.
``! name``
    An answer or a plot that is not there, or several.
``~ plot | line | points``
    A line of a plot, of which all are told, or several with equal points: these are places, or
    ``place=number``. Lines are apart by slashes.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import cycle, islice, product
from typing import Any

from msgspec.structs import replace

from frobench.suite.stored.types import Case, Check, NodeFacts, Run, Search, Work
from tests.instruments.runs.exact_runs import LAUNCHES, WOBBLE, case, left_out, run_of
from tests.reports.tables import Row, named, rows

PAIR = "cuda:0+cuda:1"
FOUR = f"{PAIR}+cuda:2+cuda:3"
HALVES = "cpu/0+cpu/1"
MICRO = 1e-6
WORK = {"flops", "bytes", "items", "path"}
STORED = {"against", "busy", "check", "concurrency", "headline", "launches", "search"}
"""Of a case: its other version's time as a multiple of its own; its lanes' work and proof; the
error of its check, and the precision that it saw; by what its launches differ; and how good the
next best shape was. Anything else is a part, in microseconds."""
TERM = re.compile(r"([\d.e+-]+)(x?)\^?(\d?)")


def cases(lines: str) -> list[Case]:
    """Build the cases of lines, each of its group."""
    (row,) = rows(f"## cases\n# of lines\n{lines.strip()}")
    return [case for cells in row.lines["+"] for case in _cases(*cells)]


def run(row: Row) -> Run:
    """Build the run of a row, with as many accelerators as its cases have, if not told."""
    every = [case for cells in row.lines["+"] for case in _cases(*cells)]
    devices = {device for one in every if not one.group for device in one.extra_info.devices}
    made = run_of(
        row.section,
        [one for one in every if not one.group],
        [
            left_out(f"bench_{function}", row.how.get("status", "skipped"), reason, **_of(params))
            for function, params, reason in row.lines["-"]
        ],
        accelerators=int(row.how.get("accelerators", sum("cuda:" in one for one in devices))),
        devices=row.how["devices"].split(",") if "devices" in row.how else None,
        beside=[one for one in every if one.group],
    )
    settings = made.frobench.settings
    made.frobench.settings = replace(settings, expression=row.how.get("expression", ""))
    if "links" in row.how:
        links = [float(link) if link else None for link in row.how["links"].split(",")]
        made.frobench.nodes = [NodeFacts(ranks=1, link=link) for link in links]
    return made


def _cases(function: str, device: str, params: str, times: str, more: str = "") -> Iterator[Case]:
    """Yield the cases of a line."""
    group, _, names = function.rpartition("/")
    given = {key: text.split(",") for key, text in named(params).items()}
    over = max(given, key=lambda key: len(given[key]), default="")
    sizes = given.get(over, ["1"])
    law = times.split(" + ") if "x" in times else None
    each = cycle(float(one) for one in times.split()) if law is None else iter(())
    for name, size in product(names.split(","), sizes):
        x = int(size) if size.isdigit() else 1
        took = next(each) if law is None else sum(float(_amount(term, x)) for term in law)
        one = {key: _value(size if key == over else text[0]) for key, text in given.items()}
        made = _case(f"bench_{name}", MICRO * took, device, one, x, named(more))
        yield replace(made, group=group)


def _case(  # noqa: PLR0913, PLR0917 - what a line of a table tells
    function: str, seconds: float, device: str, params: dict[str, Any], x: int, more: dict[str, str]
) -> Case:
    declared: dict[str, Any] = {name: _amount(more[name], x) for name in WORK & more.keys()}
    factors = _launches(more["launches"]) if "launches" in more else WOBBLE
    made = case(
        function,
        [seconds * factor for factor in factors],
        device,
        work=Work(**declared),
        concurrency=float(more["concurrency"]) if "concurrency" in more else None,
        busy=MICRO * float(more["busy"]) if "busy" in more else None,
        **params,
    )
    info = made.extra_info
    for name in more.keys() - WORK - STORED:
        info.parts[name] = [MICRO * float(_amount(more[name], x)) * factor for factor in factors]
    info.headline = more.get("headline") != "no"
    if "against" in more:
        info.against = [float(more["against"]) * seconds * factor for factor in factors]
    if "check" in more:
        error, _, precision = more["check"].partition(",")
        info.check = Check("outputs", float(error), 0.3, precision or None)
    if "search" in more:
        best = None if more["search"] == "alone" else float(more["search"])
        info.search = Search(shape=[4096, 8192, 2048], shapes=87, seconds=3.125, runner_up=best)
    return made


def _launches(text: str) -> Sequence[float]:
    """Return factors of all launches, from some of them: those repeat, each maybe by itself."""
    found: list[float] = []
    for part in text.split(","):
        factor, _, times = part.partition("*")
        found += [float(factor)] * int(times or 1)
    return [*islice(cycle(found), LAUNCHES)]


def _amount(text: str, x: float) -> float | str:
    """Return a number, or one times a power of x; other texts as they are."""
    if (found := TERM.fullmatch(text)) is None:
        return text
    number, sized, power = found.groups()
    return float(number) * (x ** int(power or 1) if sized else 1)


def _of(params: str) -> dict[str, Any]:
    return {key: _value(text) for key, text in named(params).items()}


def _value(text: str) -> int | str:
    return int(text) if text.isdigit() else text.strip("'")
