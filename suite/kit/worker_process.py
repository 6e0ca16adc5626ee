# SPDX-License-Identifier: MIT
"""What a worker's own process does: it sits down, and obeys the pipe until that closes.

Its cores and threads are settled before torch is imported, which is why nothing here imports
torch at the top.
"""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import perf_counter
from typing import TYPE_CHECKING, Any

from suite.concurrency import Interval
from suite.errors import DoesNotFitError
from suite.garbage import Survivors
from suite.stored.run import Check, Environment

if TYPE_CHECKING:
    from suite.kit.device import Device
    from suite.kit.rank import Member

Body = Callable[[], Any]
Task = tuple[Body, Callable[[Any], Check], *tuple[Callable[[], object], ...]]
"""A body, its check and, if need be, what comes before each sample."""

TAKEN = "busy or unavailable"
"""What CUDA says of a device that admits only one process, which another one is."""


@dataclass(frozen=True)
class Seat:
    """Where a worker runs.

    name : what its results call it, such as ``cpu/0`` or ``cuda:1``
    device : the device's name as torch spells it
    cores : the CPU cores it is bound to; empty leaves the choice to the system
    """

    name: str
    device: str
    cores: tuple[int, ...] = ()


def serve(pipe: Connection, seat: Seat, seed: int) -> None:
    """Obey the pipe until it closes; this is the worker's process.

    As in the other process, float32 means float32, and the garbage collector rests.
    """
    _sit_down(seat)
    from suite.kit.abilities import precision  # noqa: PLC0415 - imports torch
    from suite.kit.device import Device  # noqa: PLC0415 - imports torch

    gc.disable()
    gc.freeze()  # what was imported stays: to look through it takes a tenth of a second
    with precision("float32"):
        _obey(pipe, _Desk(lambda: Device(seat.device, seed)))


def _sit_down(seat: Seat) -> None:
    if seat.cores:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, seat.cores)
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(len(seat.cores))
    import torch  # noqa: PLC0415 - after the cores and threads are settled

    if seat.cores:
        torch.set_num_threads(len(seat.cores))


class _Desk:
    """What lies before a worker: its methods are the commands that come through the pipe.

    device : makes the device, whose inputs are the same for every task whatever came before
    """

    def __init__(self, device: Callable[[], "Device"]) -> None:
        self._fresh = device
        self._device = device()
        self._held = ExitStack()
        self._survivors = Survivors()
        self._clear()

    def _clear(self) -> None:
        self._task: Task | None = None
        self._result: Any = None

    def _given(self) -> Task:
        if self._task is None:
            raise RuntimeError("nothing was set up")
        return self._task

    def look_in(self, folders: list[str]) -> None:
        """Find modules in these folders."""
        sys.path[:] = folders

    def set_up(self, factory: Callable[..., Task], *args: object) -> None:
        """Take a task in the place of the one before."""
        self._clear()
        self._device = self._fresh()
        self._task = factory(self._device, *args)

    def join(self, factory: Callable[..., AbstractContextManager[Task]], *args: object) -> None:
        """Take a task whose set-up has an end, too."""
        self.set_up(lambda *given: self._held.enter_context(factory(*given)), *args)

    def leave(self) -> None:
        """Put the task away, with all that only it has held, and then end its set-up.

        The memory that torch would keep for the next one goes back to the device.
        """
        from suite.kit.device import release_memory  # noqa: PLC0415 - imports torch

        self._clear()
        gc.collect()
        self._held.close()
        self._survivors.spare()
        release_memory()

    def get_ready(self) -> None:
        """Do what comes before a sample."""
        for prepare in self._given()[2:]:
            prepare()

    def call(self, calls: int) -> Interval:
        """Call the body; return when that began and when all was done."""
        body = self._given()[0]
        self._device.synchronize()
        begun = perf_counter()
        for _ in range(calls):
            self._result = body()
        self._device.finish(self._result)
        return begun, perf_counter()

    def check(self, brief: bool) -> Check:  # noqa: FBT001 - as it comes through the pipe
        """Compare what the last call returned with the truth; briefly if that will do."""
        from suite.kit.check_result import briefly  # noqa: PLC0415 - imports torch

        with briefly(brief=brief):
            return self._given()[1](self._result)

    def enter(self, member: "Member") -> None:
        """Become a rank of a group."""
        from suite.kit import rank  # noqa: PLC0415 - imports torch

        rank.enter(self._device, member)

    def examine(self, devices: list[str], address: str) -> tuple[Environment, float | None]:
        """Return what this node is like as far as some devices show it, and its link's rate.

        address : of this node in the network between the nodes
        """
        from suite.kit import rank  # noqa: PLC0415 - imports torch
        from suite.machine import environment  # noqa: PLC0415 - imports torch

        return environment.capture(devices), rank.link(self._device, address)

    def part(self) -> None:
        """Leave the group."""
        from suite.kit import rank  # noqa: PLC0415 - imports torch

        rank.leave()

    def timed(self, calls: int) -> Interval:
        """Call the body between two barriers of the group; return when that began and ended."""
        from suite.kit import rank  # noqa: PLC0415 - imports torch

        interval, result = rank.timed(self._device, self._given()[0], calls)
        self._result = result if calls else self._result
        return interval

    def parts(self) -> dict[str, float]:
        """Return what the body itself has noted, in seconds by name; most note nothing."""
        noted: dict[str, float] = getattr(self._given()[0], "parts", dict)()
        return noted


def _obey(pipe: Connection, desk: _Desk) -> None:
    while True:
        try:
            command, *args = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((None, getattr(desk, command)(*args)))
        except DoesNotFitError as error:
            pipe.send((DoesNotFitError, str(error)))
        except Exception as error:  # noqa: BLE001 - whatever it was, the parent is told
            kind = DoesNotFitError if TAKEN in str(error) else RuntimeError
            pipe.send((kind, f"{type(error).__name__}: {error}"))
