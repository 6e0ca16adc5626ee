# SPDX-License-Identifier: MIT
"""The nodes of a Ray cluster, and tasks on them; the only module that imports Ray."""

import asyncio
import logging
import socket
import sys
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, NamedTuple

from frobench.suite.errors import CannotRunError
from frobench.suite.fleet import on_node
from frobench.suite.fleet.on_node import SAVING, Order, Said

ANSWER = 5.0
"""Seconds in which the head of a cluster takes a connection."""
MISSED = 3
"""Connections that the head does not take, one after the other: the cluster has disappeared."""
NUMBER = 16
"""Digits of a node's number that are part of a name."""
Described = dict[str, Any]
"""A node as Ray describes it."""


class LostError(Exception):
    """A node, or its task, was lost; the message says how."""


class Node(NamedTuple):
    """A node that is alive: its number, and how many accelerators the cluster may give away."""

    id: str
    accelerators: float


class RayCluster:
    """Tasks on the nodes of a cluster, one for each node.

    Raises `CannotRunError` if Ray is not installed, or if there is no cluster.
    """

    def __init__(self, address: str) -> None:
        if find_spec("ray") is None:
            raise CannotRunError(
                f"`frobench fleet` needs Ray, which {sys.executable} does not have: "
                "`pip install --editable '.[fleet]'` in a clone of Frobench installs it"
            )
        try:
            look_for(address)
            import ray  # noqa: PLC0415 - takes a second, and its absence is told
            from ray import cloudpickle  # noqa: PLC0415

            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except Exception as error:  # whatever Ray raises where it finds no cluster
            why = " ".join(str(error).split()) or type(error).__name__
            raise CannotRunError(f"no Ray cluster at {address!r}: {why}") from error
        cloudpickle.register_pickle_by_value(on_node)  # type: ignore[no-untyped-call] # Ray's
        self._ray = ray
        self._measure, self._forget = ray.remote(on_node.measure), ray.remote(on_node.forget)
        self._head = ray.get_runtime_context().gcs_address
        self._streams: list[Any] = []
        self._shared = shared_names(self._alive())

    async def nodes(self) -> dict[str, Node]:
        """Return the nodes that are alive, by their names; none if the head does not answer."""
        alive = await self._asked(self._alive) if await self._head_answers() else None
        return named(alive or [], self._shared)

    async def _asked(self, ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - as Ray's
        """Ask Ray something in a thread, since it waits a minute for a lost head.

        Returns its answer, or `None` if it has none.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def give(found: object) -> None:
            if not answer.done():
                answer.set_result(found)

        def look() -> None:
            found = None
            with suppress(Exception):  # whatever Ray raises where the head went away
                found = ask()
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(give, found)

        threading.Thread(target=look, daemon=True).start()
        return await answer

    async def measure(
        self, node: Node, order: Order, name: str, label: str
    ) -> AsyncGenerator[Said, None]:
        """Start the run of a node, and yield what `on_node.measure` does there.

        Raises `LostError` if the node is lost, and `CannotRunError` with the reason for which it
        has no whole file. The run is interrupted when the generator is closed.
        """
        options = {"num_gpus": node.accelerators, "num_returns": "streaming"}
        task = self._on(node, self._measure, **options)
        stream = task.remote(order, name, label, node.accelerators)
        self._streams.append(stream)
        errors = self._ray.exceptions
        try:
            async for reference in stream:
                yield await reference
        except errors.RayTaskError as error:  # what the task itself has raised
            raise CannotRunError(reason(error.cause)) from error
        except errors.RayError as error:
            kind = type(error).__name__
            raise LostError(f"the node, or the task there, was lost ({kind})") from error
        finally:
            threading.Thread(target=self._ray.cancel, args=(stream,), daemon=True).start()

    async def forget(self, node: Node, fleet: str, label: str) -> None:
        """Remove what a node keeps of its run, unless it is lost by now."""
        with suppress(self._ray.exceptions.RayError, TimeoutError):
            async with asyncio.timeout(SAVING):
                remote = self._on(node, self._forget).remote
                if (done := await self._asked(lambda: remote(fleet, label))) is not None:
                    await done

    async def disappears(self) -> None:
        """Return once the head of the cluster cannot be reached."""
        missed = 0
        while missed < MISSED:
            await asyncio.sleep(1.0)
            missed = 0 if await self._head_answers() else missed + 1

    def let_save(self) -> None:
        """Wait until interrupted runs have saved what they finished."""
        if tasks := [stream.completed() for stream in self._streams]:
            self._ray.wait(tasks, num_returns=len(tasks), timeout=SAVING + ANSWER)

    def close(self) -> None:
        """Leave the cluster."""
        self._ray.shutdown()

    def _on(self, node: Node, function: Any, **options: Any) -> Any:  # noqa: ANN401 - as Ray's
        """Return a remote function for one node, where it takes none of the processors."""
        strategies = self._ray.util.scheduling_strategies
        strategy = strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
        return function.options(num_cpus=0, max_retries=0, scheduling_strategy=strategy, **options)

    def _alive(self) -> list[Described]:
        return [node for node in self._ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call] # Ray's

    async def _head_answers(self) -> bool:
        try:
            await asyncio.to_thread(look_for, self._head)
        except OSError:
            return False
        return True


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
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()


def shared_names(alive: Sequence[Described]) -> set[str]:
    """Return the names that several nodes have, without their address and with it."""
    counts = Counter(name for node in alive for name in _names(node))
    return {name for name, nodes in counts.items() if nodes > 1}


def named(alive: Sequence[Described], shared: set[str]) -> dict[str, Node]:
    """Return nodes by their names: with their address where several share one, or their number.

    A node that comes back has its name again, although Ray may still list the lost one, since the
    shared names are those that several nodes had at the start.
    """
    return {
        next(name for name in _names(node) if name not in shared): Node(
            node["NodeID"], node["Resources"].get("GPU", 0.0)
        )
        for node in sorted(alive, key=lambda node: str(node["NodeID"]))
    }


def _names(node: Described) -> tuple[str, str, str]:
    given, address = node.get("NodeName"), node["NodeManagerAddress"]
    name = given if given and given != address else node["NodeManagerHostname"]
    return str(name), f"{name} ({address})", f"{name} ({address}, {node['NodeID'][:NUMBER]})"


def reason(error: BaseException) -> str:
    """Return in words what a task has raised."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
