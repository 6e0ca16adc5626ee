# SPDX-License-Identifier: MIT
"""What the scheduler, the process that is connected to the cluster, and the nodes say."""

from typing import Protocol

from msgspec import Struct


class Node(Struct, frozen=True, kw_only=True):
    """A node of a cluster that is alive."""

    id: str  # by which the cluster knows it; a node that comes back has another one
    name: str  # by which people know it, equal when it comes back
    accelerators: float = 0.0  # how many of them the cluster may give away


class Asked(Struct, frozen=True, kw_only=True):
    """What every node is asked to do."""

    fleet: str  # names the folder that keeps what is unfinished on a node
    options: list[str]  # of `frobench run`
    benchmarks: str | None  # a folder that lies on every node, or none for the node's own
    sources: list[str]  # patterns of files that move numbers, below the folder of `frobench`
    code: str  # its digest, which every node must have
    deadline: float  # seconds from the moment a node may measure to the end of its run
    beat: float  # seconds between two signs of life
    lock: str  # the file by which runs on one machine take turns
    lock_variable: str  # of the environment, which names another one
    key: str  # of the labels
    key_file: str  # in a folder of results, for the key
    partial: str  # the end of the name of an interrupted run's file


class OfNode(Struct, tag=str.lower, kw_only=True):
    """What happened on a node, by its id."""

    node: str


class About(OfNode):
    """The version of torch that a node has; ``None`` where it is not installed."""

    torch: str | None


class Line(OfNode):
    """A line that the run on a node printed."""

    text: str


class Began(OfNode):
    """The run on a node holds its machine, and its deadline counts."""


class Beat(OfNode):
    """A sign of life."""


class File(OfNode):
    """A stored file, by its path on the node."""

    path: str
    content: bytes


class Ended(OfNode):
    """A node has done what it could; after all its files."""

    message: str  # why there is no whole file, where there is none


class Lost(OfNode):
    """A node ended without a word, as far as the cluster knows."""

    reason: str


class Nodes(Struct, tag="nodes", kw_only=True):
    """All nodes that are alive."""

    nodes: list[Node]


class Gone(Struct, tag="gone", kw_only=True):
    """The cluster cannot be reached, or no longer."""

    reason: str


Event = About | Line | Began | Beat | File | Ended | Lost | Nodes | Gone


class Start(Struct, tag="start", kw_only=True):
    """Begin, or go on with, the run of a node under a name."""

    node: Node
    asked: Asked


class Stop(Struct, tag="stop", kw_only=True):
    """Give up on a node."""

    node: str


class Forget(Struct, tag="forget", kw_only=True):
    """Remove what a node keeps of its run, whose files have arrived."""

    node: Node
    fleet: str


class Look(Struct, tag="look", kw_only=True):
    """Ask which nodes are alive."""


Command = Start | Stop | Forget | Look


class Cluster(Protocol):
    """Nodes that can be asked to measure."""

    def send(self, command: Command) -> None:
        """Ask for something; what comes of it is an event."""

    def events(self, seconds: float) -> list[Event]:
        """Return what happened, after so many seconds at most; `Gone` is the last."""
