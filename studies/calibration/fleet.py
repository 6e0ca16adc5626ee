# SPDX-License-Identifier: MIT
"""How often the fleet page names a node although all are equal, and which slow ones it finds."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from statistics import median
from typing import NamedTuple

import numpy as np

from frobench.reports.fleet.unlike import Unlike
from studies.calibration.figures import Figure, Goal, Table, errors
from studies.calibration.work import Spread, Tell
from tests.instruments.runs.made_up_fleet import EQUAL, EXERCISES, LAUNCHES, SCATTER

NODES = (3, 5, 10, 30, 100, 1000)
SLOW = (0.02, 0.03, 0.05, 0.2)
PLANTED = 10
"""Slow nodes of a page, at most a tenth of the nodes; each in one exercise."""
PAGES = 40
"""Pages of a cell, which is one generator's."""
LARGE = 1000
"""Nodes of the pages that the goals of slow nodes are for."""
ALARMS, FOUND = 0.05, Goal(least=0.95)
GUARANTEED = 0.05
"""The slow-down that must be found."""


MANY, PARTS, SLOWER = (6, 12, 50, 1000), {1 / 3: "a third", 1 / 2: "half"}, (0.05, 0.2)
GUARANTEED_NODES = 50
"""Nodes from which on two groups must be found."""


class Cell(NamedTuple):
    """Pages that are simulated together; ``slow`` is the time that planted nodes take longer."""

    nodes: int
    slow: float
    seed: int


class Groups(NamedTuple):
    """Pages of nodes, some of which take longer in one exercise."""

    nodes: int
    part: float
    slow: float
    seed: int


class Seen(NamedTuple):
    """What pages said.

    alarms : pages that named a node which is equal to the others, or groups of equal nodes
    found, planted : slow nodes that were named in their exercise, and that there were
    smallest : the slow-down that a page prints as the smallest it would have found, its median
    """

    alarms: int
    found: int
    planted: int
    smallest: float


def study(tell: Tell, spread: Spread, trials: int) -> list[Table]:
    """Return the share of pages with a false alarm, and of slow nodes that were found.

    trials : pages simulated for each number of nodes and slow-down
    """
    batches = max(1, trials // PAGES)
    cells = [Cell(nodes, slow, n) for nodes in NODES for slow in SLOW for n in range(batches)]
    seen: dict[tuple[int, float], list[Seen]] = {}
    pages = min(PAGES, trials)
    for done, (cell, one) in enumerate(
        zip(cells, spread(partial(simulated, pages=pages), cells), strict=True), start=1
    ):
        seen.setdefault((cell.nodes, cell.slow), []).append(one)
        tell(done / len(cells), f"{cell.nodes} nodes")
    figures = [
        figure for nodes in NODES for figure in _row(nodes, seen, batches * pages * len(SLOW))
    ]
    planted = [Groups(*one, n) for one in product(MANY, PARTS, SLOWER) for n in range(batches)]
    named: dict[Groups, int] = {}
    for groups, found in zip(planted, spread(partial(grouped, pages=pages), planted), strict=True):
        kind = groups._replace(seed=0)
        named[kind] = named.get(kind, 0) + found
    return [
        Table(
            title=(
                f"Fleets of equal nodes with up to {PLANTED} slow ones, in {len(EXERCISES)} "
                f"exercises and {LAUNCHES} launches; launches differ by {SCATTER:.0%} and equal "
                f"nodes by {EQUAL:.1%} (standard deviations)"
            ),
            rows="nodes",
            figures=figures,
            note=(
                "A page raises a false alarm if it names an equal node in any exercise. The goals "
                "of slow nodes are for 1,000 nodes; the last column is what pages print as the "
                "smallest slow-down that would have been found."
            ),
        ),
        Table(
            title="Pages that name the two groups of nodes, where a part of them is slower",
            rows="nodes",
            figures=[
                Figure.of(
                    f"{one.nodes:,}",
                    f"{PARTS[one.part]} {one.slow:.0%} slower",
                    found / (batches * pages),
                    "1",
                    FOUND if one.nodes >= GUARANTEED_NODES else None,
                )
                for one, found in named.items()
            ],
            note=(
                "Groups are named if at most 1% of the nodes are in the wrong one, and no other "
                "exercise has groups."
            ),
        ),
    ]


def _row(nodes: int, seen: dict[tuple[int, float], list[Seen]], pages: int) -> Sequence[Figure]:
    every = [one for (many, _), each in seen.items() if many == nodes for one in each]
    row = f"{nodes:,}"
    found = []
    for slow in SLOW:
        mine = seen[nodes, slow]
        share = sum(one.found for one in mine) / sum(one.planted for one in mine)
        goal = FOUND if slow >= GUARANTEED and nodes == LARGE else None
        found.append(Figure.of(row, f"{slow:.0%} found", share, "1", goal))
    smallest = median(one.smallest for one in every)
    return [
        errors(row, "false alarms", sum(one.alarms for one in every), pages, ALARMS),
        *found,
        Figure.of(row, "smallest printed", smallest, "1"),
    ]


def simulated(cell: Cell, pages: int) -> Seen:
    """Simulate pages of one size with slow nodes of one kind."""
    chance = np.random.default_rng([cell.nodes, round(1000 * cell.slow), cell.seed])
    planted = max(1, min(PLANTED, cell.nodes // 10))
    alarms, found, smallest = 0, 0, []
    for _ in range(pages):
        logs = chance.normal(0, SCATTER, (cell.nodes, len(EXERCISES), LAUNCHES))
        logs += chance.normal(0, EQUAL, (cell.nodes, len(EXERCISES), 1))
        rows, columns = np.arange(planted), chance.integers(0, len(EXERCISES), planted)
        logs[rows, columns] += np.log1p(cell.slow)
        result = Unlike(logs)
        named = result.named
        found += int(np.sum(named[rows, columns]))
        named[rows, columns] = False
        alarms += bool(named.any() or result.slower.any())
        smallest.append(float(np.median(result.smallest)))
    return Seen(alarms, found, pages * planted, median(smallest))


def grouped(groups: Groups, pages: int) -> int:
    """Return how many pages tell the slower nodes from the others."""
    chance = np.random.default_rng([groups.nodes, round(100 * groups.part), groups.seed])
    slower, found, others = round(groups.nodes * groups.part), 0, [False] * (len(EXERCISES) - 1)
    for _ in range(pages):
        logs = chance.normal(0, SCATTER, (groups.nodes, len(EXERCISES), LAUNCHES))
        logs += chance.normal(0, EQUAL, (groups.nodes, len(EXERCISES), 1))
        logs[:slower, 0] += np.log1p(groups.slow)
        named = Unlike(logs).slower
        wrong = int(np.sum(named[:, 0] != (np.arange(groups.nodes) < slower)))
        found += bool(named.any(axis=0).tolist() == [True, *others] and wrong <= groups.nodes / 100)
    return found
