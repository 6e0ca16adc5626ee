# SPDX-License-Identifier: MIT
"""Nodes that a fleet asked and that stored no whole run, as the fleet page names them."""

from collections.abc import Collection
from dataclasses import dataclass

from frobench.reports.web.render import moment
from frobench.suite import privacy
from frobench.suite.printable import printable
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.units import counted


@dataclass(frozen=True)
class AbsentNode:
    """A node that was asked and has no whole run.

    Parameters
    ----------
    reason
        Why not.
    """

    label: str
    reason: str


@dataclass(frozen=True)
class Absent:
    """What became of the nodes that the newest fleet asked.

    Parameters
    ----------
    answer
        How many were asked, and how many stored a whole run, in a sentence.
    """

    answer: str
    nodes: list[AbsentNode]


def absent(asked: AskedNodes, measured: Collection[str]) -> Absent:
    """Say which nodes are lost, and why.

    Parameters
    ----------
    measured
        Labels of nodes that have a run, maybe of an earlier fleet.
    """
    when = moment(f"{asked.fleet[:8]}T{asked.fleet[9:15]}Z")
    every, lost = len(asked.nodes), len(asked.lost)
    stored = f"{every - lost:,} stored a whole run" if lost else "all stored a whole run"
    return Absent(
        answer=f"Asked on {when}: {counted(every, 'node')}; {stored}.",
        nodes=[
            AbsentNode(label, _reason(reason, has_a_run=label in measured))
            for label, reason in sorted(asked.lost.items())
        ],
    )


def _reason(reason: str, *, has_a_run: bool) -> str:
    shown = privacy.hide(printable(reason))
    return f"{shown} (another run of this node is stored)" if has_a_run else shown
