# SPDX-License-Identifier: MIT
"""The groups of a launch, of its own workers or of all nodes: its ranks end with the launch.

When a rank is lost, the launch measures no further case of a group, and the next starts its own.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product

import pytest

from frobench.suite.kit.group import LOOPBACK, Group
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker, start_here
from frobench.suite.nodes.agent import start_on
from frobench.suite.nodes.rendezvous import Meeting
from frobench.suite.stored.differences import changed
from frobench.suite.stored.machine_identity import nodes_of, ranks_of
from frobench.suite.stored.types import NodeFacts, Settings


def node_groups(devices: Sequence[str], nodes: int) -> list[str]:
    """Name the groups of nodes, by kind of device: one, two, four ... and all of them."""
    each = _rank_devices(devices)
    counts = [2**power for power in range(nodes.bit_length()) if 2**power < nodes]
    kind = each[0].partition(":")[0]
    return [f"{kind}/{count}x{len(each)}" for count in [*counts, nodes] if count * len(each) > 1]


def rank_places(nodes: int, each: Sequence[str]) -> Iterable[tuple[int, str]]:
    """Return the node and the device of every rank, those of the first node first."""
    return product(range(nodes), each)


def _rank_devices(devices: Sequence[str]) -> list[str]:
    """Return the devices of a node that a group has a rank on."""
    return [name for name in devices if name != "cpu"] or ["cpu"]


class Groups:
    """The groups of one launch.

    workers : returns this machine's workers for a group of its own
    """

    def __init__(
        self, seed: int, settings: Settings, workers: Callable[[str], list[Worker]]
    ) -> None:
        self._seed, self._deadline, self._workers = seed, settings.deadline, workers
        self._devices, self._rank_devices = settings.devices, _rank_devices(settings.devices)
        self._ranks: list[Worker] = []
        self._entered: tuple[str, Group] | None = None
        self._lost = ""

    def find(self, name: str) -> Group:
        """Return a group by its name, or skip the case if this launch has lost a rank."""
        if self._lost:
            pytest.skip(f"the launch had lost its group: {self._lost}")
        if self._entered is None or self._entered[0] != name:
            self.part()
            self._entered = name, self._make(name)
        return self._entered[1]

    def _make(self, name: str) -> Group:
        meeting = Meeting.here()
        if meeting is None or nodes_of(name) is None:
            workers = self._workers(name)
            return Group(workers, [LOOPBACK] * len(workers), self._deadline)
        places = [*rank_places(len(meeting.nodes), self._rank_devices)]
        for number, (node, device) in enumerate([] if self._ranks else places):
            start = partial(start_on, meeting.nodes[node], node) if node else start_here
            seat = Seat(f"rank {number} on node {node}", device)
            self._ranks.append(Worker(seat, self._seed, start))
        addresses = [meeting.nodes[node].address for node, _ in places]
        return Group(self._ranks[: ranks_of(name)], addresses, self._deadline)  # the first of them

    def part(self) -> None:
        """Let the ranks of the last group leave it, so that they can be asked for other cases."""
        if entered := self._entered:
            self._entered = None
            entered[1].part()

    def examine(self) -> list[NodeFacts]:
        """Return what the nodes are like; nothing of a machine that measures by itself."""
        meeting, each = Meeting.here(), len(self._rank_devices)
        if meeting is None or not self._ranks:
            return []
        firsts = self._ranks[::each]
        for rank, node in zip(firsts, meeting.nodes, strict=True):
            rank.tell("examine", self._devices, node.address)
        facts = [rank.answer(self._deadline) for rank in firsts]
        first, _ = facts[0]
        return [
            NodeFacts(ranks=each, link=link, differs=changed(first, own)) for own, link in facts
        ]

    def drop(self, lost: str = "") -> None:
        """End all ranks, and make no further group if one of them was lost."""
        self._lost = self._lost or lost
        self._entered = None
        for rank in self._ranks:
            rank.close()
        self._ranks.clear()
