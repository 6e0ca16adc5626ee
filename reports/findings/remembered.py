# SPDX-License-Identifier: MIT
"""Selects the cases of each exercise once while several things are made of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from frobench.reports.findings.select import Cases
from frobench.suite.statistics import Medians
from frobench.suite.stored.types import Run

_remembered: ContextVar[tuple[Run, Medians, dict[str, Cases]] | None]
_remembered = ContextVar("remembered", default=None)


@contextmanager
def remembered(run: Run, medians: Medians | None = None) -> Iterator[None]:
    """Select the cases of each exercise of a run only once inside the block; do not change it.

    medians : see `reports.table.launches.ByLaunch`
    """
    token = _remembered.set((run, medians or {}, {}))
    try:
        yield
    finally:
        _remembered.reset(token)


def cases_of(run: Run, exercise: str) -> Cases:
    """Return the cases of an exercise, those that are known if the run is `remembered`."""
    used, medians, cases = _remembered.get() or (None, {}, {})
    if used is not run:
        return Cases(run, exercise)
    if exercise not in cases:
        cases[exercise] = Cases(run, exercise, medians)
    return cases[exercise]
