# SPDX-License-Identifier: MIT
"""Workers, as the launch sees them: it starts their processes and sends them commands.

A launch starts some before it imports torch, so nothing here imports torch.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from frobench.suite.concurrency import Interval
from frobench.suite.errors import DoesNotFitError
from frobench.suite.kit.check_result import is_brief
from frobench.suite.kit.lanes import Track
from frobench.suite.kit.worker_process import Seat, serve
from frobench.suite.machine.host import read
from frobench.suite.stored.types import Check

if TYPE_CHECKING:
    from frobench.suite.kit.worker_commands import Task

TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
HALVES = "cpu/0+cpu/1"
"""The devices of two processes, one on each half of the CPU, as cases name them."""
STARTED_WITHIN = 60.0
"""Seconds a worker may take to start and to import torch."""

TaskFactory = Callable[..., "Task"]
JointFactory = Callable[..., AbstractContextManager["Task"]]


def halves(cores: list[int]) -> list[Seat]:
    """Split the usable cores into two equal halves; an odd core stays idle.

    Threads of one physical core stay together. Where the system binds no process to cores, as on
    macOS, a half is a number of threads.
    """
    cores = sorted(cores, key=_physical)
    half = len(cores) // 2
    if half > 1 and _physical(cores[half - 1]) == _physical(cores[half]):
        half -= 1
    parts = cores[:half], cores[half : 2 * half]
    return [Seat(f"cpu/{number}", "cpu", tuple(part)) for number, part in enumerate(parts)]


def _physical(core: int) -> int:
    """Return the first thread of a core's physical core, if the system names it."""
    first = re.match(r"\d+", read(Path(TOPOLOGY.format(core))))
    return int(first[0]) if first else core


class WorkerError(RuntimeError):
    """A worker raised an error; `brief` is what of it is stored."""

    def __init__(self, message: str, brief: str = "") -> None:
        super().__init__(message)
        self.brief = brief or message


class LostWorkerError(WorkerError):
    """A worker's process ended, or did not answer in time."""


def start_here(seat: Seat, seed: int) -> tuple[Connection, Any]:
    """Start a process that serves a seat on this machine; return it and the connection to it."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, seat, seed), daemon=True)
    process.start()
    theirs.close()
    return ours, process


class Worker(Track):
    """A handle to a process that holds one body and calls it on command.

    start_process : starts the process, which may be on another node
    """

    _entries: list[Interval]

    def __init__(
        self,
        seat: Seat,
        seed: int = 0,
        start_process: Callable[[Seat, int], tuple[Connection, Any]] = start_here,
    ) -> None:
        super().__init__()
        self.seat = seat
        self._pipe, self._process = start_process(seat, seed)
        self._last: Interval = (0.0, 0.0)
        self._works = self._is_joint = False

    def set_up(self, factory: TaskFactory, *args: object) -> None:
        """Set up the body and check of `factory(device, *args)`, which is importable by name."""
        self._is_joint = False
        self.ask("set_up", factory, *args, seconds=STARTED_WITHIN)

    def set_up_jointly(self, factory: JointFactory, number: int, *args: object) -> None:
        """Begin to set up a body that waits for those of other workers; see `together`."""
        self._is_joint = True
        self.tell("join", factory, number, *args)

    def get_ready(self) -> None:
        """Do what the task does before a sample, and wait for the end of that."""
        self.ask("get_ready")

    def start(self, calls: int = 1) -> None:
        """Begin calling the body, in turn after the worker before; do not wait for the end."""
        if self._turns is not None:
            self._turns.wait()
            self._turns.wait = self.wait
        self.tell("call", calls)
        self._works = True

    def wait(self) -> Interval:
        """Wait until the calls are done; return when they began and ended."""
        if self._works:
            self._works = False
            self._last = self.answer()
            if self._armed:
                self._entries.append(self._last)
        return self._last

    def check(self) -> Check:
        """Compare the last call's result with the truth, in the worker."""
        check: Check = self.ask("check", is_brief())
        return check

    def takes_turns(self, others: Sequence[Track]) -> bool:  # noqa: ARG002 - as a lane
        """Tell whether the body can run while other workers rest, or waits for theirs."""
        return not self._is_joint

    def intervals(self) -> list[Interval]:
        """Return when the calls of each `start` since `arm` began and ended."""
        return [*self._entries]

    def close(self) -> None:
        """Kill the process, which has nothing to save; an orderly end takes longer."""
        self._pipe.close()
        self._process.kill()
        self._process.join()

    def tell(self, command: str, *args: object) -> None:
        """Send a command without waiting for its answer."""
        self._pipe.send((command, *args))

    def ask(self, command: str, *args: object, seconds: float | None = None) -> Any:  # noqa: ANN401 - as the command asks
        """Send a command, and return its answer."""
        self.tell(command, *args)
        return self.answer(seconds)

    def answer(self, seconds: float | None = None) -> Any:  # noqa: ANN401 - as the command asks
        """Return the answer to a command, within `seconds` if given; raise the worker's error."""
        name = self.seat.name
        try:
            if not self._pipe.poll(seconds):
                in_time = f"in {seconds:.0f} s" if seconds else "in time"
                raise LostWorkerError(f"worker {name} did not answer {in_time}")
            error, value = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(1)
            code = self._process.exitcode
            raise LostWorkerError(f"worker {name} ended with code {code}") from None
        if error is DoesNotFitError:
            raise DoesNotFitError(f"worker {name}: {value}")
        if error is not None:
            raise WorkerError(f"worker {name}: {value}", f"worker {name}: {error}")
        return value


_early: dict[tuple[Seat, ...], list[Worker]] = {}


def start_early(seats: Sequence[Seat], seed: int) -> None:
    """Start workers while their launch starts, so that all import torch at the same time."""
    _early[tuple(seats)] = [Worker(seat, seed) for seat in seats]


def early_workers() -> dict[tuple[Seat, ...], list[Worker]]:
    """Wait for the workers that `start_early` started; return those that answer, end the others.

    To be called after collection, when the folder of benchmarks is in `sys.path`.
    """
    for seats, workers in [*_early.items()]:
        try:
            _all(workers, lambda worker, _: worker.tell("look_in", sys.path))
        except WorkerError:
            for worker in workers:
                worker.close()
            del _early[seats]
    return _early


def answered(workers: Sequence[Worker], seconds: float) -> list[Worker]:
    """Wait until a worker has answered or ended, at most for seconds; return all that have."""
    pipes = {worker._pipe: worker for worker in workers}  # noqa: SLF001 - of this module's own class
    return [pipes[ready] for ready in wait(list(pipes), seconds) if isinstance(ready, Connection)]


@contextmanager
def together(workers: Sequence[Worker], factory: JointFactory, *args: object) -> Iterator[None]:
    """Set up workers that wait for each other, at the same time, and put all away in the end.

    After a failure nothing is put away, since a worker may wait for others for ever.

    factory : takes the device, the worker's number and `args`; a context manager of a `Task`, to
        which it must keep no reference of its own
    """
    _all(workers, lambda worker, number: worker.set_up_jointly(factory, number, *args))
    try:
        yield
    except pytest.skip.Exception:
        put_away(workers)
        raise
    put_away(workers)


def put_away(workers: Sequence[Worker]) -> None:
    """Let workers release what they hold, which frees the memory of their devices."""
    _all(workers, lambda worker, _: worker.tell("leave"))


def _all(workers: Sequence[Worker], tell: Callable[[Worker, int], None]) -> None:
    """Send each worker a command; wait for every answer, and raise the first error."""
    for number, worker in enumerate(workers):
        tell(worker, number)
    errors: list[DoesNotFitError | WorkerError] = []
    for worker in workers:
        try:
            worker.answer(STARTED_WITHIN)
        except (DoesNotFitError, WorkerError) as error:
            errors.append(error)
    if errors:
        raise errors[0]
