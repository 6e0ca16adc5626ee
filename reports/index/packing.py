# SPDX-License-Identifier: MIT
"""The estimates of many runs as plain text, two characters each, for a script to read.

A page that holds a thousand runs of three hundred cases has room for little more. Times are
logarithms in whole steps (`reports.table.estimates`), so nothing is lost. Text that a compressor
wrote would be smaller, but not equal between its versions. `static/packing.js` reads it.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from frobench.reports.table.estimates import STEP
from frobench.reports.table.launches import Numbers

DIGITS = "".join(
    character for character in map(chr, range(ord("!"), ord("~"))) if character not in '"&<>\\'
)
"""Digits of a number to base 88: what JSON inside a page spells as it is, less the gap's mark."""
GAP, ONE_MISSING = "~", " "
"""What stands before the number, of two digits, of cases that a run lacks, and for one of few."""
LEAST_ERROR, ERROR_LEVELS = 1e-5, 7
"""The least standard error of a logarithm that is told, and how many digits lead to e times it."""
Places = NDArray[np.int64]
_LONGEST_GAP = len(DIGITS) ** 2 - 1


class Packed(TypedDict):
    """The times of runs, packed.

    least : the least logarithm of each case, in steps
    widths : how many digits of each case's logarithms count the steps from there
    runs : for each run its cases in order, and before those that follow missing ones a gap
    """

    least: list[int]
    widths: list[int]
    runs: list[str]


def pack(logs: Numbers) -> Packed:
    """Pack the logarithms of seconds, by run (rows) and case, NaN where a run lacks one."""
    steps = np.round(logs / STEP)
    there = ~np.isnan(steps)
    measured = there.any(axis=0)
    least = np.min(steps, axis=0, initial=np.inf, where=there)
    most = np.max(steps, axis=0, initial=-np.inf, where=there)
    least, most = (np.where(measured, ends, 0.0).astype(int) for ends in (least, most))
    widths = [_width(span) for span in (most - least).tolist()]
    return Packed(
        least=least.tolist(),
        widths=widths,
        runs=[
            _run(cases := np.flatnonzero(known), (run[cases] - least[cases]).astype(int), widths)
            for run, known in zip(steps, there, strict=True)
        ],
    )


def pack_error(error: float | None) -> str:
    """Return the digit of a logarithm's standard error, within 7.5%; the first is for none."""
    if error is None:
        return DIGITS[0]
    level = 1 + round(ERROR_LEVELS * math.log(max(error / LEAST_ERROR, 1.0)))
    return DIGITS[min(level, len(DIGITS) - 1)]


def pack_share(share: float) -> str:
    """Return the digit of a number from 0 to 1, within 0.6% of the whole."""
    return DIGITS[round(share * (len(DIGITS) - 1))]


def _width(span: int) -> int:
    width = 2
    while len(DIGITS) ** width <= span:
        width += 1
    return width


def _run(cases: Places, steps: Places, widths: Sequence[int]) -> str:
    """Spell a run's steps, by the ascending places of its cases."""
    texts = [
        _digits(step, widths[case])
        for case, step in zip(cases.tolist(), steps.tolist(), strict=True)
    ]
    missing = np.diff(cases, prepend=-1) - 1
    for place in np.flatnonzero(missing).tolist():
        texts[place] = _gap(int(missing[place])) + texts[place]
    return "".join(texts)


@cache
def _gap(missing: int) -> str:
    longest, rest = divmod(missing, _LONGEST_GAP)
    whole = GAP + _digits(_LONGEST_GAP, 2)
    few = rest <= len(GAP) + 2
    return whole * longest + (ONE_MISSING * rest if few else GAP + _digits(rest, 2))


@cache  # neighbouring steps come again in a thousand runs
def _digits(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits
