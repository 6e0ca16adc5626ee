# SPDX-License-Identifier: MIT
"""A rank that hangs, or that raises while another waits, is named before the deadline of its case.

The other rank waits for a third of the deadline, so these tests take a while and do nothing.
"""

import signal
from collections.abc import Iterator

import pytest

from frobench.suite.errors import LostRankError
from frobench.suite.kit.device import Device
from frobench.suite.kit.group import LOOPBACK, Group
from frobench.suite.kit.worker_commands import Task
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker
from frobench.suite.stored.types import Check
from tests.suite.kit.test_workers import suicidal

DEADLINE = 45.0
"""Seconds for a case: ranks wait for each other for 15 of them."""


def broken(_: Device, rank: int) -> Task:
    def body() -> None:
        if rank == 1:
            raise ValueError("the second rank's own fault")

    return body, lambda _: Check("nothing", 0.0, 0.0)


@pytest.fixture
def group() -> Iterator[Group]:
    """Start two ranks, and end them."""
    ranks = [Worker(Seat(f"rank {number} on node {number}", "cpu", (0,))) for number in range(2)]
    yield Group(ranks, [LOOPBACK] * 2, DEADLINE)
    for rank in ranks:
        rank.close()


def test_a_rank_that_raises_is_named_with_its_error(group: Group) -> None:
    message = "rank 1 on node 1: ValueError$"
    with pytest.raises(LostRankError, match=message), group.task(broken) as body:
        body()


def test_a_rank_that_hangs_is_named_by_those_that_answer(group: Group) -> None:
    message = "^rank 1 on node 1 did not answer in time$"
    with pytest.raises(LostRankError, match=message), group.task(suicidal, signal.SIGSTOP) as body:
        body()
