# SPDX-License-Identifier: MIT
"""Span samples: what events and workers show of a call of a body, and of its control in turn.

A body with several lanes is called three times: as it is; with its entries strictly in turn, which
shows what running at the same time saves; and, on accelerators, in turn behind work that holds the
device until all is queued, which shows how long each lane is busy (see `suite.concurrency`).
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import torch

from frobench.suite.concurrency import shareable, shared, union
from frobench.suite.errors import DoesNotFitError
from frobench.suite.kit.device import Device
from frobench.suite.kit.lanes import Lane, Track, Turns

HELD = 2.0
"""Times the seconds that queueing a body took, for which the device is held to queue it again."""
SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
"""Rows of a blocker's product; a small product drives little else out of the caches."""
CALLS = 8
"""Products in a row by which the time of one is measured."""
AHEAD = 4
"""Least time of a product, as a multiple of its launching, so that the host gets ahead."""

Called = tuple[float, float, Any]
"""Seconds until calls of a body returned, seconds until all was done, and the last result."""
Timed = Callable[[Callable[[], Any]], Called]


class Blocker:
    """Keeps a device busy while the host queues other work; `unit` is the seconds of a product."""

    def __init__(self, device: Device, n: int) -> None:
        a, b = device.uniform(n, n), device.uniform(n, n)
        self.device = device
        self._multiply = partial(torch.mm, a, b, out=torch.empty_like(a))
        self.unit = 0.0

    def queue(self, seconds: float) -> None:
        """Queue products that take so long, at least."""
        for _ in range(max(1, math.ceil(seconds / self.unit))):
            self._multiply()

    def is_ahead(self, clock: Callable[[], float]) -> bool:
        """Time the product; tell whether launching it takes the host much less."""
        for _ in range(2):  # the first time pays for what later ones do not
            self.device.synchronize()
            begun = clock()
            for _ in range(CALLS):
                self._multiply()
            queued = clock()
            self.device.synchronize()
            took = clock() - begun
        self.unit = took / CALLS
        return took >= AHEAD * (queued - begun)


def blocker(device: Device, clock: Callable[[], float] = perf_counter) -> Blocker | None:
    """Return the smallest blocker that works; none for a CPU, or without events."""
    if not (device.is_accelerator and device.has_events):
        return None
    with suppress(DoesNotFitError, RuntimeError, AttributeError, TypeError):
        for n in SIZES:  # the device may be full, or cannot multiply: its cases will say so
            candidate = Blocker(device, n)
            if candidate.is_ahead(clock):
                return candidate
    return None


class Observer:
    """Takes span samples of one body.

    whole : whether each lane is entered once, around all of the body: these take no turns
    """

    def __init__(self, tracks: Sequence[Track], *, whole: bool) -> None:
        self._tracks = tracks
        self._whole = whole

    def observe(self, body: Callable[[], None], timed: Timed) -> dict[str, float]:
        """Call the body and its controls once each; return what they show, in seconds by name.

        Neither argument is kept: a reference to their owner, which owns this, would keep the body's
        tensors until the garbage collector runs.

        body : enters the lanes
        timed : calls its argument between waits for all devices
        """
        _, took, _ = self._call(body, timed)
        if len(self._tracks) == 1 and isinstance(self._tracks[0], Lane):
            return {"span": self._tracks[0].span()}
        intervals = [track.intervals() for track in self._tracks]
        entries = [entry for lane in intervals for entry in lane]
        parts = {"span": max(end for _, end in entries) - min(begin for begin, _ in entries)}
        if self._takes_turns:
            parts |= {"at_once": took, "shared": shared(intervals), "entries": float(len(entries))}
            parts |= self._in_turn(body, timed)
        return parts

    def _in_turn(self, body: Callable[[], None], timed: Timed) -> dict[str, float]:
        queued, took, _ = self._call(body, timed, Turns())
        intervals = [track.intervals() for track in self._tracks]
        parts = {"in_turn": took, "shared_in_turn": shared(intervals)}
        busy = [union(lane) for lane in intervals]
        if ahead := self._queued_ahead(body, timed, HELD * queued):
            busy, parts["busy"] = ahead, sum(ahead)
        return parts | {
            "shareable": shareable(busy),
            "balance": min(busy) / max(busy) if max(busy) > 0 else 1.0,
        }

    def _queued_ahead(self, body: Callable[[], None], timed: Timed, seconds: float) -> list[float]:
        """Return how long each lane is busy when all is queued while the first device is held.

        Empty if the device was free before all was queued, or cannot be held.
        """
        lanes = [track for track in self._tracks if isinstance(track, Lane)]
        keeper = self._blocker
        if not lanes or keeper is None:
            return []
        turns, first = Turns(), lanes[0].device

        def held_body() -> bool:
            keeper.queue(seconds)
            turns.last = held = first.event()
            first.record(held)
            body()
            return not held.query()

        _, _, proved = self._call(held_body, timed, turns)
        return [lane.busy() for lane in lanes] if proved else []

    def _call(self, body: Callable[[], Any], timed: Timed, turns: Turns | None = None) -> Called:
        for track in self._tracks:
            track.arm(turns)
        try:
            return timed(body)
        finally:
            for track in self._tracks:
                track.disarm()

    @cached_property
    def _takes_turns(self) -> bool:
        """Whether there is a control: several tracks, which can wait for each other."""
        several = len(self._tracks) > 1 and not self._whole
        return several and all(track.takes_turns(self._tracks) for track in self._tracks)

    @cached_property
    def _blocker(self) -> Blocker | None:
        first = self._tracks[0]
        return blocker(first.device) if isinstance(first, Lane) else None
