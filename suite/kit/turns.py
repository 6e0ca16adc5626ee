# SPDX-License-Identifier: MIT
"""What puts the work of several lanes or workers strictly in turn, as a control of overlap."""

from threading import RLock
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch


class Working(Protocol):
    """What works, such as a worker, and can be waited for."""

    def wait(self) -> object:
        """Wait until the work is done."""


class Turns:
    """Lets each entry begin when the one before has ended, in the order in which they are made.

    Lanes wait for each other on their devices, so that the host queues their work as before.
    Their threads pass `lock` on, so that entries are made one at a time.

    last : the event at the end of the last entry; the first entry waits for it, too
    """

    def __init__(self) -> None:
        self.last: torch.Event | None = None
        self.lock = RLock()
        self._working: Working | None = None

    def wait_for_others(self, worker: Working) -> None:
        """Wait until the worker that was told to work before this one has done so."""
        if self._working is not None:
            self._working.wait()
        self._working = worker
