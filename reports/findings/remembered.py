# SPDX-License-Identifier: MIT
"""Selects the cases of each exercise once while several things are made of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from reports.findings.select import Cases
from reports.table.launches import Medians
from suite.stored.run import Run


class _Used(NamedTuple):
    """The run that is used, and its cases by exercise, as far as they were asked for.

    medians : of the launches of cases, by full name, as far as they are known
    """

    run: Run
    cases: dict[str, Cases]
    medians: Medians


_remembered: ContextVar[_Used | None] = ContextVar("remembered", default=None)


@contextmanager
def remembered(run: Run, medians: Medians | None = None) -> Iterator[None]:
    """Select the cases of each exercise of a run only once inside the block; do not change it.

    Parameters
    ----------
    medians
        See `reports.table.launches.ByLaunch`.
    """
    token = _remembered.set(_Used(run, {}, medians or {}))
    try:
        yield
    finally:
        _remembered.reset(token)


def cases_of(run: Run, exercise: str) -> Cases:
    """Return the cases of an exercise, those that are known if the run is `remembered`."""
    used = _remembered.get()
    if used is None or used.run is not run:
        return Cases(run, exercise)
    if exercise not in used.cases:
        used.cases[exercise] = Cases(run, exercise, used.medians)
    return used.cases[exercise]
