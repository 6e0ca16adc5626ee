# SPDX-License-Identifier: MIT
"""The commands of a worker, as its own process carries them out."""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta
from time import perf_counter
from typing import Any

import torch
import torch.distributed as dist

from frobench.suite.concurrency import Interval
from frobench.suite.kit.check_result import briefly
from frobench.suite.kit.device import Device, release_memory
from frobench.suite.machine.host import interface_of, link_rate
from frobench.suite.stored.types import Check, Environment

Task = tuple[Callable[[], Any], Callable[[Any], Check], *tuple[Callable[[], object], ...]]
"""A body, its check and, if need be, a function to call before each sample."""
INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
"""Environment variables that name the network interface of a backend."""


def backend_of(device: str) -> str:
    """Return the backend for a device, such as gloo for ``cpu`` and nccl for ``cuda:1``."""
    return dist.get_default_backend_for_device(torch.device(device))


class Commands:
    """The commands of a worker, by the names of the methods."""

    def __init__(self, device: str, seed: int) -> None:
        self._device = Device(device, seed)
        self._held = ExitStack()
        self._task: Any = None  # or a `Task`
        self._result: Any = None

    def look_in(self, folders: list[str]) -> None:
        """Find modules in these folders."""
        sys.path[:] = folders

    def set_up(self, factory: Callable[..., Task], *args: object) -> None:
        """Set a task up in the place of the one before."""
        self._task = self._result = None
        self._device = Device(self._device.name, self._device.seed)
        self._task = factory(self._device, *args)

    def join(self, factory: Callable[..., AbstractContextManager[Task]], *args: object) -> None:
        """Set a task up by a context manager, which `leave` exits."""
        self.set_up(lambda *given: self._held.enter_context(factory(*given)), *args)

    def leave(self) -> None:
        """Release the task and its memory, and then end its set-up."""
        self._task = self._result = None
        gc.collect()
        self._held.close()
        release_memory()

    def get_ready(self) -> None:
        """Do what the task does before a sample."""
        for prepare in self._task[2:]:
            prepare()

    def call(self, calls: int, meet: Callable[[], object] = lambda: None) -> Interval:
        """Call the body; return when that began and when all was done, for all ranks that meet."""
        body = self._task[0]
        if calls:
            self._result = None  # before the clock starts: freeing a large one takes time
        self._device.synchronize()
        meet()
        begun = perf_counter()
        for _ in range(calls):
            self._result = body()
        self._device.finish(self._result if calls else None)
        meet()
        return begun, perf_counter()

    def timed(self, calls: int) -> Interval:
        """Do as `call` between two barriers of the group.

        All ranks pass the first barrier when every rank is ready, and the second when the slowest
        has finished its calls. So the interval on any rank's clock holds the calls of all.
        """
        return self.call(calls, dist.barrier)

    def check(self, brief: bool) -> Check:  # noqa: FBT001 - as it comes through the pipe
        """Compare the last call's result with the truth."""
        with briefly(brief=brief):
            checked: Check = self._task[1](self._result)
            return checked

    def enter(  # noqa: PLR0913, PLR0917 - as it comes through the pipe
        self, rank: int, size: int, home: str, port: int, address: str, patience: timedelta
    ) -> None:
        """Become a rank of a group, on the network interface that has the rank's address.

        Left alone, backends look the host's name up, which some clusters resolve to another
        network. An interface that the user chose stays.

        home, port : address of the store where the ranks find each other
        address : the rank's own, in the network between the nodes
        patience : how long ranks wait for each other
        """
        if interface := interface_of(address):
            for variable in INTERFACES:
                os.environ.setdefault(variable, interface)
        if self._device.is_accelerator:
            torch.accelerator.set_device_index(self._device.handle.index)
        store = dist.TCPStore(home, port, is_master=False, timeout=patience)  # type: ignore[attr-defined]  # torch hides the type
        dist.init_process_group(
            backend_of(self._device.name),
            store=store,
            rank=rank,
            world_size=size,
            timeout=patience,
            device_id=self._device.handle if self._device.is_accelerator else None,
        )

    def part(self) -> None:
        """Leave the group, if this process is in one."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def parts(self) -> dict[str, float]:
        """Return the seconds that the body itself has noted, by name; most bodies note none."""
        noted: dict[str, float] = getattr(self._task[0], "parts", dict)()
        return noted

    def examine(self, devices: list[str], address: str) -> tuple[Environment, float | None]:
        """Return the environment of this node, and the rate of the link that gloo uses, in bytes/s.

        No rate for accelerators, whose backends may use other links.

        address : of this node in the network between the nodes
        """
        from frobench.suite.machine import environment  # noqa: PLC0415 - only nodes are examined

        interface = os.environ.get(INTERFACES[0]) or interface_of(address)
        rate = None if interface is None or self._device.is_accelerator else link_rate(interface)
        return environment.capture(devices), rate
