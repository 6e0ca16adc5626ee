# SPDX-License-Identifier: MIT
"""How the nodes of a job find each other: by the variables that torchrun or Slurm sets.

The same command runs on every node. All exchange their addresses through the store that torchrun
has, or that the first node opens in a job of Slurm. The runner does not import torch, so a process
of its own does that.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec
from msgspec import Struct

from frobench.suite.checkout import CHECKOUT, SUITE
from frobench.suite.errors import CannotRunError

PATIENCE = 300.0
"""Seconds that nodes wait for each other at the start: a batch system starts them one by one."""
VARIABLE = "FROBENCH_NODES"
"""The environment variable by which the runner tells its launches of the nodes."""
LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)
"""Environment variables of torchrun and of Slurm: a process's number, their count, and its number
on its node."""
HOW = (
    "start it on every node with `torchrun --nnodes N --nproc-per-node 1`, or with "
    "`srun --ntasks-per-node 1`; docs/fleet.md shows both"
)


class Position(Struct, frozen=True):
    """Which node of how many this is, and where the store is that all of them share."""

    number: int
    count: int
    store: str
    port: int
    opens_store: bool


class Node(Struct, frozen=True):
    """What the nodes tell each other."""

    address: str
    port: int  # where it is asked for processes, by its key; the first node has none
    key: str
    machine: str  # equal for nodes that take turns by one lock, such as containers of one host
    sources: str  # a digest of the code that measures
    torch: str  # its version


class Meeting(Struct, frozen=True):
    """The nodes of a job, in order."""

    nodes: list[Node]

    @classmethod
    def here(cls) -> "Meeting | None":
        """Return the meeting that the runner of this process has published, if there is one."""
        text = os.environ.get(VARIABLE)
        return None if text is None else _decoded(text)

    def publish(self) -> None:
        """Tell the processes that this one starts."""
        os.environ[VARIABLE] = msgspec.json.encode(self).decode()

    def holds_lock(self, number: int) -> bool:
        """Tell whether a node holds the lock of its machine for all nodes there: the first does."""
        machine = self.nodes[number].machine
        return all(node.machine != machine for node in self.nodes[:number])


@cache
def _decoded(text: str) -> Meeting:
    return msgspec.json.decode(text, type=Meeting)


def position(environ: Mapping[str, str] = os.environ) -> Position:
    """Return which node of the job this process is.

    Raises `CannotRunError` if no launcher says so, or if one started several processes on a node.
    """
    names = next((names for names in LAUNCHERS if environ.keys() >= {*names[:2]}), None)
    store, port = environ.get("MASTER_ADDR"), environ.get("MASTER_PORT", "")
    if names is None:
        raise CannotRunError(f"--nodes needs a job with a process on each node: {HOW}")
    if store is None or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise CannotRunError(
            "--nodes needs MASTER_ADDR and MASTER_PORT, the address of the first node and a free "
            "port there; docs/fleet.md shows how a Slurm job sets them"
        )
    number, count, local = (int(environ.get(name, "0")) for name in names)
    if local > 0:
        raise CannotRunError(
            f"--nodes takes one process on each node, whatever devices it has: {HOW}"
        )
    torchrun_opens = environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    return Position(number, count, store, int(port), number == 0 and not torchrun_opens)


def meet(here: Position, node: Node) -> Meeting:
    """Tell all other nodes of this one, and return what they tell.

    Raises `CannotRunError` if one does not come, or has other code or another torch.
    """
    asked = subprocess.run(
        [sys.executable, "-m", "frobench.suite.nodes.rendezvous"],
        input=msgspec.json.encode((here, node)),
        capture_output=True,
        check=False,
        cwd=CHECKOUT,
    )
    if asked.returncode != 0:
        lines = asked.stderr.decode(errors="replace").strip().splitlines()
        raise CannotRunError(f"the nodes did not meet: {lines[-1] if lines else 'no reason given'}")
    meeting = Meeting(msgspec.json.decode(asked.stdout, type=list[Node]))
    require_alike(meeting)
    return meeting


def require_alike(meeting: Meeting) -> None:
    """Raise `CannotRunError` if a node has other code or another torch than the first."""
    first = meeting.nodes[0]
    for number, node in enumerate(meeting.nodes):
        if node.torch != first.torch:
            what = f"torch {node.torch}, and node 0 torch {first.torch}"
        elif node.sources != first.sources:
            what = f"another version of Frobench or its benchmarks ({node.sources}) than node 0"
        else:
            continue
        raise CannotRunError(f"node {number} has {what}: install the same on every node")


def describe(address: str, port: int, key: str, machine: str, benchmarks: Path) -> Node:
    """Return what this node tells the others, which measure with the same benchmarks."""
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = "none"
    digest = hashlib.sha256()
    for folder in (SUITE, benchmarks):
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(file.read_bytes())
    return Node(address, port, key, machine, digest.hexdigest()[:12], torch)


def _rendezvous() -> None:
    """Exchange what the nodes tell, or say on the last line which one did not come.

    That is the process of its own; it reads a `Position` and a `Node`, and prints all nodes.
    """
    import torch.distributed as dist  # noqa: PLC0415 - the runner does without

    here, node = msgspec.json.decode(sys.stdin.buffer.read(), type=tuple[Position, Node])
    patience = timedelta(seconds=PATIENCE)
    try:
        store = dist.TCPStore(  # type: ignore[attr-defined]  # torch hides the type
            here.store,
            here.port,
            is_master=here.opens_store,
            wait_for_workers=False,
            timeout=patience,
        )
    except dist.DistError as error:
        line = str(error).partition("\n")[0]
        sys.exit(f"no store at {here.store}, port {here.port}: {line}")
    messages = dist.PrefixStore("frobench", store)  # type: ignore[attr-defined]  # as above
    messages.set(f"node {here.number}", msgspec.json.encode(node).decode())
    nodes = []
    for number in range(here.count):
        try:
            messages.wait([f"node {number}"], patience)
        except dist.DistStoreError:
            sys.exit(f"node {number} did not come within {PATIENCE:.0f} s")
        nodes.append(msgspec.json.decode(messages.get(f"node {number}"), type=Node))
    messages.set(f"read {here.number}", "")
    if here.opens_store:  # the store ends with this process, and others still read
        with suppress(dist.DistStoreError):
            messages.wait([f"read {number}" for number in range(here.count)], patience)
    sys.stdout.write(msgspec.json.encode(nodes).decode())


if __name__ == "__main__":
    _rendezvous()
