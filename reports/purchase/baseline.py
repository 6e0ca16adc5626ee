# SPDX-License-Identifier: MIT
"""Which run the others are compared with unless a reader says otherwise: one rule for all pages."""

from collections.abc import Iterable

from frobench.reports.table.times import ON_CPU
from frobench.suite.checks.facts import moment


def standing(
    exercises: Iterable[str], runs: int, when: str, href: str, *, is_whole: bool
) -> tuple[bool, bool, int, bool, str, str]:
    """Return how a run stands among those that may be the baseline: the greatest is it.

    It is the newest whole run of the accelerator that has most runs, and without an accelerator
    that of the processor with most runs. Of runs of one second it is that with the last address.

    exercises : those that have a case which can stand in a ratio
    runs : how many runs of the device there are
    when : it was measured, ISO 8601
    href : the address of its page, seen from the index
    is_whole : whether every launch ended, without an error of the whole run
    """
    names, at = [*exercises], moment(when)
    elsewhere = any(not name.endswith(ON_CPU) for name in names)
    return bool(names), elsewhere, runs, is_whole, at.isoformat() if at else "", href
