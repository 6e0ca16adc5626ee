# SPDX-License-Identifier: MIT
"""What runs on each node but the first: it starts the processes that launches ask for.

Each process serves its launch's connection as a worker on the launch's machine serves a pipe. The
runner keeps one more connection to each node; when that closes, the node is done.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from multiprocessing import AuthenticationError, get_context
from multiprocessing.connection import Client, Connection, Listener
from secrets import token_hex
from threading import Thread
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from frobench.suite.errors import CannotRunError, LostRankError
from frobench.suite.kit.worker_process import Seat, serve
from frobench.suite.nodes.meeting import Meeting, Node

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess


REACHED_WITHIN = 5.0
"""Seconds in which a node answers that is still there."""
IDLE, INTERVAL, PROBES = 10, 5, 3
"""Seconds of silence after which a connection is probed, seconds between probes, and how many may
stay without an answer: a node that is cut off is given up after 25 seconds."""
DONE = "the run of node 0 is over"
"""What the runner says last to all other nodes."""


class Agent:
    """Starts and ends processes on this node, for whoever has its key."""

    def __init__(self, address: str) -> None:
        self.key = token_hex(32)
        self._listener = Listener((address, 0), backlog=64, authkey=bytes.fromhex(self.key))
        self._processes: dict[str, SpawnProcess] = {}
        self._thread = Thread(target=self._serve, daemon=True)
        self._done = False

    @property
    def port(self) -> int:
        """The port where it listens."""
        _, port = self._listener.address
        return int(port)

    def attend(self, lock: AbstractContextManager[object]) -> str | None:
        """Serve until the runner is done or gone; return what it says last, none if it is gone."""
        runner, request = self._accept()
        while runner is None or request != ["hold"]:
            runner, request = self._accept()
        try:
            with lock:
                runner.send(None)
                self._thread.start()
                return str(runner.recv())
        except CannotRunError as error:
            runner.send(str(error))
            raise
        except (EOFError, OSError):
            return None
        finally:
            runner.close()
            self._close()

    def _close(self) -> None:
        self._done = True
        with suppress(OSError):
            socket.create_connection(self._listener.address, REACHED_WITHIN).close()  # wakes it
        if self._thread.is_alive():
            self._thread.join(REACHED_WITHIN)
        self._listener.close()
        for process in self._processes.values():
            process.kill()
            process.join()

    def _accept(self) -> tuple[Connection | None, list[Any]]:
        """Take the next connection with its first request; none of a stranger or a probe."""
        with suppress(EOFError, OSError, AuthenticationError):
            connection = self._listener.accept()
            keep_alive(connection)
            return connection, connection.recv()
        return None, []

    def _serve(self) -> None:
        while not self._done:
            connection, request = self._accept()
            if connection is None:
                continue
            match request:
                case ["start", str(token), Seat() as seat, int(seed)]:
                    process = get_context("spawn").Process(
                        target=serve, args=(connection, seat, seed), daemon=True
                    )
                    process.start()
                    self._processes[token] = process
                case ["end", str(token), float(patience), bool(kill)] if token in self._processes:
                    process = self._processes[token]
                    if kill:
                        process.kill()
                    process.join(patience)
                    with suppress(OSError):
                        connection.send(process.exitcode)
            connection.close()


class Remote(Struct):
    """A process on another node, as its worker sees it."""

    node: Node
    number: int
    token: str
    exitcode: int | None = None

    def kill(self) -> None:
        """End it, if its node can be reached."""
        self._end(kill=True, patience=1.0)

    def join(self, timeout: float | None = None, /) -> None:
        """Wait until it has ended, or for so many seconds."""
        if self.exitcode is None:
            self._end(kill=False, patience=1.0 if timeout is None else timeout)

    def _end(self, *, kill: bool, patience: float) -> None:
        with (
            suppress(LostRankError, EOFError, OSError),
            reach(self.node, self.number) as connection,
        ):
            connection.send(["end", self.token, float(patience), kill])
            if connection.poll(patience + REACHED_WITHIN):
                self.exitcode = connection.recv()


def start_on(node: Node, number: int, seat: Seat, seed: int) -> tuple[Connection, Remote]:
    """Have another node start a process, which serves the connection that is returned."""
    connection, token = reach(node, number), token_hex(8)
    connection.send(["start", token, seat, seed])
    return connection, Remote(node, number, token)


def reach(node: Node, number: int) -> Connection:
    """Connect to a node; raise `LostRankError` if it does not answer."""
    where = node.address, node.port
    try:
        # `Client` would wait for minutes where a cable is out.
        socket.create_connection(where, REACHED_WITHIN).close()
        connection = Client(where, authkey=bytes.fromhex(node.key))
    except (AuthenticationError, EOFError, OSError) as error:
        raise LostRankError(f"node {number} does not answer ({error})") from error
    keep_alive(connection)
    return connection


def keep_alive(connection: Connection) -> None:
    """Let a connection break that leads nowhere any more, where the system can."""
    with socket.socket(fileno=os.dup(connection.fileno())) as handle:
        handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        options = {"TCP_KEEPIDLE": IDLE, "TCP_KEEPINTVL": INTERVAL, "TCP_KEEPCNT": PROBES}
        options["TCP_USER_TIMEOUT"] = 1000 * (IDLE + PROBES * INTERVAL)
        for name, value in options.items():
            if hasattr(socket, name):
                handle.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


@contextmanager
def holding_nodes(meeting: Meeting) -> Iterator[None]:
    """Have all other nodes at hand as long as a run lasts, each with the lock of its machine.

    Raises `CannotRunError` if a node does not answer, or is measured by another run.
    """
    connections = []
    try:
        for number, node in enumerate(meeting.nodes[1:], 1):
            try:
                connection = reach(node, number)
                connection.send(["hold"])
                refusal = connection.recv()
            except (LostRankError, EOFError, OSError) as error:
                raise CannotRunError(f"node {number} does not answer: {error}") from error
            if refusal is not None:
                raise CannotRunError(f"node {number}: {refusal}")
            connections.append(connection)
        yield
    finally:
        for connection in connections:
            with suppress(OSError):
                connection.send(DONE)
            connection.close()
