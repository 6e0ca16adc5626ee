# SPDX-License-Identifier: MIT
"""Launches that fall into two modes, which no single number describes.

A process keeps what it drew at its start, such as where its memory lies, so that all samples of a
launch are of one mode.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from frobench.suite.statistics import case_medians
from frobench.suite.stored.types import Case
from frobench.suite.units import format_range

LEAST = 2
"""Launches of a mode, at least."""
GAP = math.log(1.25)
"""Logarithm of the ratio between the nearest launches of two modes, at least."""
APART = 3.0
"""The gap between two modes as a multiple of the wider mode's range, at least."""
WORDS = "two modes"
"""What marks such a number."""


class Modes(NamedTuple):
    """The median of the lower and of the upper mode."""

    low: float
    high: float

    def text(self, unit: str) -> str:
        """Spell both, such as "22 or 41 µs"."""
        return format_range(self.low, self.high, unit, " or ", digits=2)


def two_modes(by_launch: Sequence[float | None]) -> Modes | None:
    """Return the two modes of positive numbers, one of each launch; nothing where there is one."""
    ordered = sorted(value for value in by_launch if value is not None)
    if len(ordered) < 2 * LEAST or ordered[0] <= 0:
        return None
    logs = [math.log(value) for value in ordered]
    cuts = range(LEAST, len(logs) - LEAST + 1)
    cut = max(cuts, key=lambda at: logs[at] - logs[at - 1])
    gap = logs[cut] - logs[cut - 1]
    widest = max(logs[cut - 1] - logs[0], logs[-1] - logs[cut])
    if gap < GAP or gap < APART * widest:
        return None
    return Modes(median(ordered[:cut]), median(ordered[cut:]))


def modes_of(case: Case) -> Modes | None:
    """Return the two modes of a case's launch medians, in seconds; nothing where there is one."""
    return two_modes(case_medians(case))
