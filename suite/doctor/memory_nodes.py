# SPDX-License-Identifier: MIT
"""Rules about accelerators and cores on different memory nodes."""

from collections.abc import Iterator

from suite.checks.rule import Fault
from suite.doctor.there import Device, There


def far_accelerator(there: There) -> Iterator[Fault]:
    """The cores that may be used belong to other memory nodes than an accelerator.

    Copies and launches cross the link between the nodes, and are slower. Start the run on the
    accelerator's node.
    """
    nodes = there.host.cpu.core_nodes or []
    for device, node in _attached(there):
        if nodes and node not in nodes:
            yield _fault(device, node, f"node {', '.join(map(str, nodes))}")


def several_nodes(there: There) -> Iterator[Fault]:
    """The cores that may be used belong to several memory nodes, an accelerator to one of them.

    Pinned memory lies on the node on which a launch happens to run, so copies may differ from
    launch to launch. Start the run on the accelerator's node to measure copies.
    """
    nodes = there.host.cpu.core_nodes or []
    for device, node in _attached(there):
        if node in nodes and len(nodes) > 1:
            yield _fault(device, node, f"{len(nodes)} nodes")


def _attached(there: There) -> list[tuple[Device, int]]:
    """Return one accelerator of each name and node, with the node."""
    attached = {
        (device.name, device.numa_node): (device, device.numa_node)
        for device in there.accelerators
        if device.numa_node is not None
    }
    return list(attached.values())


def _fault(device: Device, node: int, cores: str) -> Fault:
    return Fault(
        f"{device.name} is attached to memory node {node}, and the usable cores belong to {cores}",
        advice=f"numactl --cpunodebind={node} --membind={node} frobench run",
    )
