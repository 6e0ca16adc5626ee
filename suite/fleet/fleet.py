# SPDX-License-Identifier: MIT
"""A run on every node of a Ray cluster: each begun, heard, tried again if lost, else named."""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from frobench.suite.checkout import CHECKOUT, SOURCES
from frobench.suite.errors import CannotRunError
from frobench.suite.fleet import messages
from frobench.suite.fleet.bridge import Bridge
from frobench.suite.fleet.gathered import FleetOutcome, Gathered
from frobench.suite.fleet.on_node import digest
from frobench.suite.profiles import settings_for
from frobench.suite.run.lock import LOCK, VARIABLE
from frobench.suite.run.runner import KEY, key, label_of
from frobench.suite.stored.store import PARTIAL
from frobench.suite.stored.types import ProfileName

TRIES = 2
"""How often a node is begun, at most: it may be lost once."""
LISTEN = 1.0
"""Seconds between two looks at the clock."""
LOOK = 5.0
"""Seconds between two looks for nodes that came back."""

Tell = Callable[[str, str], None]
"""Takes the name of a node and what happened to it."""


class FleetRequest(Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    results: Path
    address: str = "auto"  # of the Ray cluster
    profile: ProfileName = "standard"
    expression: str = ""
    benchmarks: Path | None = None  # a folder that lies on every node, or none for each node's own
    budget: float | None = None
    launches: int | None = None
    deadline: float | None = None  # seconds for a node's run; by default what its budget asks for
    patience: float = 120.0  # see `Schedule`


def measure(request: FleetRequest, tell: Tell) -> FleetOutcome:
    """Measure every node of a cluster.

    Raises `CannotRunError` if Ray is not installed, or there is no cluster or no node.
    """
    request.results.mkdir(parents=True, exist_ok=True)
    with Bridge(request.address) as cluster:
        wanted = asked(request)
        gathered = Gathered(
            request.results, wanted.fleet, lambda name: label_of(name, request.results)
        )
        return Schedule(cluster, wanted, gathered, request.patience, tell).run()


def asked(request: FleetRequest) -> messages.Asked:
    """Settle what every node is asked to do."""
    budget = settings_for(request.profile, [], budget=request.budget).budget
    options = ["--profile", request.profile]
    given = {"-k": request.expression, "--budget": request.budget, "--launches": request.launches}
    for option, value in given.items():
        if value:
            options += [option, str(value)]
    return messages.Asked(
        fleet=f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}",
        options=options,
        benchmarks=str(request.benchmarks) if request.benchmarks else None,
        code=digest(CHECKOUT, SOURCES),
        sources=list(SOURCES),
        deadline=request.deadline or 3 * budget + 600,
        beat=request.patience / 6,
        lock=str(LOCK),
        lock_variable=VARIABLE,
        key=key(request.results).hex(),
        key_file=KEY,
        partial=PARTIAL,
    )


class _Turn(Struct):
    """A node that is being measured, or that is lost and may come back."""

    node: messages.Node
    waited_since: float  # its last sign of life or, if it is lost, when that happened
    spoke: bool = False  # whether it gave a sign of life since it was begun
    tries: int = 1  # how often it was begun
    reason: str = ""  # why it is lost; empty while it is measured
    lost: "_Turn | None" = None  # the lost turn that this one tries again


class Schedule:
    """A run on every node of a cluster.

    patience : seconds without a sign of life, from the first on, after which a node is lost, and
        seconds in which a lost node may come back
    """

    def __init__(  # noqa: PLR0913, PLR0917 - one for each thing that a caller may choose
        self,
        cluster: messages.Cluster,
        asked: messages.Asked,
        gathered: Gathered,
        patience: float,
        tell: Tell,
        clock: Callable[[], float] = time.monotonic,  # returns seconds
    ) -> None:
        self._cluster, self._asked, self._gathered = cluster, asked, gathered
        self._patience, self._tell, self._clock = patience, tell, clock
        self._turns: dict[str, _Turn] = {}
        self._names: dict[str, str] = {}  # of every node that was begun, by its id
        self._looked = clock()

    def run(self) -> FleetOutcome:
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

    def _first_nodes(self) -> list[messages.Node]:
        self._cluster.send(messages.Look())
        until = self._clock() + self._patience
        while self._clock() < until:
            for event in self._cluster.events(LISTEN):
                if isinstance(event, messages.Gone):
                    raise CannotRunError(event.reason)
                if isinstance(event, messages.Nodes) and event.nodes:
                    return event.nodes
        raise CannotRunError(f"no node of the Ray cluster answered within {self._patience:g} s")

    def _begin(self, turn: _Turn, how: str) -> None:
        self._turns[turn.node.name] = turn
        self._names[turn.node.id] = turn.node.name
        self._cluster.send(messages.Start(node=turn.node, asked=self._asked))
        self._tell(turn.node.name, how)

    def _hear(self, event: messages.Event) -> None:
        if isinstance(event, messages.Gone):
            for name, left in list(self._turns.items()):
                before = f"{left.reason}; then " if left.reason else ""
                self._give_up(name, f"{before}{event.reason}")
        elif isinstance(event, messages.Nodes):
            self._take_back(event.nodes)
        else:
            turn = self._turns.get(self._names.get(event.node, ""))
            if turn and turn.node.id == event.node and not turn.reason:  # else it was given up
                self._hear_of(turn, event)

    def _hear_of(self, turn: _Turn, event: messages.OfNode) -> None:
        turn.waited_since = self._clock()
        turn.spoke |= not isinstance(event, messages.Lost)
        name = turn.node.name
        match event:
            case messages.About(torch=torch):
                self._gathered.outcome.torch[name] = torch or "none"
            case messages.Began():
                self._tell(name, "measuring")
            case messages.Line(text=text):
                self._tell(name, f"| {text}")
            case messages.File():
                if stored := self._gathered.keep(name, event):
                    self._tell(name, stored)
            case messages.Ended():
                self._end(turn, event)
            case messages.Lost(reason=reason):
                self._retry_or_give_up(turn, reason)

    def _end(self, turn: _Turn, event: messages.Ended) -> None:
        name, outcome = turn.node.name, self._gathered.outcome
        del self._turns[name]
        if name in outcome.stored:
            self._cluster.send(messages.Forget(node=turn.node, fleet=self._asked.fleet))
            return
        if name not in outcome.lost:
            self._gathered.note_lost(name, event.message or "it stored nothing")
        self._tell(name, f"not measured: {outcome.lost[name]}")

    def _retry_or_give_up(self, turn: _Turn, reason: str) -> None:
        # A cluster may call a lost node alive for a while: a start without an answer is no try.
        if turn.lost is not None and not turn.spoke:
            self._turns[turn.node.name] = turn.lost
        elif turn.tries >= TRIES:
            self._give_up(turn.node.name, reason)
        else:
            turn.reason, turn.waited_since = reason, self._clock()
            self._tell(turn.node.name, f"lost: {reason}; it is tried again if it comes back")
        self._looked = self._clock()

    def _give_up(self, name: str, reason: str) -> None:
        del self._turns[name]
        if self._gathered.note_lost(name, reason):
            self._tell(name, f"lost: {reason}")

    def _take_back(self, nodes: Iterable[messages.Node]) -> None:
        for node in nodes:
            turn = self._turns.get(node.name)
            is_it = self._names.get(node.id, node.name) == node.name
            if turn is not None and turn.reason and is_it:
                again = _Turn(node, self._clock(), tries=turn.tries + 1, lost=turn)
                self._begin(again, "begun again, where its run was")

    def _look_at_the_clock(self) -> None:
        now = self._clock()
        for turn in list(self._turns.values()):
            if now - turn.waited_since <= self._patience:
                continue
            if turn.reason:
                self._give_up(turn.node.name, turn.reason)
                continue
            self._cluster.send(messages.Stop(node=turn.node.id))
            silent = f"{self._patience:g} s"
            why = f"no answer within {silent}; its accelerators may be in use by other tasks"
            self._retry_or_give_up(turn, f"no sign of life for {silent}" if turn.spoke else why)
        if now - self._looked >= LOOK and any(turn.reason for turn in self._turns.values()):
            self._looked = now
            self._cluster.send(messages.Look())
