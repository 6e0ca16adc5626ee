# SPDX-License-Identifier: MIT
"""Nodes in network namespaces of this machine, joined by links whose rates are known.

Each node has a namespace with one interface, which leads to a bridge in a namespace of its own. A
token bucket limits both directions of each link (`tc qdisc ... tbf`).
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GIGABIT = 10**9
INTERFACE, BRIDGE = "eth0", "br0"
IP = "ip"
BURST, LATENCY = "128kb", "100ms"


class NoNamespacesError(Exception):
    """The system refuses; the message is its own."""


def ip(*arguments: str) -> None:
    """Call ip or, if that is the first argument, tc."""
    command = arguments if arguments[0] == "tc" else ("ip", *arguments)
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise NoNamespacesError(f"no command {error.filename}") from error
    except subprocess.CalledProcessError as error:
        raise NoNamespacesError(error.stderr.strip() or str(error)) from error


class Network:
    """Nodes that see each other through links of known rates.

    count : of nodes
    rate : of every link at first, in bits a second
    """

    def __init__(self, count: int, rate: float) -> None:
        self._name = f"frobench{os.getpid()}"
        self.count = count
        self._made: list[str] = []
        try:
            self._make(self._switch)
            ip("-n", self._switch, "link", "add", BRIDGE, "type", "bridge")
            ip("-n", self._switch, "link", "set", BRIDGE, "up")
            for node in range(count):
                self._join(node)
                self.limit(node, rate)
        except NoNamespacesError:
            self.remove()
            raise

    @property
    def _switch(self) -> str:
        return f"{self._name}s"

    def name(self, node: int) -> str:
        """Return the name of a node's namespace."""
        return f"{self._name}n{node}"

    def address(self, node: int) -> str:
        """Return the address of a node."""
        return f"10.213.{os.getpid() % 250}.{node + 1}"

    def _make(self, name: str) -> None:
        ip("netns", "add", name)
        self._made.append(name)
        ip("-n", name, "link", "set", "lo", "up")

    def _join(self, node: int) -> None:
        name, port = self.name(node), f"port{node}"
        self._make(name)
        ip(
            *("-n", name, "link", "add", INTERFACE, "type", "veth"),
            "peer",
            port,
            "netns",
            self._switch,
        )
        ip("-n", name, "address", "add", f"{self.address(node)}/24", "dev", INTERFACE)
        ip("-n", name, "link", "set", INTERFACE, "up")
        ip("-n", self._switch, "link", "set", port, "master", BRIDGE, "up")

    def limit(self, node: int, rate: float) -> None:
        """Give the link of a node another rate, in bits a second."""
        bucket = ("root", "tbf", "rate", f"{rate:.0f}", "burst", BURST, "latency", LATENCY)
        for name, interface in ((self.name(node), INTERFACE), (self._switch, f"port{node}")):
            ip("tc", "-n", name, "qdisc", "replace", "dev", interface, *bucket)

    def cut_off(self, node: int) -> None:
        """Take the link of a node down."""
        ip("-n", self._switch, "link", "set", f"port{node}", "down")

    def remove(self) -> None:
        """Take the namespaces away; their processes have ended before."""
        for name in self._made:
            with suppress(NoNamespacesError):
                ip("netns", "delete", name)

    def start(self, node: int, *command: str, log: Path) -> "subprocess.Popen[bytes]":
        """Start a command on a node, as the leader of a group of processes."""
        with log.open("wb") as file:
            return subprocess.Popen(
                (IP, "netns", "exec", self.name(node), *command),
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                start_new_session=True,
            )


@contextmanager
def network(count: int, rate: float) -> Iterator[Network]:
    """Join nodes for the time of a test, which is skipped where the system allows no namespaces."""
    try:
        made = Network(count, rate)
    except NoNamespacesError as error:
        pytest.skip(f"no network namespaces with known rates here: {error}")
    try:
        yield made
    finally:
        made.remove()


def torchrun(net: Network, node: int, port: int, *program: str) -> Sequence[str]:
    """Return the command that starts a node's part of a job.

    program : of each node; what follows `torchrun` and its options
    """
    return (
        *(sys.executable, "-m", "torch.distributed.run", "--nnodes", str(net.count)),
        *("--nproc-per-node", "1", "--rdzv-backend", "c10d", "--max-restarts", "0"),
        *("--rdzv-endpoint", f"{net.address(0)}:{port}", "--local-addr", net.address(node)),
        *("--rdzv-conf", f"is_host={int(node == 0)}"),  # the nodes share this machine's name
        *program,
    )
