# SPDX-License-Identifier: MIT
"""What a worker does as a rank of a group: it joins the process group, and times between barriers.

It runs in the worker's own process (see `suite.kit.worker_process`).
"""

import os
from collections.abc import Callable
from datetime import timedelta
from time import perf_counter
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from suite.concurrency import Interval
from suite.kit.device import Device
from suite.machine.network import interface_of, link_rate

INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
"""Environment variables that name the network interface that a backend uses."""


class Member(NamedTuple):
    """A rank of a group, and where the group meets.

    store, port : address of the store where the ranks find each other
    address : the rank's own address in the network between them
    patience : seconds that ranks wait for each other
    """

    rank: int
    size: int
    store: str
    port: int
    address: str
    patience: float


def backend_of(device: str) -> str:
    """Return the backend for a device, such as gloo for ``cpu`` and nccl for ``cuda:1``."""
    return dist.get_default_backend_for_device(torch.device(device))


def enter(device: Device, member: Member) -> None:
    """Become a rank of a group.

    The backend uses the interface that has the rank's address, unless the user has chosen one: by
    itself it looks the host's name up, which some clusters resolve to another network.
    """
    if interface := interface_of(member.address):
        for variable in INTERFACES:
            os.environ.setdefault(variable, interface)
    if device.is_accelerator:
        torch.accelerator.set_device_index(device.handle.index)
    patience = timedelta(seconds=member.patience)
    store = dist.TCPStore(member.store, member.port, is_master=False, timeout=patience)  # type: ignore[attr-defined]  # torch hides the type
    dist.init_process_group(
        backend_of(device.name),
        store=store,
        rank=member.rank,
        world_size=member.size,
        timeout=patience,
        device_id=device.handle if device.is_accelerator else None,
    )


def link(device: Device, address: str) -> float | None:
    """Return the rate of the link that gloo uses at an address, in bytes a second, if known.

    Backends of accelerators may use other links, of which nothing here knows.
    """
    interface = os.environ.get(INTERFACES[0]) or interface_of(address)
    return None if device.is_accelerator or interface is None else link_rate(interface)


def leave() -> None:
    """Leave the group, if this process is in one."""
    if dist.is_initialized():
        dist.destroy_process_group()


def timed(device: Device, body: Callable[[], Any], calls: int) -> tuple[Interval, Any]:
    """Call a body between two barriers; return when that began and ended, and its last result.

    The first barrier is passed once every rank is ready, and the second once the slowest has
    finished its calls, so the interval on any one rank's clock holds all of them.
    """
    result = None
    device.synchronize()
    dist.barrier()
    begun = perf_counter()
    for _ in range(calls):
        result = body()
    device.finish(result)
    dist.barrier()
    return (begun, perf_counter()), result
