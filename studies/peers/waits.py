# SPDX-License-Identifier: MIT
"""Busy waits that record their own length: bodies whose truth is known call by call."""

import os
import time
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from statistics import median
from time import perf_counter

import msgspec
from msgspec import Struct

from studies.peers.tool import FOLDER, Process, grouped

REPEATS = 5
CONTROL_SECONDS = 0.02
PAIRS = 1000


class Recorded(Struct, kw_only=True):
    """What a process wrote down of a wait.

    lengths : of every call, in order
    own_call : what a call takes beyond the length that it records
    two_readings : what two readings of the clock take
    """

    lengths: list[float]
    own_call: float
    two_readings: float

    def note(self, process: Process, iterations: int, after: int = 0) -> None:
        """Add what was recorded to a tool's process, whose samples have `iterations` calls."""
        process.recorded = grouped(self.lengths, iterations, len(process.samples), after)
        process.own_call, process.two_readings = self.own_call, self.two_readings


class Wait:
    """A busy wait of some seconds.

    A call records the length of the one before it, within its own: what no call can record is
    only that it is called and returns.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lengths: list[float] = []
        self.body = _waiting(seconds, self._lengths.append)

    def finish(self) -> Recorded:
        """Return the lengths of all calls so far, and what a bare loop sees of further ones."""
        self.body()  # which records the last
        lengths = self._lengths[1:]
        calls = max(1, round(CONTROL_SECONDS / self._seconds))
        own_call = median(self._bare_loop(calls) for _ in range(REPEATS))
        return Recorded(lengths=lengths, own_call=own_call, two_readings=two_readings())

    def _bare_loop(self, calls: int) -> float:
        self._lengths.clear()
        begun = perf_counter()
        for _ in repeat(None, calls):
            self.body()
        took = perf_counter() - begun
        self.body()
        return (took - sum(self._lengths[1 : calls + 1])) / calls


def two_readings() -> float:
    """Return the seconds that two readings of the clock take, one after the other."""
    return median(_pair_of_readings() for _ in range(REPEATS))


def write_down(name: str, recorded: Recorded) -> None:
    """Leave what a process recorded of a wait for whoever started it."""
    path = Path(os.environ[FOLDER]) / f"{name}-{time.time_ns()}-{os.getpid()}.recorded"
    path.write_bytes(msgspec.msgpack.encode(recorded))


def written_down(folder: Path, name: str) -> list[Recorded]:
    """Return what the processes recorded of a wait, in their order."""
    paths = sorted(folder.glob(f"{name}-*.recorded"))
    return [msgspec.msgpack.decode(path.read_bytes(), type=Recorded) for path in paths]


def _waiting(seconds: float, record: Callable[[float], None]) -> Callable[[], None]:
    last = 0.0

    def wait() -> None:
        nonlocal last
        start = perf_counter()
        record(last)
        stop = start + seconds
        while (now := perf_counter()) < stop:
            pass
        last = now - start

    return wait


def _pair_of_readings() -> float:
    begun = perf_counter()
    for _ in repeat(None, PAIRS):
        perf_counter()
        perf_counter()
    middle = perf_counter()
    for _ in repeat(None, PAIRS):
        pass
    bare = perf_counter() - middle
    return (middle - begun - bare) / PAIRS
