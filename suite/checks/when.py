# SPDX-License-Identifier: MIT
"""When launches began: by the system's clock, which may be set, and by one that may not."""

from datetime import UTC, datetime
from typing import NamedTuple

from msgspec import UNSET

from suite.stored.run import Run

TICK = 5.0
"""Seconds by which a system may set its clock right while it measures."""


class Beginning(NamedTuple):
    """When a launch began.

    number : of the launch, from 1
    started : by the system's clock
    begun : seconds since the run began, by a clock that nobody sets; older files do not tell
    seconds : that it took
    """

    number: int
    started: datetime
    begun: float | None
    seconds: float


def beginnings(run: Run) -> list[Beginning]:
    """Return when the launches began, without those that were cut off."""
    return [
        Beginning(number, at, None if launch.begun is UNSET else launch.begun, launch.seconds)
        for number, launch in enumerate(run.frobench.launches, start=1)
        if (at := moment(launch.started))
    ]


def run_began(run: Run) -> datetime | None:
    """Return when the run began by its name; a run may have any."""
    return moment(run.frobench.run.partition("-")[0])


def moment(text: str) -> datetime | None:
    """Return a time in UTC, if the text is one; without a zone it is in UTC already."""
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # of the year 1 or 9999, in another zone
        return None
