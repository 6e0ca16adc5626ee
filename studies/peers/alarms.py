# SPDX-License-Identifier: MIT
"""How often a tool's user is told that identical code differs."""

import random
from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from studies.peers.figures import Alarms
from studies.peers.plan import Taken
from studies.peers.rules import upper_bound
from studies.peers.tool import Measurement, Process, Tool

DRAWN = 200
"""Shuffles of a body's processes, for a tool that takes several in one use."""


def alarms(tools: Sequence[Tool], taken: Taken) -> list[Alarms]:
    """Return the false alarms of each tool over all bodies."""
    return [
        _alarms(tool, [uses for (name, _), uses in taken.items() if name == tool.name])
        for tool in tools
    ]


def _alarms(tool: Tool, bodies: Sequence[Sequence[Measurement]]) -> Alarms:
    """Judge the uses of every body, and their processes as if they had come in another order."""
    pairs = [
        tool.rules.differs(*pair) for uses in bodies for pair in _rounds_apart(uses, tool.uses)
    ]
    shuffles = [tool.rules.differs(*pair) for uses in bodies for pair in _shuffled(uses)]
    return Alarms(
        tool=tool.name,
        pairs=len(pairs),
        different=sum(pairs),
        upper=upper_bound(sum(pairs), len(pairs)),
        shuffled=sum(shuffles) / len(shuffles) if shuffles else None,
    )


def _rounds_apart(
    uses: Sequence[Measurement], in_round: int
) -> Iterator[tuple[Measurement, Measurement]]:
    """Yield disjoint pairs of uses from neighbouring rounds, so that all tools wait as long."""
    rounds = [uses[start : start + in_round] for start in range(0, len(uses), in_round)]
    for earlier, later in zip(rounds[::2], rounds[1::2], strict=False):
        yield from zip(earlier, later, strict=False)


def _shuffled(uses: Sequence[Measurement]) -> Iterator[tuple[Measurement, Measurement]]:
    """Yield pairs of uses that are made of processes in any order: what drifts plays no part."""
    pool = list(chain.from_iterable(use.processes for use in uses))
    size = len(uses[0].processes)
    if size == 1:
        yield from ((_use([base]), _use([new])) for base, new in combinations(pool, 2))
        return
    draw = random.Random(0)  # noqa: S311 - not for secrets
    for _ in range(DRAWN if len(pool) >= 2 * size else 0):
        both = draw.sample(pool, 2 * size)
        yield _use(both[:size]), _use(both[size:])


def _use(processes: list[Process]) -> Measurement:
    return Measurement(body="", processes=processes)
