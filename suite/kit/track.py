# SPDX-License-Identifier: MIT
"""Tracks, whose entries can be observed and put in turn: the lanes of devices, and workers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from suite.concurrency import Interval

if TYPE_CHECKING:
    import torch


class Turns:
    """Lets each entry begin when the one before has ended, as a control of overlap.

    Lanes wait on their devices, so that the host queues their work as before.

    last : the event at the end of the last entry of a lane; the first entry waits for it, too
    wait : waits for the worker that worked last
    lock : held in each entry of a lane, since lanes may have threads of their own
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
        """Whether entries can be timed: some devices have no events."""
        return True

    @abstractmethod
    def takes_turns(self, others: Sequence["Track"]) -> bool:
        """Tell whether entries can wait for those of other tracks, as a control needs."""

    @abstractmethod
    def intervals(self) -> list[Interval]:
        """Return when each entry since `arm` began and ended, in seconds of `perf_counter`."""

    def arm(self, turns: Turns | None = None) -> None:
        """Observe each entry from now on, in turn if `turns` are given."""
        self._armed, self._turns, self._entries = True, turns, []

    def disarm(self) -> None:
        """Stop observing and taking turns."""
        self._armed, self._turns = False, None
