# SPDX-License-Identifier: MIT
"""Tracks, which know when they last worked: the lanes of devices, and workers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from suite.concurrency import Interval

if TYPE_CHECKING:
    import torch


class Turns:
    """Lets each entry begin when the one before has ended, as a control of overlap.

    Lanes wait for each other on their devices, so that the host queues their work as before.
    Their threads pass `lock` on, so that entries are made one at a time.

    last : the event at the end of the last entry of a lane; the first entry waits for it, too
    wait : waits for the worker that worked last
    """

    def __init__(self) -> None:
        self.last: torch.Event | None = None
        self.wait: Callable[[], object] = lambda: None
        self.lock = RLock()


class Track(ABC):
    """Something whose entries can be observed, on the host's clock."""

    def __init__(self) -> None:
        self._armed = False
        self._turns: Turns | None = None
        self._entries: list[Any] = []

    @property
    def observes(self) -> bool:
        """Whether it can know when it worked: some devices have no events."""
        return True

    @abstractmethod
    def takes_turns(self, others: Sequence["Track"]) -> bool:
        """Tell whether its entries can wait for those of others, as a control needs."""

    @abstractmethod
    def intervals(self) -> list[Interval]:
        """Return when each observed entry began and ended, in seconds of `perf_counter`."""

    def arm(self, turns: Turns | None = None) -> None:
        """Observe each entry from now on; entries may have to take turns."""
        self._armed, self._turns, self._entries = True, turns, []

    def disarm(self) -> None:
        """Observe no more, and take no more turns."""
        self._armed, self._turns = False, None
