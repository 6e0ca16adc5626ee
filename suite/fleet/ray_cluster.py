# SPDX-License-Identifier: MIT
"""The process that is connected to a Ray cluster; the only module that imports Ray.

Ray ends a process that loses its cluster, without asking it. So the scheduler is another process
(`suite.fleet.bridge`): it writes commands as JSON lines into this one's input, and reads events.
"""

import hashlib
import logging
import os
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import IO, Any

import msgspec

from frobench.suite.fleet import on_node
from frobench.suite.fleet.messages import (
    Command,
    Forget,
    Gone,
    Look,
    Lost,
    Node,
    Nodes,
    Start,
    Stop,
)

WAIT = 0.2
"""Seconds in which events are collected before any is told."""
LOST_ERRORS = {"NodeDiedError", "ObjectLostError", "OwnerDiedError", "WorkerCrashedError"}
"""Ray's errors for a node, or a process there, that was lost."""
LONGEST = 16
"""Characters of a name in the name of its folder, and digits of a digest or a number."""
Described = dict[str, Any]
"""A node as Ray describes it."""


class RayCluster:
    """Tasks on the nodes of a cluster, one for each node."""

    def __init__(self, address: str, tell: Callable[[Any], None]) -> None:
        look_for(address)
        import ray  # noqa: PLC0415 - takes a second, and its absence is told
        from ray import cloudpickle  # noqa: PLC0415

        self._ray, self._tell = ray, tell
        cloudpickle.register_pickle_by_value(on_node)  # type: ignore[no-untyped-call] # Ray's
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        self._tasks: dict[str, Any] = {}
        self._shared: set[str] | None = None

    def do(self, command: Command) -> None:
        """Do what the scheduler asks."""
        match command:
            case Start(node=node, asked=asked):
                resources = {"num_returns": "streaming", "num_gpus": node.accelerators}
                self._tasks[node.id] = self._on(node, on_node.measure, **resources).remote(
                    msgspec.to_builtins(asked), node.name, folder(node), node.accelerators
                )
            case Stop(node=node_id):
                if (task := self._tasks.pop(node_id, None)) is not None:
                    self._ray.cancel(task, force=False)
            case Forget(node=node, fleet=fleet):
                self._on(node, on_node.forget).remote(fleet, folder(node))
            case Look():
                self._tell(Nodes(nodes=self._alive()))

    def collect(self) -> None:
        """Tell what the nodes said, after a moment at most."""
        if not self._tasks:
            return
        tasks = {task: node_id for node_id, task in self._tasks.items()}
        ready, _ = self._ray.wait([*tasks], num_returns=len(tasks), timeout=WAIT, fetch_local=False)
        for task in ready:
            self._next(tasks[task], task)

    def _next(self, node_id: str, task: Any) -> None:  # noqa: ANN401 - a generator of Ray
        try:
            said = self._ray.get(next(task), timeout=60)
        except StopIteration:
            self._tasks.pop(node_id, None)
        except self._ray.exceptions.RayError as error:
            if self._tasks.pop(node_id, None) is not None:
                self._tell(Lost(node=node_id, reason=_reason(error)))
        else:
            self._tell(said | {"node": node_id})

    def _on(self, node: Node, function: Callable[..., Any], **options: Any) -> Any:  # noqa: ANN401 - as Ray's
        """Return a function that runs on one node, and takes none of its processors."""
        strategies = self._ray.util.scheduling_strategies
        strategy = strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
        return self._ray.remote(function).options(
            num_cpus=0, max_retries=0, scheduling_strategy=strategy, **options
        )

    def _alive(self) -> list[Node]:
        every = self._ray.nodes()  # type: ignore[no-untyped-call] # Ray's
        alive = [node for node in every if node["Alive"]]
        if self._shared is None:
            self._shared = shared_names(alive)
        return named(alive, self._shared)


def look_for(address: str) -> None:
    """Find out whether anything listens at an address, for which Ray itself takes two minutes.

    Raises `ValueError` for an address of Ray Client, `OSError` if nothing listens there.
    """
    if address.startswith("ray://"):
        raise ValueError(
            "Ray Client is not supported; call frobench on a node of the cluster, with "
            "--address auto or HOST:PORT"
        )
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def shared_names(alive: Sequence[Described]) -> set[str]:
    """Return the names that several nodes have, without their address and with it."""
    counts = Counter(name for node in alive for name in _names(node))
    return {name for name, nodes in counts.items() if nodes > 1}


def named(alive: Sequence[Described], shared: set[str]) -> list[Node]:
    """Return nodes with their names: with their address where several share one, or their number.

    A node that comes back has its name again, although Ray may still list the lost one, since the
    shared names are those that several nodes had at the start.
    """
    return [
        Node(
            id=node["NodeID"],
            name=next(name for name in _names(node) if name not in shared),
            accelerators=node["Resources"].get("GPU", 0.0),
        )
        for node in sorted(alive, key=lambda node: str(node["NodeID"]))
    ]


def folder(node: Node) -> str:
    """Return the name of a node's folder, which every file system takes, and no other node has."""
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in node.name)[:LONGEST]
    digest = hashlib.sha256(node.name.encode()).hexdigest()[:LONGEST]
    return node.name if node.name == plain else f"{plain}-{digest}"


def _names(node: Described) -> tuple[str, str, str]:
    given, address = node.get("NodeName"), node["NodeManagerAddress"]
    name = given if given and given != address else node["NodeManagerHostname"]
    number = str(node["NodeID"])[:LONGEST]
    return str(name), f"{name} ({address})", f"{name} ({address}, {number})"


def _reason(error: Exception) -> str:
    kind = type(error).__name__
    if kind in LOST_ERRORS:
        return "the node, or the process that measured there, was lost"
    if kind == "TaskUnschedulableError":
        return "the cluster no longer has the node"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{kind}: {lines[-1]}" if lines else kind


def main(address: str, commands: IO[bytes], events: IO[bytes]) -> None:
    """Do what the lines of a stream ask until it ends, and tell into another one."""

    def tell(event: Any) -> None:  # noqa: ANN401 - an event, or what one is encoded to
        events.write(msgspec.json.encode(event) + b"\n")
        events.flush()

    try:
        cluster = RayCluster(address, tell)
    except Exception as error:  # noqa: BLE001 - whatever Ray raises where it finds no cluster
        why = " ".join(str(error).split()) or type(error).__name__
        tell(Gone(reason=f"no Ray cluster at {address!r}: {why}"))
        return
    asked: SimpleQueue[Command | None] = SimpleQueue()
    threading.Thread(target=_read, args=(commands, asked), daemon=True).start()
    while True:
        try:
            command = asked.get(timeout=WAIT / 10)
        except Empty:
            cluster.collect()
            continue
        if command is None:
            return
        cluster.do(command)


def _read(commands: IO[bytes], asked: "SimpleQueue[Command | None]") -> None:
    decoder = msgspec.json.Decoder(Command)
    for line in commands:
        asked.put(decoder.decode(line))
    asked.put(None)


if __name__ == "__main__":
    said = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Ray prints is no event
    main(sys.argv[1], sys.stdin.buffer, said)
