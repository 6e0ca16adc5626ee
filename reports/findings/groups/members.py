# SPDX-License-Identifier: MIT
"""What a group consists of, by its name and by what the run stores of its nodes."""

from msgspec import UNSET

from frobench.reports.findings.select import Cases
from frobench.suite.stored.differences import is_cpu, nodes_of
from frobench.suite.stored.types import Run


def groups(cases: Cases) -> list[str]:
    """Return the groups that were measured, those of most ranks first, the CPU's last."""
    return sorted(cases.devices(), key=lambda group: (is_cpu(group), -ranks_in(group)))


def nodes_in(group: str) -> int:
    """Return how many nodes a group spans."""
    nodes, _ = nodes_of(group) or (1, 0)
    return nodes


def ranks_in(group: str) -> int:
    """Return how many ranks a group has."""
    nodes, each = nodes_of(group) or (1, group.count("+") + 1)
    return nodes * each


def link_of(run: Run, group: str) -> float | None:
    """Return the rate of the slowest link of a group's nodes, in bytes a second.

    `None` where the system does not tell, or where there is no network between the ranks.
    """
    count, nodes = nodes_in(group), run.frobench.nodes
    if count < 2 or nodes is UNSET:  # noqa: PLR2004 - one node has no network
        return None
    links = [node.link for node in nodes[:count]]
    known = [link for link in links if link is not None]
    return min(known) if len(known) == count else None
