# SPDX-License-Identifier: MIT
"""Whether Frobench reaches what is asked of it, and by which measures it comes first."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median

from frobench.suite.units import format_seconds
from studies.peers.adapters import OURS
from studies.peers.bodies import QUEUED
from studies.peers.figures import Alarms, Effort, Empty, Goal, Lead, OnDevice, Wait

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
            for how, seconds in _WAYS.items():
                mine, theirs = seconds(ours), seconds(rival)
                yield Goal(
                    goal=f"{ours.body}, {how}: an honest \N{PLUS-MINUS SIGN}1% in no more time "
                    f"than {RIVAL}'s",
                    seen=f"{_time(mine)} against {_time(theirs)}",
                    met=mine <= theirs and mine < NEVER,
                )


def _alone(effort: Effort) -> float:
    return effort.alone if effort.honest and effort.alone is not None else NEVER


def _shared(effort: Effort) -> float:
    return effort.shared if effort.honest and effort.shared is not None else NEVER


_WAYS: dict[str, Callable[[Effort], float]] = {"alone": _alone, "among others": _shared}


def _time(seconds: float) -> str:
    return "never" if seconds == NEVER else format_seconds(seconds)


def leads(
    waits: Sequence[Wait],
    devices: Sequence[OnDevice],
    costs: Sequence[Empty],
    efforts: Sequence[Effort],
    alarms: Sequence[Alarms],
) -> list[Lead]:
    """Return who comes first by each measure; what is level with Frobench does not beat it."""
    known = (
        (seen.tool, abs(seen.reported / seen.wait - 1))
        for seen in devices
        if seen.wait is not None and seen.body == QUEUED
    )
    return [
        _lead(
            "largest error of a wait, as a part of what is allowed",
            _worst((wait.tool, abs(wait.error) / _allowed(wait)) for wait in waits),
        ),
        _lead("error of a product on the simulated device, as the tool waits for it", dict(known)),
        _lead("a call of nothing", {cost.tool: cost.reported for cost in costs}, unit="s"),
        *(
            _lead(
                f"an honest \N{PLUS-MINUS SIGN}1% of all main bodies, {how}",
                _total(efforts, seconds),
                unit="s",
            )
            for how, seconds in _WAYS.items()
        ),
        _lead(
            "identical code called different",
            {seen.tool: seen.different / seen.pairs for seen in alarms if seen.pairs},
        ),
        _lead(
            "identical code called different, processes shuffled",
            {seen.tool: seen.shuffled for seen in alarms if seen.shuffled is not None},
        ),
    ]


def _worst(sizes: Iterable[tuple[str, float]]) -> dict[str, float]:
    worst: dict[str, float] = {}
    for tool, size in sizes:
        worst[tool] = max(worst.get(tool, 0.0), size)
    return worst


def _total(efforts: Sequence[Effort], seconds: Callable[[Effort], float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for effort in efforts:
        total[effort.tool] = total.get(effort.tool, 0.0) + seconds(effort)
    return total


def _lead(measure: str, values: Mapping[str, float], unit: str = "1") -> Lead:
    ours = values.get(OURS, NEVER)
    peers = {name: value for name, value in values.items() if name != OURS}
    whose = min(peers, key=peers.__getitem__, default=None)
    best = NEVER if whose is None else peers[whose]
    return Lead(
        measure=measure,
        ours=None if ours == NEVER else ours,
        best=None if best == NEVER else best,
        whose=None if best == NEVER else whose,
        unit=unit,
        leads=ours <= best and ours < NEVER,
    )
