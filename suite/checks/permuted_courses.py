# SPDX-License-Identifier: MIT
"""Trends and steps over the launches of a run, tested by permutations of the launches.

The largest fit over all courses and cases is compared with the largest ones after permuting whole
launches, so that cases which share their launches share their false alarms.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from frobench.suite.compare.rank_tests import Values, table, winsorised

_ORDERS = 4_000


def fits(cases: Sequence[Sequence[float]], beside: int) -> list[tuple[float, float, int | None]]:
    """Return for each case its best course's p-value among all cases, change, and `Drift.since`.

    cases : logs, a row a case, with a value for each launch
    beside : launches on either side of a step, at least
    """
    logs = table(cases)
    launches = len(logs)
    rows = _courses(launches, beside)
    _, values, _ = winsorised(logs)
    values = values - values.mean(axis=0)
    lengths = np.linalg.norm(values, axis=0)
    values = np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)
    orders = _orders(launches)
    largest = np.zeros(len(orders))
    for course in rows:
        np.maximum(largest, np.abs(course[orders] @ values).max(axis=1), out=largest)
    strengths = np.abs(rows @ values)
    best_fits = []
    for case, best in enumerate(strengths.argmax(axis=0).tolist()):
        chance = float((largest >= strengths[best, case] * (1 - 1e-9)).mean())
        course = rows[best]
        change = math.expm1(float(course @ logs[:, case] * np.ptp(course)))
        best_fits.append((chance, change, best + beside if best else None))
    return best_fits


@cache
def _courses(launches: int, beside: int) -> Values:
    """Return a trend and every step, a row each, of mean 0 and length 1."""
    positions = np.arange(launches, dtype=float)
    steps = [positions >= first for first in range(beside, launches - beside + 1)]
    rows = np.array([positions, *steps])
    rows -= rows.mean(axis=1, keepdims=True)
    lengths: Values = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths)


@cache
def _orders(launches: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return orders of the launches, drawn with a fixed seed; the first is the measured one."""
    random = np.random.default_rng(launches)
    orders = np.tile(np.arange(launches), (_ORDERS, 1))
    orders[1:] = random.permuted(orders[1:], axis=1)
    return orders
