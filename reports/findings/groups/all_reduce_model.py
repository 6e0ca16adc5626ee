# SPDX-License-Identifier: MIT
"""A model of all-reduce by number of nodes: computed, not measured.

With a latency a and a bandwidth b between two nodes, a ring of n nodes takes 2 (n - 1) (a + s/nb)
for s bytes, and a binary tree, up and down, 2 log2(n) (a + s/b). Both come from one line through
the times of messages between two nodes, and take the network for one without bottlenecks. Source:
Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
International Journal of High Performance Computing Applications 19 (1), 2005.
"""

from math import ceil, log2

import pandas as pd

from frobench.reports.findings.answers import sizes_in_common
from frobench.reports.findings.finding import Axis, Plot, Point, Series
from frobench.reports.findings.fit import Line, fit
from frobench.reports.findings.groups.members import groups, nodes_in
from frobench.reports.findings.select import Cases, NotMeasuredError
from frobench.reports.findings.values import behind, estimate_of
from frobench.suite.units import format_value

NODES = [2**power for power in range(1, 13)]
"""From 2 to 4096."""


def _ring(nodes: int, size: float, line: Line) -> pd.Series:
    return 2 * (nodes - 1) * (line.latency + size / nodes / line.rate)


def _tree(nodes: int, size: float, line: Line) -> pd.Series:
    return 2 * ceil(log2(nodes)) * (line.latency + size / line.rate)


def plot(cases: Cases, all_reduce: str, round_trip: str) -> Plot:
    """Draw the model beside what was measured on several nodes, at the largest size."""
    measured = [group for group in groups(cases) if nodes_in(group) > 1]
    if not measured:
        raise NotMeasuredError("a single node was measured")
    trips = cases.curve("size", function=round_trip, device=measured[0])
    both = fit(trips)
    line = Line(both.latency / 2, 2 * both.rate)  # of a message from one node to another
    times = {
        nodes_in(group): cases.curve("size", function=all_reduce, device=group)
        for group in measured
    }
    size = sizes_in_common(times.values(), "the groups have no size in common")[-1]
    models = [
        Series(
            f"{name} (model)",
            tuple(Point(n, estimate_of(how(n, size, line)), behind(trips)) for n in NODES),
        )
        for name, how in (("ring", _ring), ("tree", _tree))
    ]
    points = tuple(
        Point(nodes, times[nodes].point(size).y, times[nodes].cases[size])
        for nodes in sorted(times)
    )
    title = f"All-reduce of {format_value(size, 'B')} by nodes: a model, and what was measured"
    series = (Series("measured", points), *models)
    return Plot("all-reduce-model", title, "curve", Axis("Nodes"), Axis("Time", "s"), series)
