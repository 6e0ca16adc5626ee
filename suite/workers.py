# SPDX-License-Identifier: MIT
"""Bodies in processes of their own: one on each accelerator, or on each half of the CPU.

Thread counts and affinity are process-wide and stick, and an affinity set after torch has
started its threads does nothing. So each worker sets its cores and threads before it
imports torch, which is why nothing here imports torch at the top.

All workers read the same monotonic clock, so their intervals can be laid side by side.
"""

import gc
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from suite.errors import DoesNotFitError
from suite.model import Check

if TYPE_CHECKING:
    from suite.devices import Device

TOPOLOGY = Path("/sys/devices/system/cpu")
STARTED_WITHIN = 60.0
"""Seconds a worker may take to start and to import torch."""

Body = Callable[[], Any]
BodyFactory = Callable[..., tuple[Body, Callable[[Any], Check]]]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Seat:
    """Where a worker runs.

    name : what its results call it, such as ``cpu/0`` or ``cuda:1``
    device : the device's name as torch spells it
    cores : the CPU cores it is bound to; empty leaves the choice to the system
    """

    name: str
    device: str
    cores: tuple[int, ...] = field(default=())


def halves(cores: list[int]) -> list[Seat]:
    """Split the usable cores into two equal halves; the odd core stays idle.

    Threads of one physical core stay together. Where the system binds no process to cores,
    as on macOS, a half is a number of threads.
    """
    cores = sorted(cores, key=_siblings)
    half = len(cores) // 2
    if half > 1 and _siblings(cores[half - 1]) == _siblings(cores[half]):
        half -= 1
    return [
        Seat("cpu/0", "cpu", tuple(cores[:half])),
        Seat("cpu/1", "cpu", tuple(cores[half : 2 * half])),
    ]


def _siblings(core: int) -> tuple[int, ...]:
    """Return the threads of the physical core that a core is of, as far as the system tells."""
    path = TOPOLOGY / f"cpu{core}" / "topology" / "thread_siblings_list"
    try:
        listed = path.read_text().strip().replace("-", ",")
        return tuple(sorted(int(one) for one in listed.split(",")))
    except (OSError, ValueError):
        return (core,)


class WorkerError(RuntimeError):
    """A worker died or raised; the message says what it said."""


class Worker:
    """A process that holds one body and calls it when told."""

    def __init__(self, seat: Seat, seed: int = 0) -> None:
        context = get_context("spawn")
        self.seat = seat
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, seat, seed), daemon=True)
        self._process.start()
        theirs.close()
        self._last: Interval = (0.0, 0.0)

    @property
    def name(self) -> str:
        """What results call this worker."""
        return self.seat.name

    def set_up(self, factory: BodyFactory, *args: object) -> None:
        """Take the body and its check from `factory(device, *args)`, importable by name."""
        self._pipe.send(("set up", factory, args))
        self._answer(STARTED_WITHIN)

    def start(self, calls: int = 1) -> None:
        """Begin calling the body, and return at once."""
        self._pipe.send(("call", calls))

    def wait(self) -> Interval:
        """Wait until the calls are done; return when they began and ended."""
        self._last = self._answer()
        return self._last

    def check(self) -> Check:
        """Compare what the last call returned with the truth, in the worker."""
        self._pipe.send(("check",))
        check: Check = self._answer()
        return check

    @property
    def observes(self) -> bool:
        """Whether it knows when it worked: always."""
        return True

    def arm(self) -> None:
        """Do nothing: a worker observes every call."""

    def disarm(self) -> None:
        """Do nothing: a worker observes every call."""

    def interval(self) -> Interval:
        """Return when the last calls began and ended, in seconds of `perf_counter`."""
        return self._last

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(1)
        self._process.kill()

    def _answer(self, seconds: float | None = None) -> Any:  # noqa: ANN401 - as the command asks
        try:
            if not self._pipe.poll(seconds):
                raise WorkerError(f"worker {self.name} did not answer in {seconds:.0f} s")
            error, value = self._pipe.recv()
        except EOFError:
            self._process.join(1)
            code = self._process.exitcode
            raise WorkerError(f"worker {self.name} ended with code {code}") from None
        if error is not None:
            raise error(f"worker {self.name}: {value}")
        return value


def _serve(pipe: Connection, seat: Seat, seed: int) -> None:
    """Obey the pipe until it closes; this is the worker's process.

    As in the other process, float32 means float32, and the garbage collector rests.
    """
    device = _sit_down(seat, seed)
    from suite.abilities import precision  # noqa: PLC0415 - imports torch

    gc.disable()
    with precision("float32"):
        _obey(pipe, device)


def _obey(pipe: Connection, device: "Device") -> None:
    body: Body
    check: Callable[[Any], Check]
    result: Any = None
    while True:
        try:
            command, *args = pipe.recv()
        except EOFError:
            return
        try:
            answer: object = None
            if command == "set up":
                factory, factory_args = args
                body, check = factory(device, *factory_args)
            elif command == "call":
                device.synchronize()
                begun = perf_counter()
                for _ in range(args[0]):
                    result = body()
                device.synchronize()
                answer = (begun, perf_counter())
            else:
                answer = check(result)
            pipe.send((None, answer))
        except DoesNotFitError as error:
            pipe.send((DoesNotFitError, str(error)))
        except Exception as error:  # noqa: BLE001 - whatever it was, the parent is told
            pipe.send((WorkerError, f"{type(error).__name__}: {error}"))


def _sit_down(seat: Seat, seed: int) -> "Device":
    if seat.cores:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, seat.cores)
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(len(seat.cores))
    import torch  # noqa: PLC0415 - after the cores and threads are settled

    from suite.devices import Device  # noqa: PLC0415 - imports torch

    if seat.cores:
        torch.set_num_threads(len(seat.cores))
    return Device(seat.device, seed)
