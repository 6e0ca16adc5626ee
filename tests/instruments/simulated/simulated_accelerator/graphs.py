# SPDX-License-Identifier: MIT
"""Graphs: operations that are recorded once, and replayed by a single launch."""

from collections.abc import Callable
from typing import NamedTuple

from .device import Device
from .host import host, tape
from .machine import machine
from .streams import current
from .tape import Entry
from .tensor import SimTensor


class Recorded(NamedTuple):
    """An operation of a graph.

    run : computes its values
    seconds : that the device takes for it
    """

    run: Callable[[], object]
    seconds: float


class Graph:
    """A graph of one device's operations, in the manner of `torch.cuda.CUDAGraph`.

    What it reads and writes is kept, so that every replay finds and leaves it in the same memory.
    """

    def __init__(self) -> None:
        self._operations: list[Recorded] = []
        self._read: list[SimTensor] = []
        self._written: list[SimTensor] = []

    def capture_begin(self) -> None:
        """Record what the thread launches from now on, and run none of it."""
        current.graph = self

    def capture_end(self) -> None:
        """Record no more."""
        current.graph = None

    def record(self, operation: Recorded, read: list[SimTensor], written: list[SimTensor]) -> None:
        """Add an operation."""
        self._operations.append(operation)
        self._read += read
        self._written += written

    def replay(self) -> None:
        """Launch all operations together, in the order in which they were recorded."""
        begin, device = host.begin(), self._device
        launch = machine.spec.launch
        reads, writes = ([one.buffer.value for one in its] for its in (self._read, self._written))
        tape.append(Entry(self._compute, reads, writes))
        for operation in self._operations:
            stream = machine.stream(device)
            device.run(stream, "compute", operation.seconds, begin + launch)
        host.spend(begin, launch)

    @property
    def _device(self) -> Device:
        return self._written[0].buffer.device

    def _compute(self) -> None:
        for operation in self._operations:
            operation.run()


def refuse() -> None:
    """Raise if a graph is recorded, which nothing that the host waits for can be a part of."""
    if current.graph is not None:
        raise RuntimeError("operation not permitted when stream is capturing")
