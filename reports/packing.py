# SPDX-License-Identifier: MIT
"""The estimates of many runs as plain text, three characters each, for a script to read.

A page that holds a thousand runs of three hundred cases has room for three characters an
estimate: two for the time, one for its standard error. Times are logarithms in steps of a
thousandth, so a ratio of two is within 0.1% of what the stored runs say, which is the last of
three digits. Text that a compressor wrote would be smaller, but not equal between its versions.
`static/packing.js` reads it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

STEP = 1e-3
"""Of a time's natural logarithm."""
LEAST_ERROR = 1e-5
"""The smallest standard error of a logarithm that is told from none at all."""
ERROR_LEVELS = 7
"""How many characters stand for standard errors from 1 to e: they are within 7.5%."""
DIGITS = "".join(
    character for character in map(chr, range(ord("!"), ord("~"))) if character not in '"&<>\\'
)
"""Digits of a number to base 88: what JSON inside a page spells as it is, less the gap's mark."""
GAP = "~"
"""Stands before the number, of two digits, of cases that a run lacks."""
_LONGEST_GAP = len(DIGITS) ** 2 - 1


class Timing(NamedTuple):
    """What is packed of an estimate.

    Parameters
    ----------
    seconds
        Positive.
    error
        The standard error of the natural logarithm of the seconds; ``None`` where there are
        too few launches for one.
    """

    seconds: float
    error: float | None


class Packed(TypedDict):
    """Packed estimates.

    Attributes
    ----------
    least
        The least logarithm of each case, in steps.
    widths
        How many digits of each case's logarithms count the steps from there.
    runs
        For each run its cases in order: a gap, or the digits and one for the standard error.
    """

    least: list[int]
    widths: list[int]
    runs: list[str]


def pack(runs: Sequence[Mapping[str, Timing]], cases: Sequence[str]) -> Packed:
    """Pack the estimates of runs, by case; each of a run's cases is among `cases`."""
    steps = [
        {case: round(math.log(one.seconds) / STEP) for case, one in run.items()} for run in runs
    ]
    least, most = dict.fromkeys(cases, 0), dict.fromkeys(cases, 0)
    seen: set[str] = set()
    for run in steps:
        for case, step in run.items():
            least[case] = min(step, least[case]) if case in seen else step
            most[case] = max(step, most[case]) if case in seen else step
            seen.add(case)
    widths = {case: _width(most[case] - least[case]) for case in cases}
    place = {case: index for index, case in enumerate(cases)}
    return Packed(
        least=list(least.values()),
        widths=list(widths.values()),
        runs=[
            "".join(
                _gap(gap) + _digits(counted[case] - least[case], widths[case]) + _error(run[case])
                for case, gap in _gaps(sorted(run, key=place.__getitem__), place)
            )
            for run, counted in zip(runs, steps, strict=True)
        ],
    )


def _gaps(present: Sequence[str], place: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return each case with the number of cases that are missing before it."""
    before = [-1, *(place[case] for case in present)]
    return [(case, place[case] - last - 1) for case, last in zip(present, before, strict=False)]


def _width(span: int) -> int:
    width = 2
    while len(DIGITS) ** width <= span:
        width += 1
    return width


def _digits(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits


def _gap(missing: int) -> str:
    whole, rest = divmod(missing, _LONGEST_GAP)
    longest = GAP + _digits(_LONGEST_GAP, 2)
    return longest * whole + (GAP + _digits(rest, 2) if rest else "")


def _error(timing: Timing) -> str:
    """Return the digit of a standard error; the first says that there is none."""
    if timing.error is None:
        return DIGITS[0]
    level = round(ERROR_LEVELS * math.log(max(timing.error, LEAST_ERROR) / LEAST_ERROR)) + 1
    return DIGITS[min(level, len(DIGITS) - 1)]
