# SPDX-License-Identifier: MIT
"""The part of a run that went into what it measures."""

from msgspec import UNSET

from suite.stored.run import Run


def part_in_bodies(run: Run) -> float:
    """Return the part of a run that went into bodies and what warms them up, its pilot included."""
    whole = run.frobench
    planned = 0.0 if whole.plan_body_seconds is UNSET else whole.plan_body_seconds
    launches = sum(launch.body_seconds + launch.warmup_seconds for launch in whole.launches)
    return (planned + launches) / whole.seconds
