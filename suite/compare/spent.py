# SPDX-License-Identifier: MIT
"""Whether two runs gave a case the same time: an accelerator that works on end becomes slower."""

from statistics import median

from suite.stored.differences import Difference
from suite.stored.run import Case, Run

MUCH_LONGER = 2.0
"""Times the time for a case in a launch from which an accelerator was in another state."""


def settings_that_differ(base: Run, new: Run) -> list[Difference]:
    """Return what the two runs were told to do otherwise, as far as it may move a number."""
    old, late = base.frobench.settings, new.frobench.settings
    facts = {
        "settings.profile": (old.profile, late.profile),
        "settings.case_seconds": (old.case_seconds, late.case_seconds),
    }
    return [
        Difference(fact, before, after)
        for fact, (before, after) in facts.items()
        if before != after
    ]


def other_time(base: Run, new: Run, old: Case, late: Case) -> str | None:
    """Say why a case on an accelerator was sampled for another time, or ``None``.

    Of a call that is so short that both runs stop at the same number of samples, the time for a
    case says nothing.
    """
    if all(name.partition("/")[0] == "cpu" for name in old.extra_info.devices):
        return None
    seconds = [run.frobench.settings.case_seconds for run in (base, new)]
    counts = [
        median([count for count in case.extra_info.launches if count] or [1])
        for case in (old, late)
    ]
    if min(_times(seconds), _times(counts)) < MUCH_LONGER:
        return None
    before, after = seconds
    return f"another time for a case on an accelerator: {before:g} s -> {after:g} s in a launch"


def _times(pair: list[float]) -> float:
    return max(pair) / min(pair)
