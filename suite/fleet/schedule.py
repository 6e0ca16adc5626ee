# SPDX-License-Identifier: MIT
"""What happens to each node: begun, heard, tried again when it is lost, named if it stays lost."""

import time
from collections.abc import Callable, Iterable

from msgspec import Struct

from suite.errors import CannotRunError
from suite.fleet.gathered import Gathered, Outcome
from suite.fleet.messages import (
    About,
    Asked,
    Began,
    Cluster,
    Ended,
    Event,
    File,
    Forget,
    Gone,
    Line,
    Look,
    Lost,
    Node,
    Nodes,
    OfNode,
    Start,
    Stop,
)

TRIES = 2
"""How often a node is begun, at most: it may be lost once."""
LISTEN = 1.0
"""Seconds between two looks at the clock."""
LOOK = 5.0
"""Seconds between two looks for nodes that came back."""

Tell = Callable[[str, str], None]
"""Takes the name of a node and what happened to it."""


class Limits(Struct, frozen=True):
    """How long a node is waited for.

    patience : seconds without a sign of life, from the first on, after which a node is lost, and
        seconds in which a lost node may come back
    """

    patience: float


class _Turn(Struct):
    """A node that is being measured, or that is lost and may come back.

    heard : when it last gave a sign of life, or was lost
    spoke : whether it gave any since it was begun
    tries : how often it was begun
    reason : why it is lost; empty while it is measured
    before : why and when it was lost before it was begun again
    """

    node: Node
    heard: float
    spoke: bool = False
    tries: int = 1
    reason: str = ""
    before: tuple[str, float] | None = None


class Schedule:
    """A run on every node of a cluster.

    cluster : whose nodes measure
    asked : what of each
    gathered : takes every stored file
    tell : is told what happens
    clock : returns seconds
    """

    def __init__(  # noqa: PLR0913, PLR0917 - one for each thing that a caller may choose
        self,
        cluster: Cluster,
        asked: Asked,
        gathered: Gathered,
        limits: Limits,
        tell: Tell,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster, self._asked, self._gathered = cluster, asked, gathered
        self._limits, self._tell, self._clock = limits, tell, clock
        self._turns: dict[str, _Turn] = {}
        self._names: dict[str, str] = {}  # of every node that was begun, by its id
        self._looked = clock()

    def run(self) -> Outcome:
        """Measure every node that is alive now, and return what became of them.

        Raises `CannotRunError` if there is no node, `OSError` if nothing can be written.
        """
        nodes = self._first_nodes()
        self._gathered.expect(node.name for node in nodes)
        for node in nodes:
            self._begin(_Turn(node, self._clock()), "begun")
        while self._turns:
            for event in self._cluster.events(LISTEN):
                self._hear(event)
            self._look_at_the_clock()
        return self._gathered.outcome

    def _first_nodes(self) -> list[Node]:
        """Return the nodes that are alive."""
        self._cluster.send(Look())
        until = self._clock() + self._limits.patience
        while self._clock() < until:
            for event in self._cluster.events(LISTEN):
                if isinstance(event, Gone):
                    raise CannotRunError(event.reason)
                if isinstance(event, Nodes) and event.nodes:
                    return event.nodes
        silent = f"{self._limits.patience:g} s"
        raise CannotRunError(f"no node of the Ray cluster answered within {silent}")

    def _begin(self, turn: _Turn, how: str) -> None:
        self._turns[turn.node.name] = turn
        self._names[turn.node.id] = turn.node.name
        self._cluster.send(Start(node=turn.node, asked=self._asked))
        self._tell(turn.node.name, how)

    def _hear(self, event: Event) -> None:
        """Take in what happened."""
        if isinstance(event, Gone):
            for name, left in list(self._turns.items()):
                before = f"{left.reason}; then " if left.reason else ""
                self._give_up(name, f"{before}{event.reason}")
        elif isinstance(event, Nodes):
            self._take_back(event.nodes)
        elif (turn := self._turn_of(event)) is not None:
            turn.heard = self._clock()
            turn.spoke |= not isinstance(event, Lost)
            self._hear_of(turn, event)

    def _turn_of(self, event: OfNode) -> _Turn | None:
        """Return the node that an event is of, unless it was given up."""
        known = (turn for turn in self._turns.values() if not turn.reason)
        return next((turn for turn in known if turn.node.id == event.node), None)

    def _hear_of(self, turn: _Turn, event: OfNode) -> None:
        name = turn.node.name
        match event:
            case About(torch=torch):
                self._gathered.outcome.torch[name] = torch or "none"
            case Began():
                self._tell(name, "measuring")
            case Line(text=text):
                self._tell(name, f"| {text}")
            case File():
                if stored := self._gathered.keep(name, event):
                    self._tell(name, stored)
            case Ended():
                self._end(turn, event)
            case Lost(reason=reason):
                self._lose(turn, reason)

    def _end(self, turn: _Turn, event: Ended) -> None:
        """Take a node's own word that it is done."""
        name = turn.node.name
        del self._turns[name]
        if name in self._gathered.outcome.stored:
            self._cluster.send(Forget(node=turn.node, fleet=self._asked.fleet))
            return
        if name not in self._gathered.outcome.lost:
            self._gathered.lose(name, event.message or "it stored nothing")
        self._tell(name, f"not measured: {self._gathered.outcome.lost[name]}")

    def _lose(self, turn: _Turn, reason: str) -> None:
        """Let a lost node come back, unless it has been lost before.

        A cluster may call a node alive for a while that is not: to have begun it again without an
        answer is no try.
        """
        if turn.before is not None and not turn.spoke:
            turn.reason, turn.heard = turn.before
            turn.tries -= 1
        elif turn.tries >= TRIES:
            self._give_up(turn.node.name, reason)
        else:
            turn.reason, turn.heard = reason, self._clock()
            self._tell(turn.node.name, f"lost: {reason}; it is tried again if it comes back")
        self._looked = self._clock()

    def _give_up(self, name: str, reason: str) -> None:
        del self._turns[name]
        if self._gathered.lose(name, reason):
            self._tell(name, f"lost: {reason}")

    def _take_back(self, nodes: Iterable[Node]) -> None:
        """Begin lost nodes again that are alive."""
        for node in nodes:
            turn = self._turns.get(node.name)
            is_it = self._names.get(node.id, node.name) == node.name
            if turn is not None and turn.reason and is_it:
                before, tries = (turn.reason, turn.heard), turn.tries + 1
                again = _Turn(node, self._clock(), tries=tries, before=before)
                self._begin(again, "begun again, where its run was")

    def _look_at_the_clock(self) -> None:
        """Lose nodes that are silent, and give up on lost ones that do not come back."""
        now = self._clock()
        for turn in list(self._turns.values()):
            if now - turn.heard <= self._limits.patience:
                continue
            if turn.reason:
                self._give_up(turn.node.name, turn.reason)
                continue
            self._cluster.send(Stop(node=turn.node.id))
            silent = f"{self._limits.patience:g} s"
            self._lose(
                turn,
                f"no sign of life for {silent}"
                if turn.spoke
                else f"no answer within {silent}; its accelerators may be in use by other tasks",
            )
        if now - self._looked >= LOOK and any(turn.reason for turn in self._turns.values()):
            self._looked = now
            self._cluster.send(Look())
