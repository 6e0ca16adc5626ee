# SPDX-License-Identifier: MIT
"""The real work: operations that are yet to be computed on the CPU.

The device's time is simulated, its values are not. An operation is put on the tape when it
is launched and computed when a value that depends on it is read. An operation whose results
nobody holds any more is never computed.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from weakref import ReferenceType, ref

import torch

_LEAST, _LONGEST = 100, 10_000
"""Operations that a tape gathers before it looks for dead ones, and at most."""


class Value:
    """The identity of some contents; whoever may still need them holds it."""

    __slots__ = ("__weakref__",)


class Entry:
    """One operation.

    The entry holds the values that it reads, but not those that it writes: when the last
    holder of what it writes is gone, it is dead.
    """

    __slots__ = ("reads", "run", "writes")

    def __init__(
        self, run: Callable[[], object], reads: Iterable[Value], writes: Iterable[Value]
    ) -> None:
        self.run = run
        self.writes: list[ReferenceType[Value]] = [ref(value) for value in writes]
        self.reads = [value for value in reads if ref(value) not in self.writes]

    def written(self) -> set[Value]:
        """Return the values written that somebody still holds."""
        return {value for weak in self.writes if (value := weak()) is not None}


class Tape:
    """Operations in the order of their launches; several threads may launch at once."""

    def __init__(self) -> None:
        self._much = _LEAST
        self._entries: deque[Entry] = deque()
        self._computing = threading.RLock()

    def append(self, entry: Entry) -> None:
        """Add an operation (appending to a deque needs no lock)."""
        self._entries.append(entry)

    def force(self, values: Iterable[Value]) -> None:
        """Compute whatever these values depend on, in order; forget what is dead."""
        with self._computing:
            count = len(self._entries)  # what others append meanwhile comes after
            due, kept = _divide([self._entries.popleft() for _ in range(count)], set(values))
            self._entries.extendleft(kept)
            while due:  # nothing is held longer than what needs it
                self._compute(due.pop())

    def forget(self) -> None:
        """Forget what is dead whenever the tape has grown twofold; compute it if it is too long."""
        if len(self._entries) < self._much:
            return
        self.force(())
        if len(self._entries) > _LONGEST:
            self.force({value for entry in list(self._entries) for value in entry.written()})
        self._much = 2 * len(self._entries) + _LEAST

    def _compute(self, entry: Entry) -> None:
        # One thread serves best: small operations gain nothing by more, and on a busy machine
        # they wait long for each other.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        entry.run()
        torch.set_num_threads(threads)


def _divide(batch: Sequence[Entry], needed: set[Value]) -> tuple[list[Entry], list[Entry]]:
    """Divide a tape into what ``needed`` depends on and what can wait; both from last to first.

    An operation that reads what a later due one overwrites is due as well.
    """
    due: list[Entry] = []
    kept: list[Entry] = []
    overwritten: set[Value] = set()
    for entry in reversed(batch):
        written = entry.written()
        if not written:
            entry.reads.clear()  # what it alone has kept alive dies here, and is met next
        elif written & needed or not overwritten.isdisjoint(entry.reads):
            due.append(entry)
            needed.update(entry.reads, written)
            overwritten |= written
        else:
            kept.append(entry)
    return due, kept
