# SPDX-License-Identifier: MIT
"""Rules about when a run says that it was measured, by which revision, and on which machine."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from suite.checks.facts import beginnings, moment, run_began
from suite.checks.rule import Fault
from suite.stored.names import machine_name
from suite.stored.run import Run, Severity

SEVERITY: Severity = "error"

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
"""No run is older: Frobench was begun in this year."""
DAY = timedelta(days=1)
"""How wrong the clock of a machine may honestly be, and how far time zones lie apart."""
_REVISION = re.compile(r"[0-9a-f]{7,64}")


def impossible_date(run: Run) -> Iterator[Fault]:
    """A run's date is none, older than Frobench, in the future, or not that of its name.

    Set the clock of the machine that measured, or of the one that reads. Else the date was changed:
    take the file again from where it was made.
    """
    dated, named, now = moment(run.datetime), run_began(run), datetime.now(UTC)
    if dated is None:
        yield Fault("its date is none")
        return
    if not FIRST - DAY <= dated <= now + DAY:
        yield Fault(f"it is dated {dated.date()}, today is {now.date()}")
    took = timedelta(seconds=min(max(run.frobench.seconds, 0.0), DAY.total_seconds()))
    if named and not -DAY <= dated - named <= DAY + took:
        yield Fault(f"it is dated {dated.date()}, and named for {named.date()}")
    launches = beginnings(run)
    if launches and launches[0].started < dated - DAY - took:
        yield Fault(f"it is dated {dated.date()}, and began {launches[0].started.date()}")


def impossible_commit(run: Run) -> Iterator[Fault]:
    """The revision that a run names is none that git gives.

    It was changed. Take the file again from where it was made.
    """
    project = run.frobench.project
    for revision in (run.commit_info.id, project.id if project else None):
        if revision is not None and not (_REVISION.fullmatch(revision) and len({*revision}) > 1):
            yield Fault(f"{revision[:40]!r} is no revision")


def other_machine(run: Run) -> Iterator[Fault]:
    """The name of a run's kind of machine is not the one that its processor and devices give.

    One of them was changed. Take the file again from where it was made.
    """
    facts = run.frobench.environment
    if facts.machine != (name := machine_name(facts.cpu, facts.accelerators)):
        yield Fault(f"it is stored for {facts.machine[:80]!r}, and its facts are those of {name!r}")
