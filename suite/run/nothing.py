# SPDX-License-Identifier: MIT
"""Why cases were not measured, alike ones together, and the end of a run without any."""

from collections.abc import Iterable

from suite.errors import NothingMeasuredError
from suite.journal.records import Record, Refused
from suite.printable import printable
from suite.run.progress import Reporter
from suite.stored.names import short_name
from suite.stored.run import Outcome
from suite.units import counted

MOST_REASONS = 10
"""Reasons that are printed, those of failed cases first."""


def say_failure(record: Record, reporter: Reporter) -> None:
    """Show why a case failed as soon as it did: the reason, then the error with its traceback."""
    if isinstance(record, Refused) and record.status == "failed":
        reporter.say(printable(f"failed: {short_name(record.case)}: {record.reason}"))
        for line in record.details.splitlines():
            reporter.say(printable(f"  {line}"))


def reasons(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a line for each reason why cases were not measured, with the name of the first."""
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
    return lines


def require_any(outcomes: Iterable[Outcome]) -> None:
    """Raise `NothingMeasuredError` with the reasons if no case passed."""
    outcomes = list(outcomes)
    if any(outcome.status == "passed" for outcome in outcomes):
        return
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    message = (
        f"nothing was measured, so nothing is stored: {counted(failed, 'case')} failed, "
        f"{len(outcomes) - failed} skipped"
    )
    raise NothingMeasuredError("\n".join([message, *reasons(outcomes)]), failed=failed > 0)
