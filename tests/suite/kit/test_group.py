# SPDX-License-Identifier: MIT
"""The ranks of a group work together, and one that is lost is named while the others wait."""

import os
import time
from collections.abc import Iterator
from signal import SIGKILL

import pytest
import torch
import torch.distributed as dist

from frobench.suite.errors import LostRankError
from frobench.suite.kit.device import Device
from frobench.suite.kit.group import LOOPBACK, Group
from frobench.suite.kit.worker_commands import Task, backend_of
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker, WorkerError
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.profiles import BARRIERS, settings_for
from frobench.suite.stored.types import Check

SLOW = 0.3
"""Seconds by which the last rank is later than the others."""

BRIEF = 0.01


def last_is_slow(_: Device, rank: int) -> Task:
    """Return a body that takes the last rank a while, and the others no time."""

    def body() -> int:
        time.sleep(SLOW if rank == dist.get_world_size() - 1 else 0)
        return rank

    return body, lambda seen: Check(f"rank {rank} of {dist.get_world_size()}", abs(seen - rank), 0)


def summing(_: Device, rank: int) -> Task:
    numbers = torch.full((4,), float(rank + 1))
    return (lambda: dist.all_reduce(numbers)), lambda _: Check("nothing", 0.0, 0.0)


def behind_a_slow_barrier(_: Device, rank: int) -> Task:
    """Return a body that takes as long as the barrier of every rank does from now on."""
    barrier = dist.barrier

    def slow() -> None:
        time.sleep(BRIEF)
        barrier()

    dist.barrier = slow  # type: ignore[assignment]  # with fewer arguments
    return lambda: time.sleep(BRIEF), lambda _: Check(f"rank {rank}", 0.0, 0.0)


def suicidal(_: Device, rank: int, number: int) -> Task:
    """Return a body in which the second rank gets a signal while the first waits for it."""

    def body() -> None:
        if rank == 1:
            os.kill(os.getpid(), number)
        dist.barrier()

    return body, lambda _: Check("nothing", 0.0, 0.0)


@pytest.fixture
def ranks() -> Iterator[list[Worker]]:
    """Start two ranks, and end them."""
    workers = [Worker(Seat(f"rank {number} on node {number}", "cpu", (0,))) for number in range(2)]
    yield workers
    for worker in workers:
        worker.close()


def test_a_sample_ends_when_the_slowest_rank_has_ended(ranks: list[Worker]) -> None:
    group = Group(ranks, [LOOPBACK] * 2, 60.0)
    assert (len(group), backend_of("cpu")) == (2, "gloo")
    with group.task(last_is_slow) as body:
        sampler = Sampler(body, [])
        queued, took, _ = sampler.timed(2)  # by the clock of the first rank, which does not sleep
        assert queued == took > 1.5 * SLOW  # the last rank may begin a little earlier
        assert body.check().compared.endswith("of 2")
        assert sampler.part_medians()["barrier"] > 0
    with group.task(summing) as body:  # the same ranks go on with another task
        body()
    group.part()
    with group.task(summing) as body:  # and meet again
        body()
    with pytest.raises(WorkerError, match="TypeError") as caught, group.task(suicidal):
        pass  # it lacks its signal: nobody is lost by that
    assert not isinstance(caught.value, LostRankError)


def test_a_sample_of_short_calls_outlasts_the_barrier_that_ends_it(ranks: list[Worker]) -> None:
    with Group(ranks, [LOOPBACK] * 2, 60.0).task(behind_a_slow_barrier) as body:
        record = Sampler(body, []).run(settings_for("quick", ["cpu"]))
    assert record.iterations >= 0.8 * BARRIERS


def test_a_rank_that_ends_is_named_though_the_other_raises(ranks: list[Worker]) -> None:
    group = Group(ranks, [LOOPBACK] * 2, 60.0)
    message = "^rank 1 on node 1 ended with code -9$"
    with pytest.raises(LostRankError, match=message), group.task(suicidal, SIGKILL) as body:
        body()
