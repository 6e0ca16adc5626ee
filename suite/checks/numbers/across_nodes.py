# SPDX-License-Identifier: MIT
"""Rules about nodes that measure together."""

from collections.abc import Iterator

from msgspec import UNSET

from frobench.suite.checks.rule import Fault
from frobench.suite.stored.differences import matters
from frobench.suite.stored.run import Run, Severity

SEVERITY: Severity = "warning"

MOST_FACTS = 3
"""Facts that a message names."""


def rank_lost(run: Run) -> Iterator[Fault]:
    """A process of a group ended or did not answer, and its launch measured no further groups.

    The cases of groups have samples of the other launches. Look at the node that is named, and at
    its network.
    """
    for number, launch in enumerate(run.frobench.launches, 1):
        if launch.lost:
            yield Fault(f"launch {number} lost its group: {launch.lost}")


def unlike_nodes(run: Run) -> Iterator[Fault]:
    """A node differs from the first one in something that moves numbers.

    A group is as slow as its slowest node. Measure nodes of one kind together, or make them alike.
    """
    nodes = [] if run.frobench.nodes is UNSET else run.frobench.nodes
    for number, node in enumerate(nodes):
        facts = [fact for fact in node.differs if matters(fact)]
        if facts:
            shown = ", ".join(f"{fact} is {node.differs[fact]}" for fact in facts[:MOST_FACTS])
            more = f", and {len(facts) - MOST_FACTS} more differ" if facts[MOST_FACTS:] else ""
            yield Fault(f"node {number} differs from node 0: {shown}{more}")
