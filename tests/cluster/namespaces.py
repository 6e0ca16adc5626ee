# SPDX-License-Identifier: MIT
"""Nodes in network namespaces of this machine, joined by links whose rates are known.

Each node has a namespace with one interface, which leads to a bridge in a namespace of its own. A
token bucket limits both directions of each link (`tc qdisc ... tbf`).
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.instruments.processes.command import ROOT

INTERFACE, BRIDGE = "eth0", "br0"
IP = "ip"
BURST, LATENCY = "128kb", "100ms"
"""What a token bucket lets pass at once, and how long it may keep what is sent."""


class NoNamespacesError(Exception):
    """The system refuses; the message is its own."""


def ip(*arguments: str) -> None:
    """Call ip or, if that is the first argument, tc."""
    command = arguments if arguments[0] == "tc" else (IP, *arguments)
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise NoNamespacesError(f"no command {error.filename}") from error
    except subprocess.CalledProcessError as error:
        raise NoNamespacesError(error.stderr.strip() or str(error)) from error


@dataclass(frozen=True)
class Links:
    """The links of nodes, wherever they are looked at.

    name : that the names of all namespaces begin with
    subnet : third part of the nodes' addresses
    count : of nodes
    """

    name: str
    subnet: int
    count: int

    @property
    def switch(self) -> str:
        """The namespace of the bridge."""
        return f"{self.name}s"

    def node(self, number: int) -> str:
        """Return the name of a node's namespace."""
        return f"{self.name}n{number}"

    def address(self, number: int) -> str:
        """Return the address of a node."""
        return f"10.213.{self.subnet}.{number + 1}"

    def limit(self, number: int, rate: float) -> None:
        """Give the link of a node a rate, in bits a second."""
        bucket = ("root", "tbf", "rate", f"{rate:.0f}", "burst", BURST, "latency", LATENCY)
        for name, interface in ((self.node(number), INTERFACE), (self.switch, f"port{number}")):
            ip("tc", "-n", name, "qdisc", "replace", "dev", interface, *bucket)

    def cut_off(self, number: int) -> None:
        """Take the link of a node down."""
        ip("-n", self.switch, "link", "set", f"port{number}", "down")


def _make(links: Links, rate: float) -> None:
    names = [links.switch, *map(links.node, range(links.count))]
    for name in names:
        ip("netns", "add", name)
        ip("-n", name, "link", "set", "lo", "up")
    ip("-n", links.switch, "link", "add", BRIDGE, "type", "bridge")
    ip("-n", links.switch, "link", "set", BRIDGE, "up")
    for number in range(links.count):
        name, port = links.node(number), f"port{number}"
        pair = ("link", "add", INTERFACE, "type", "veth", "peer", port, "netns", links.switch)
        ip("-n", name, *pair)
        ip("-n", name, "address", "add", f"{links.address(number)}/24", "dev", INTERFACE)
        ip("-n", name, "link", "set", INTERFACE, "up")
        ip("-n", links.switch, "link", "set", port, "master", BRIDGE, "up")
        links.limit(number, rate)


def _remove(links: Links) -> None:
    for name in (links.switch, *map(links.node, range(links.count))):
        with suppress(NoNamespacesError):
            ip("netns", "delete", name)


class Network:
    """Nodes that are joined, and the programs that run on them.

    folder : for what they print
    """

    def __init__(self, links: Links, folder: Path) -> None:
        self.links = links
        self._folder = folder
        self._lock = folder / "lock"
        self._programs: list[subprocess.Popen[bytes]] = []

    def start(self, number: int, *command: str) -> "subprocess.Popen[bytes]":
        """Start a command on a node; see `printed`."""
        with self.log(number).open("ab") as log:
            program = subprocess.Popen(
                (IP, "netns", "exec", self.links.node(number), *command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=os.environ | {"FROBENCH_LOCK": str(self._lock)},
                start_new_session=True,
            )
        self._programs.append(program)
        return program

    def log(self, number: int) -> Path:
        """Return the file that takes what a node's programs print."""
        return self._folder / f"node{number}.log"

    def printed(self, number: int) -> str:
        """Return what a node's programs have printed so far."""
        return self.log(number).read_text(encoding="utf-8", errors="replace")

    def torchrun(self, *program: str, port: int = 29400) -> "list[subprocess.Popen[bytes]]":
        """Start a job of torchrun, an agent on each node.

        program : what follows `torchrun` and its options
        """
        return [
            self.start(
                number,
                *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "1"),
                *("--nnodes", str(self.links.count), "--max-restarts", "0"),
                *("--rdzv-backend", "c10d", "--rdzv-endpoint", f"{self.links.address(0)}:{port}"),
                # All nodes have the same host name here, by which torchrun would find the first.
                *("--rdzv-conf", f"is_host={int(number == 0)}"),
                *("--local-addr", self.links.address(number), *program),
            )
            for number in range(self.links.count)
        ]

    def end(self) -> None:
        """End every program that is still there."""
        for program in self._programs:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()


@contextmanager
def network(count: int, rate: float, folder: Path) -> Iterator[Network]:
    """Join nodes for the time of a test, which is skipped where the system allows no namespaces.

    rate : of every link at first, in bits a second
    """
    links = Links(f"frobench{os.getpid()}", os.getpid() % 250, count)
    with ExitStack() as stack:
        stack.callback(_remove, links)
        try:
            _make(links, rate)
        except NoNamespacesError as error:
            pytest.skip(f"no network namespaces with known rates here: {error}")
        joined = Network(links, folder)
        stack.callback(joined.end)
        yield joined
