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
from multiprocessing.connection import (
    Client,
    Connection,
    Listener,
    answer_challenge,
    deliver_challenge,
)
from queue import SimpleQueue
from secrets import token_hex
from threading import Thread
from typing import TYPE_CHECKING

from msgspec import Struct

from frobench.suite.errors import CannotRunError, LostRankError
from frobench.suite.kit.worker_process import Seat, serve
from frobench.suite.nodes.rendezvous import Meeting, Node

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess


REACHED_WITHIN = 5.0
"""Seconds in which a node answers that is still there."""
IDLE, INTERVAL, PROBES = 10, 5, 3
"""Seconds of silence after which a connection is probed, seconds between probes, and how many may
stay without an answer."""
GIVEN_UP = IDLE + PROBES * INTERVAL
"""Seconds after which a node that is cut off, or that does not show its key, is given up."""
DONE = "the run of node 0 is over"
"""What the runner says last to all other nodes."""


class Agent:
    """Starts and ends processes on this node, for whoever has its key."""

    def __init__(self, address: str) -> None:
        self.key = token_hex(32)
        self._listener = Listener((address, 0), backlog=64)
        self._runner = SimpleQueue[Connection]()
        self._processes: dict[str, SpawnProcess] = {}
        Thread(target=self._listen, daemon=True).start()

    @property
    def port(self) -> int:
        """The port where it listens."""
        _, port = self._listener.address
        return int(port)

    def attend(self, lock: AbstractContextManager[object]) -> str | None:
        """Serve until the runner is done or gone; return what it says last, none if it is gone."""
        runner = self._runner.get()
        try:
            with lock:
                runner.send(None)
                return str(runner.recv())
        except CannotRunError as error:
            runner.send(str(error))
            raise
        except (EOFError, OSError):
            return None
        finally:
            runner.close()
            for process in [*self._processes.values()]:
                process.kill()
                process.join()

    def _listen(self) -> None:
        with self._listener:
            while True:  # until the process ends
                with suppress(OSError):  # of a connection that broke while it was taken
                    connection = self._listener.accept()
                    Thread(target=self._greet, args=(connection,), daemon=True).start()

    def _greet(self, connection: Connection) -> None:
        """Do what a connection asks that shows the key, however long it is silent."""
        key = bytes.fromhex(self.key)
        try:
            keep_alive(connection)
            deliver_challenge(connection, key)
            answer_challenge(connection, key)
            request = connection.recv()
        except (EOFError, OSError, AuthenticationError):
            connection.close()
            return
        match request:
            case ["hold"]:
                self._runner.put(connection)
                return
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
        connection = Client(where)
        keep_alive(connection)
        if not connection.poll(GIVEN_UP):
            raise TimeoutError(f"silent for {GIVEN_UP:g} s")
        answer_challenge(connection, bytes.fromhex(node.key))
        deliver_challenge(connection, bytes.fromhex(node.key))
    except (AuthenticationError, EOFError, OSError) as error:
        raise LostRankError(f"node {number} does not answer ({error})") from error
    return connection


def keep_alive(connection: Connection) -> None:
    """Let a connection break that leads nowhere any more, where the system can."""
    with socket.socket(fileno=os.dup(connection.fileno())) as handle:
        handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        options = {"TCP_KEEPIDLE": IDLE, "TCP_KEEPINTVL": INTERVAL, "TCP_KEEPCNT": PROBES}
        options["TCP_USER_TIMEOUT"] = round(1000 * GIVEN_UP)
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
