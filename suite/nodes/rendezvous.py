# SPDX-License-Identifier: MIT
"""The process in which a node meets the others; it reads a `Position` and a `Node`, prints all."""

import sys
from datetime import timedelta
from time import monotonic, sleep
from typing import Any

import msgspec
import torch.distributed as dist

from frobench.suite.nodes.meeting import Node, Position

PATIENCE = 300.0
"""Seconds that nodes wait for each other at the start: a batch system starts them one by one."""


def main() -> None:
    """Exchange what the nodes tell, or say on the last line which one did not come."""
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
    nodes = [_read_node(messages, number) for number in range(here.count)]
    read = messages.add("read", 1)
    until = monotonic() + PATIENCE
    while here.opens_store and read < here.count and monotonic() < until:
        sleep(0.05)  # the store ends with this process, and others still read
        read = messages.add("read", 0)
    sys.stdout.write(msgspec.json.encode(nodes).decode())


def _read_node(store: Any, number: int) -> Node:  # noqa: ANN401 - torch hides the type
    try:
        store.wait([f"node {number}"], timedelta(seconds=PATIENCE))
    except dist.DistStoreError:
        sys.exit(f"node {number} did not come within {PATIENCE:.0f} s")
    return msgspec.json.decode(store.get(f"node {number}"), type=Node)


if __name__ == "__main__":
    main()
