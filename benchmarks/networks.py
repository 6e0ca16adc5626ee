# SPDX-License-Identifier: MIT
"""What each rank of a group does: operations of `torch.distributed`, and how they are checked.

Every rank multiplies the same drawn numbers by its own factor, so that each knows what all others
have, and can check what it gets from them.
"""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from frobench import Check, Device, close_to, same_bytes

if not dist.is_available():
    pytest.skip("torch was built without groups of processes", allow_module_level=True)

NUMBER = 4
"""Bytes of a number."""
EXACT = 1e-5
"""Relative error of a sum over all ranks, in single precision."""
# torch 2.13 has new names for these two, and warns of the old ones.
GATHER: Callable[..., Any] = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
SCATTER: Callable[..., Any] = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)

Operation = tuple[Callable[[], Any], Callable[[Any], Check]]
"""The body of a rank, and its check."""


def payload(size: int, ranks: int) -> int:
    """Return the bytes of a message of which every rank has an equal part, of at least a number."""
    return max(1, size // (NUMBER * ranks)) * NUMBER * ranks


class Numbers:
    """What the ranks exchange.

    device : of this rank
    size : bytes of the larger of input and output
    split : whether every rank has a part of the message, and so at least a number
    """

    def __init__(self, device: Device, size: int, *, split: bool = False) -> None:
        self._device = device
        self.ranks = dist.get_world_size()
        count = max(1, (payload(size, self.ranks) if split else size) // NUMBER)
        self.part = count // self.ranks
        device.require(4 * size)
        self._drawn = device.uniform(count)

    def of(self, rank: int) -> Tensor:
        """Return all numbers of a rank."""
        return self._drawn * (rank + 1)

    def part_of(self, rank: int, number: int) -> Tensor:
        """Return one of as many equal parts of a rank's numbers as there are ranks."""
        return self._drawn[number * self.part : (number + 1) * self.part] * (rank + 1)

    def sums(self) -> Tensor:
        """Return the sums over all ranks."""
        return self._drawn * (self.ranks * (self.ranks + 1) // 2)

    def room(self, count: int) -> Tensor:
        """Return room for so many numbers."""
        return torch.zeros(count, device=self._device.handle)


def all_reduce(device: Device, rank: int, size: int) -> Operation:
    """Return a sum over all ranks, in place: it grows from call to call.

    The check makes one more call, from the numbers that were drawn.
    """
    numbers = Numbers(device, size)
    ours = numbers.of(rank)

    def body() -> None:
        dist.all_reduce(ours)

    def check(_: object) -> Check:
        ours.copy_(numbers.of(rank))
        body()
        return close_to(numbers.sums(), EXACT, "the sums")(ours)

    return body, check


def all_gather(device: Device, rank: int, size: int) -> Operation:
    """Return a gathering of every rank's part on all ranks."""
    numbers = Numbers(device, size, split=True)
    ours, all_ = numbers.part_of(rank, rank), numbers.room(numbers.part * numbers.ranks)
    expected = [numbers.part_of(other, other) for other in range(numbers.ranks)]
    return lambda: GATHER(all_, ours), lambda _: same_bytes([torch.cat(expected)])(all_)


def reduce_scatter(device: Device, rank: int, size: int) -> Operation:
    """Return a sum over all ranks of which each rank gets a part."""
    numbers = Numbers(device, size, split=True)
    ours, sums = numbers.of(rank), numbers.room(numbers.part)
    expected = numbers.sums()[rank * numbers.part : (rank + 1) * numbers.part]
    return lambda: SCATTER(sums, ours), lambda _: close_to(expected, EXACT, "the sums")(sums)


def broadcast(device: Device, rank: int, size: int) -> Operation:
    """Return a copy of the first rank's numbers to all."""
    numbers = Numbers(device, size)
    ours = numbers.of(rank)
    return lambda: dist.broadcast(ours, 0), lambda _: same_bytes([numbers.of(0)])(ours)


def all_to_all(device: Device, rank: int, size: int) -> Operation:
    """Return an exchange in which each rank sends a part of its numbers to each."""
    numbers = Numbers(device, size, split=True)
    ours, theirs = numbers.of(rank), numbers.room(numbers.part * numbers.ranks)
    expected = [numbers.part_of(other, rank) for other in range(numbers.ranks)]
    return (
        lambda: dist.all_to_all_single(theirs, ours),
        lambda _: same_bytes([torch.cat(expected)])(theirs),
    )


def round_trip(device: Device, rank: int, size: int) -> Operation:
    """Return a message from the first rank to the last, and back; the others rest."""
    numbers = Numbers(device, size)
    last, ours = numbers.ranks - 1, numbers.of(rank)

    def body() -> None:
        if rank == 0:
            dist.send(ours, last)
            dist.recv(ours, last)
        elif rank == last:
            dist.recv(ours, 0)
            dist.send(ours, 0)

    here = 0 if rank in {0, last} else rank
    return body, lambda _: same_bytes([numbers.of(here)])(ours)


class Neighbours:
    """Sends numbers to the next rank while those of the one before arrive; notes their seconds.

    That is by this rank's own clock, from when it passed the barrier before the sample or had the
    message before. So a link between two nodes that is slower than the others shows.
    """

    def __init__(self, device: Device, rank: int, size: int) -> None:
        self._device, self._rank = device, rank
        self._numbers = Numbers(device, size)
        self._ours = self._numbers.of(rank)
        self._theirs = torch.zeros_like(self._ours)
        self._seconds: list[float] = []

    def __call__(self) -> None:
        """Exchange numbers with both neighbours."""
        ranks = self._numbers.ranks
        begun = perf_counter()
        operations = [
            dist.P2POp(dist.irecv, self._theirs, (self._rank - 1) % ranks),
            dist.P2POp(dist.isend, self._ours, (self._rank + 1) % ranks),
        ]
        arrived, *sent = dist.batch_isend_irecv(operations)
        arrived.wait()
        self._device.synchronize()
        self._seconds.append(perf_counter() - begun)
        for message in sent:  # NCCL has a single handle for both
            message.wait()

    def check(self, _: object) -> Check:
        """Compare what arrived with what was sent."""
        before = (self._rank - 1) % self._numbers.ranks
        return same_bytes([self._numbers.of(before)])(self._theirs)

    def parts(self) -> dict[str, float]:
        """Return the median seconds until the numbers of the rank before were here."""
        return {f"to_rank_{self._rank}": median(self._seconds)}


def neighbours(device: Device, rank: int, size: int) -> Operation:
    """Return an exchange with the ranks before and behind this one."""
    exchange = Neighbours(device, rank, size)
    return exchange, exchange.check
