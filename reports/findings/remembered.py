# SPDX-License-Identifier: MIT
"""The cases of an exercise, looked at once for everything that is made of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from reports.findings.select import Cases
from suite.stored.run import Run

_remembered: ContextVar[tuple[Run, dict[str, Cases]] | None] = ContextVar(
    "remembered", default=None
)
"""The run that is used, and its cases by exercise, as far as they were asked for."""


@contextmanager
def remembered(run: Run) -> Iterator[None]:
    """Look at the cases of a run once, as long as nothing changes it."""
    token = _remembered.set((run, {}))
    try:
        yield
    finally:
        _remembered.reset(token)


def cases_of(run: Run, exercise: str) -> Cases:
    """Return the cases of an exercise, those that are known if the run is `remembered`."""
    used, known = _remembered.get() or (None, {})
    if used is not run:
        return Cases(run, exercise)
    if exercise not in known:
        known[exercise] = Cases(run, exercise)
    return known[exercise]
