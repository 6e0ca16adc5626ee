# SPDX-License-Identifier: MIT
"""How often the fleet page names a node although all are equal, and which slow ones it finds."""

from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

import numpy as np

from frobench.reports.fleet.unlike import unlike
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


class Cell(NamedTuple):
    """Pages that are simulated together; ``slow`` is the time that planted nodes take longer."""

    nodes: int
    slow: float
    seed: int


class Seen(NamedTuple):
    """What pages said.

    alarms : pages that named a node which is equal to the others
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
        )
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
        result = unlike(logs)
        named = result.named
        found += int(np.sum(named[rows, columns]))
        named[rows, columns] = False
        alarms += bool(named.any())
        smallest.append(float(np.median(result.smallest)))
    return Seen(alarms, found, pages * planted, median(smallest))
