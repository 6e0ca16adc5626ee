# SPDX-License-Identifier: MIT
"""Which run the others are compared with unless a reader says otherwise: one rule for all pages."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from reports.table.exercise_names import ON_CPU
from suite.checks.when import moment


class Candidate(NamedTuple):
    """A run that may be the baseline; of two the greater one is.

    Parameters
    ----------
    is_measured, on_accelerator
        Whether a case can stand in a ratio, and whether one of an accelerator can.
    runs
        How many runs of the device there are.
    is_whole
        Whether every launch ended, without an error of the whole run.
    when
        When it was measured, ISO 8601 in UTC.
    """

    is_measured: bool
    on_accelerator: bool
    runs: int
    is_whole: bool
    when: str

    @classmethod
    def of(cls, exercises: Iterable[str], runs: int, when: str, *, is_whole: bool) -> "Candidate":
        """Describe a run with cases of these exercises that can stand in a ratio."""
        names = [*exercises]
        at = moment(when)
        elsewhere = any(not name.endswith(ON_CPU) for name in names)
        return cls(bool(names), elsewhere, runs, is_whole, at.isoformat() if at else "")


def baseline(candidates: Sequence[Candidate]) -> int:
    """Return the place of the newest whole run of the accelerator that has most runs.

    Without an accelerator it is that of the processor with most runs. Of equals the first counts.
    """
    return max(range(len(candidates)), key=lambda place: (candidates[place], -place))
