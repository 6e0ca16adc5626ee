# SPDX-License-Identifier: MIT
"""A group: processes that exchange data through `torch.distributed`, on one machine or on several.

Each rank is a worker, started here or on another node. The launch's own process is no rank: it
sends commands to the ranks and waits for all of them. A sample lies between two barriers, by the
first rank's clock; the clocks of different nodes are never compared.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from statistics import median
from time import monotonic
from typing import Any

from frobench.suite.concurrency import Interval
from frobench.suite.errors import DoesNotFitError, LostRankError
from frobench.suite.kit import workers
from frobench.suite.kit.abilities import needed
from frobench.suite.kit.check_result import is_brief, worst
from frobench.suite.kit.workers import TaskFactory, Worker, WorkerError
from frobench.suite.lazy_torch import torch
from frobench.suite.stored.types import Check

RANKS_WAIT, LAUNCH_WAITS, AT_MOST = 1 / 3, 1 / 2, 4 / 5
"""Parts of a case's deadline: how long ranks wait for each other, how long the launch waits for
ranks once one has answered, and how long for the first. Ranks that wait for a lost rank report it
before the launch gives up, so that only the lost rank is silent."""
EMPTY_SAMPLES = 5
LOOPBACK = "127.0.0.1"


class Group:
    """Processes that exchange data.

    ranks : in order; the first is on the launch's own machine
    addresses : of each rank's node in the network between them
    deadline : seconds that a case may take
    """

    def __init__(self, ranks: Sequence[Worker], addresses: Sequence[str], deadline: float) -> None:
        self._ranks = ranks
        self._addresses = addresses
        self._deadline = deadline
        self._store: Any = None  # there while the ranks are in the group

    def __len__(self) -> int:
        return len(self._ranks)

    @contextmanager
    def task(self, factory: TaskFactory, *args: object) -> Iterator["Group"]:
        """Set a task up on every rank, and put it away in the end unless it failed.

        The group is then a body that every rank calls.

        factory : takes the device, the rank's number and `args`, on every rank
        """
        self._enter()
        self.ask("set_up", lambda number: (factory, number, *args))
        yield self
        self.ask("leave")

    def ask(
        self,
        command: str,
        arguments: Callable[[int], tuple[object, ...]] = lambda _: (),
        deadline: float | None = None,
    ) -> list[Any]:
        """Send a command to every rank; return all answers.

        arguments : of the command, by the rank's number
        deadline : seconds, if not those of a case

        Raises `LostRankError` if a rank ended or did not answer, otherwise what a rank raised.
        """
        for number, rank in enumerate(self._ranks):
            with suppress(OSError):  # the answer will say that the rank ended
                rank.tell(command, *arguments(number))
        answers: dict[Worker, Any] = {}
        errors: list[Exception] = []
        begun, waiting = monotonic(), [*self._ranks]
        while waiting:
            part = AT_MOST if len(waiting) == len(self) else LAUNCH_WAITS
            left = begun + part * (deadline or self._deadline) - monotonic()
            # Those that have answered, and in the end all that are silent.
            ready = workers.answered(waiting, max(0.0, left)) or waiting
            waiting = [rank for rank in waiting if rank not in ready]
            for rank in ready:
                try:
                    answers[rank] = rank.answer(0.0)
                except (DoesNotFitError, WorkerError) as error:
                    errors.append(error)
        if errors:
            raise _cause(errors)
        return [answers[rank] for rank in self._ranks]

    def _enter(self) -> None:
        if self._store is not None:
            return
        from frobench.suite.kit.worker_commands import backend_of  # noqa: PLC0415 - imports torch

        dist, backend = torch.distributed, backend_of(self._ranks[0].seat.device)
        with needed("backend for a group of processes"):
            if not dist.is_backend_available(backend):
                raise ValueError(f"torch is built without {backend}")
        self.ask("leave", deadline=2 * workers.STARTED_WITHIN)  # the ranks may still be starting
        patience, home = timedelta(seconds=RANKS_WAIT * self._deadline), self._addresses[0]
        store = dist.TCPStore(home, 0, is_master=True, timeout=patience)  # type: ignore[attr-defined]  # torch hides the type
        at = self._addresses
        self.ask("enter", lambda rank: (rank, len(self), home, store.port, at[rank], patience))
        self._store = store

    def part(self) -> None:
        """Let the ranks leave the process group, so that they can be workers of other cases."""
        store, self._store = self._store, None  # the ranks need it until they have left
        if store is not None:
            self.ask("part")

    def __call__(self) -> None:
        """Call the body of the task once on every rank."""
        self.timed(1)

    def timed(self, calls: int) -> Interval:
        """Call the body on every rank; return when that began and ended.

        Raises `LostRankError` if a rank was lost, or ranks could not exchange data.
        """
        try:
            intervals: list[Interval] = self.ask("timed", lambda _: (calls,))
        except WorkerError as error:
            raise LostRankError(error.brief) from error
        return intervals[0]

    def get_ready(self) -> None:
        """Let every rank do what its task does before a sample."""
        self.ask("get_ready")

    def check(self, _: object = None) -> Check:
        """Return the worst check of the last call's results, one on every rank."""
        return worst(self.ask("check", lambda _: (is_brief(),)))

    def barrier(self) -> float:
        """Return the seconds of a sample without calls: of the barrier that ends each sample."""
        empty = (self.timed(0) for _ in range(EMPTY_SAMPLES))
        return median(ended - begun for begun, ended in empty)

    def parts(self) -> dict[str, float]:
        """Return the seconds that the ranks have noted, and ``barrier``."""
        noted = {name: took for parts in self.ask("parts") for name, took in parts.items()}
        return noted | {"barrier": self.barrier()}


def _cause(errors: Sequence[Exception]) -> Exception:
    """Return the error that explains the others: ranks that wait for a lost one raise, too."""
    kinds = (workers.LostWorkerError, DoesNotFitError)
    by_kind = (error for kind in kinds for error in errors if isinstance(error, kind))
    error = next(by_kind, errors[0])
    if isinstance(error, workers.LostWorkerError):
        return LostRankError(str(error).removeprefix("worker "))
    return error
