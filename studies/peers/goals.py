# SPDX-License-Identifier: MIT
"""Whether Frobench reaches what is asked of it."""

import math
from collections.abc import Iterator, Sequence
from statistics import median

from frobench.suite.units import format_seconds
from studies.peers.adapters import OURS
from studies.peers.figures import Effort, Empty, Goal, Wait

NEAR = 0.005
"""How near a recorded wait must come, relative, unless two clock readings are more."""
RIVAL = "pyperf"
"""The tool whose time to an honest +-1% is the mark to beat."""
NEVER = math.inf


def goals(waits: Sequence[Wait], costs: Sequence[Empty], efforts: Sequence[Effort]) -> list[Goal]:
    """Return what is asked of Frobench, and whether it was met."""
    return [
        *(_near(wait) for wait in waits if wait.tool == OURS),
        *_cheap(costs, median(wait.two_readings for wait in waits)),
        *(goal for effort in efforts if effort.tool == OURS for goal in _quick(effort, efforts)),
    ]


def _near(wait: Wait) -> Goal:
    allowed = _allowed(wait)
    return Goal(
        goal=f"{wait.body}: recovered within 0.5% or two clock readings "
        f"({format_seconds(allowed)})",
        seen=f"{format_seconds(wait.error)} off ({format_seconds(wait.excess)} beyond what it "
        f"recorded, of which its own call takes {format_seconds(wait.own_call)})",
        met=abs(wait.error) <= allowed,
    )


def _allowed(wait: Wait) -> float:
    return max(NEAR * wait.recorded, wait.two_readings)


def _cheap(costs: Sequence[Empty], two_readings: float) -> Iterator[Goal]:
    peers = [cost.reported for cost in costs if cost.tool != OURS]
    for cost in costs:
        if cost.tool == OURS and peers:
            beyond = cost.reported - min(peers)
            yield Goal(
                goal="cost added to an empty body: at most two clock readings "
                f"({format_seconds(two_readings)}) beyond the best peer's",
                seen=f"{format_seconds(beyond)} beyond",
                met=beyond <= two_readings,
            )


def _quick(ours: Effort, efforts: Sequence[Effort]) -> Iterator[Goal]:
    """Ask for an honest +-1% in no more time."""
    for rival in efforts:
        if rival.tool == RIVAL and rival.body == ours.body:
            for how, name in (("alone", "alone"), ("among others", "shared")):
                mine, theirs = _honest(ours, name), _honest(rival, name)
                yield Goal(
                    goal=f"{ours.body}, {how}: an honest \N{PLUS-MINUS SIGN}1% in no more time "
                    f"than {RIVAL}'s",
                    seen=f"{_time(mine)} against {_time(theirs)}",
                    met=mine <= theirs and mine < NEVER,
                )


def _honest(effort: Effort, name: str) -> float:
    return float(getattr(effort, name) or NEVER) if effort.honest else NEVER


def _time(seconds: float) -> str:
    return "never" if seconds == NEVER else format_seconds(seconds)
