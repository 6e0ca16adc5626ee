# SPDX-License-Identifier: MIT
# ruff: noqa: D401 - the first line of a rule says what it reports, as a user reads it
"""Rules about cases that were to be measured and were not, or came out wrong."""

from collections.abc import Iterator

from suite.checks.rule import Fault
from suite.model import Run, Severity

SEVERITY: Severity = "error"


def failed_case(run: Run) -> Iterator[Fault]:
    """A case failed: it raised, hung, or its result was wrong.

    Its speed is worth nothing. Run it alone with `-k` and its name to see the whole message.
    """
    for outcome in run.frobench.outcomes:
        if outcome.status == "failed":
            yield Fault(outcome.reason or "no reason was given", outcome.fullname)
