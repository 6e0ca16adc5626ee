# SPDX-License-Identifier: MIT
"""Why a run measured nothing: the reasons of its cases, alike ones together."""

from collections.abc import Iterable

from suite.errors import NothingMeasuredError
from suite.model import Outcome
from suite.names import short_name
from suite.units import counted

MOST_REASONS = 10
"""Reasons that are printed, those of failed cases first."""


def require_any(outcomes: Iterable[Outcome]) -> None:
    """Raise `NothingMeasuredError` with the reasons if no case passed."""
    outcomes = list(outcomes)
    if any(outcome.status == "passed" for outcome in outcomes):
        return
    alike: dict[tuple[str, str], list[str]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.status):
        reason = outcome.reason or "no reason given"
        alike.setdefault((outcome.status, reason), []).append(short_name(outcome.fullname))
    lines = [
        f"  {status}: {names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}: {reason}"
        for (status, reason), names in alike.items()
    ]
    if len(lines) > MOST_REASONS:
        lines[MOST_REASONS:] = [f"  and {len(lines) - MOST_REASONS} more reasons"]
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    message = (
        f"nothing was measured, so nothing is stored: {counted(failed, 'case')} failed, "
        f"{len(outcomes) - failed} skipped"
    )
    raise NothingMeasuredError("\n".join([message, *lines]), failed=failed > 0)
