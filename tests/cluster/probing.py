# SPDX-License-Identifier: MIT
"""A job that times messages between two nodes in turn with plain transfers, at planted rates.

Each node runs `python -m tests.cluster.probing NAME SUBNET RATE...` under torchrun. The first one
prints a line of JSON for each round: the rate of the link, and the bytes a second of a plain
transfer, of a round trip's messages, and of an all-reduce (its bus bandwidth). There are rounds
until the best three agree.
"""

import json
import sys
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from frobench.suite.kit.group import Group
from frobench.suite.nodes.groups import Groups
from frobench.suite.nodes.rendezvous import position
from frobench.suite.profiles import settings_for
from frobench.suite.run.runner import coordinating, take_part
from tests.cluster import plain_tcp
from tests.cluster.namespaces import Links
from tests.instruments.processes.alone import BENCHMARKS

SIZE = 16 * 2**20
DEADLINE = 120.0
ROUNDS = 30
"""For each rate, at most."""
AGREED, NEAR = 3, 0.03
"""How many of the best rounds have to agree, and how closely."""


def best(rates: Sequence[float]) -> float | None:
    """Return the median of the best three rates, if they agree: a disturbance only slows."""
    three = sorted(rates)[-AGREED:]
    agree = len(three) == AGREED and three[-1] - three[0] <= NEAR * three[-1]
    return median(three) if agree else None


def rate(group: Group, operation: Callable[..., Any], moved: float) -> float:
    """Return the bytes a second of one call between two nodes, which is checked."""
    with group.task(operation, SIZE) as body:
        body.timed(1)
        begun, ended = body.timed(1)
        check = body.check()
        assert check.passed, check
    return moved / (ended - begun)


def agreed(seen: Sequence[dict[str, float]]) -> bool:
    """Tell whether the best rounds agree in everything."""
    return bool(seen) and all(best([line[name] for line in seen]) for name in seen[0])


def main() -> None:
    """Take part in the job, on the first node as the one that measures."""
    links = Links(sys.argv[1], int(sys.argv[2]), 2)
    here = position()
    if here.number > 0:
        take_part(here, BENCHMARKS, wait=None)
        return
    sys.path.insert(0, str(BENCHMARKS))
    import networks  # noqa: PLC0415 - found by now

    with coordinating(here, BENCHMARKS) as meeting:
        settings = settings_for("quick", ["cpu"], deadline=DEADLINE)
        groups = Groups(0, settings, lambda _: [])
        group = groups.find("cpu/2x1")
        for bits in map(float, sys.argv[3:]):
            for number in range(links.count):
                links.limit(number, bits)
            seen: list[dict[str, float]] = []
            while len(seen) < ROUNDS and not agreed(seen):
                line = {
                    "plain": SIZE / plain_tcp.send(meeting.nodes[1].address, SIZE),
                    "trip": rate(group, networks.round_trip, 2 * SIZE),
                    "sum": rate(group, networks.all_reduce, SIZE),
                }
                seen.append(line)
                sys.stdout.write(json.dumps({"bits": bits, **line}) + "\n")
                sys.stdout.flush()
        groups.drop()


if __name__ == "__main__":
    main()
